#include "tests/support/altering_server.h"

#include <utility>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"

namespace ingot::testing {
namespace {

std::string Flat(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

class AlteringServer::Service : public grpc::CallbackGenericService {
 public:
  Service(const std::string& daemon, Alterations alterations)
      : alterations_(std::move(alterations)),
        stub_(grpc::CreateChannel(daemon, grpc::InsecureChannelCredentials())) {
  }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Call(*this, context->method());
  }

 private:
  // One call: request in, handed on, reply out. Deletes itself.
  class Call : public grpc::ServerGenericBidiReactor {
   public:
    Call(Service& service, std::string path)
        : service_(service),
          path_(std::move(path)),
          method_(path_.substr(path_.rfind('/') + 1)) {
      StartRead(&request_);
    }

    void OnReadDone(bool ok) override {
      const Alterations& alter = service_.alterations_;
      if (!ok || (alter.lacks && alter.lacks(method_))) {
        // As gRPC says it of a method that is not there: without a word.
        return Finish({grpc::StatusCode::UNIMPLEMENTED, ""});
      }
      std::string bytes = Flat(request_);
      if (alter.request) alter.request(method_, &bytes);
      request_ = BufferOf(bytes);
      service_.stub_.UnaryCall(
          &context_, path_, grpc::StubOptions(), &request_, &reply_,
          [this](grpc::Status status) { HandBack(std::move(status)); });
    }

    void OnDone() override { delete this; }

   private:
    void HandBack(grpc::Status status) {
      if (!status.ok()) return Finish(std::move(status));
      std::string bytes = Flat(reply_);
      if (service_.alterations_.reply) {
        service_.alterations_.reply(method_, &bytes);
      }
      reply_ = BufferOf(bytes);
      StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
    }

    Service& service_;
    const std::string path_;
    const std::string method_;
    grpc::ClientContext context_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer reply_;
  };

  const Alterations alterations_;
  grpc::GenericStub stub_;
};

AlteringServer::AlteringServer(const std::string& path,
                               const std::string& daemon,
                               Alterations alterations)
    : path_(path),
      service_(std::make_unique<Service>(daemon, std::move(alterations))) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr) << "cannot listen on " << path;
}

AlteringServer::~AlteringServer() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

void AddUnknownFields(google::protobuf::Message* message) {
  using google::protobuf::FieldDescriptor;
  constexpr int kNumber = 1000;  // far above those in use
  const google::protobuf::Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      AddUnknownFields(reflection->MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      AddUnknownFields(reflection->MutableRepeatedMessage(message, field, i));
    }
  }
  google::protobuf::UnknownFieldSet* unknown =
      reflection->MutableUnknownFields(message);
  unknown->AddVarint(kNumber, 7);
  unknown->AddLengthDelimited(kNumber + 1, "of a later version");
}

}  // namespace ingot::testing
