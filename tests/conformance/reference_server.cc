#include "tests/conformance/reference_server.h"

#include <algorithm>
#include <sstream>
#include <thread>

namespace ingot::testing {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

// Varints and lengths of the one message that a test sends: google.rpc.Status
// {8, "full", Any {RetryInfo {0.030 s}}}.
std::string RetryDetails() {
  const std::string type = "type.googleapis.com/google.rpc.RetryInfo";
  const std::string duration = "\x10\x80\x87\xa7\x0e";  // nanos = 30,000,000
  const std::string info = "\x0a" + std::string(1, '\x05') + duration;
  const std::string any =
      "\x0a" + std::string(1, static_cast<char>(type.size())) + type + "\x12" +
      std::string(1, static_cast<char>(info.size())) + info;
  return std::string("\x08\x08\x12\x04") + "full" + "\x1a" +
         std::string(1, static_cast<char>(any.size())) + any;
}

std::string Pattern(int64_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  return bytes;
}

}  // namespace

grpc::Status ReferenceService::Obey(grpc::ServerContext* context,
                                    const std::string& order,
                                    v1::GetKernelResponse* response) {
  std::istringstream words(order);
  std::string verb;
  int64_t number = 0;
  words >> verb >> number;
  if (verb == "code") {
    std::string text;
    std::getline(words, text);
    return {static_cast<grpc::StatusCode>(number), text.substr(1)};
  }
  if (verb == "sleep") {
    for (int64_t i = 0; i < number && !context->IsCancelled(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  if (verb == "bytes") response->add_kernels()->set_object(Pattern(number));
  if (verb == "fail") {
    int times = 0;
    words >> times;
    if (failures_.fetch_add(1) < times) {
      const bool full = number == grpc::StatusCode::RESOURCE_EXHAUSTED;
      return {static_cast<grpc::StatusCode>(number), "full",
              full ? RetryDetails() : ""};
    }
  }
  return grpc::Status::OK;
}

grpc::Status ReferenceService::GetKernel(grpc::ServerContext* context,
                                         const v1::GetKernelRequest* request,
                                         v1::GetKernelResponse* response) {
  seen_.calls.fetch_add(1);
  seen_.request_bytes.store(static_cast<int64_t>(request->ByteSizeLong()));
  seen_.deadline_ms.store(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          context->deadline() - std::chrono::system_clock::now())
          .count());
  {
    const std::lock_guard<std::mutex> lock(seen_.mutex);
    const grpc::string_ref authority = context->ExperimentalGetAuthority();
    seen_.authority.assign(authority.data(), authority.size());
    seen_.peer = context->peer();
  }
  response->set_compile_us(static_cast<uint64_t>(seen_.calls.load()));
  return Obey(context, request->request_id(), response);
}

grpc::Status ReferenceService::GetKernels(
    grpc::ServerContext* context, const v1::GetKernelsRequest* request,
    grpc::ServerWriter<v1::GetKernelsResponse>* writer) {
  seen_.calls.fetch_add(1);
  for (int i = 0; i < request->requests_size(); ++i) {
    v1::GetKernelsResponse message;
    v1::IndexedResult* result = message.add_results();
    result->set_index(static_cast<uint32_t>(i));
    const grpc::Status status = Obey(context, request->requests(i).request_id(),
                                     result->mutable_response());
    if (!status.ok()) return status;
    writer->Write(message);
  }
  return grpc::Status::OK;
}

grpc::Status ReferenceService::ReadObject(
    grpc::ServerContext* context, const v1::ReadObjectRequest* request,
    grpc::ServerWriter<v1::ObjectChunk>* writer) {
  seen_.calls.fetch_add(1);
  for (int64_t at = static_cast<int64_t>(request->offset());
       at < kReferenceObjectBytes; at += kChunk) {
    v1::ObjectChunk chunk;
    chunk.set_offset(static_cast<uint64_t>(at));
    chunk.set_total(kReferenceObjectBytes);
    chunk.set_data(std::string(
        std::min<size_t>(kChunk,
                         static_cast<size_t>(kReferenceObjectBytes - at)),
        static_cast<char>('a' + at / static_cast<int64_t>(kChunk) % 26)));
    if (!writer->Write(chunk)) break;
  }
  return grpc::Status::OK;
}

ReferenceServer::ReferenceServer(const std::string& address,
                                 int max_connection_age_ms) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service_);
  if (max_connection_age_ms > 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               max_connection_age_ms);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 2000);
  }
  server_ = builder.BuildAndStart();
  address_ = address.rfind("unix:", 0) == 0
                 ? address
                 : "127.0.0.1:" + std::to_string(port);
}

ReferenceServer::~ReferenceServer() { Stop(); }

void ReferenceServer::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

}  // namespace ingot::testing
