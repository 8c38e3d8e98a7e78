// Everything a client can get wrong, and the code it gets for it.
#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Bad {
  const char* what;
  std::function<void(v1::GetKernelRequest&)> spoil;
  StatusCode code;
  const char* field;  // in the message
};

const std::vector<Bad>& BadRequests() {
  using R = v1::GetKernelRequest;
  static const auto* const kBad = new std::vector<Bad>{
      {"unknown op", [](R& r) { r.mutable_spec()->set_op("conv3d"); },
       StatusCode::UNIMPLEMENTED, "conv3d"},
      {"empty op", [](R& r) { r.mutable_spec()->set_op(""); },
       StatusCode::INVALID_ARGUMENT, "op"},
      {"10 kB op",
       [](R& r) { r.mutable_spec()->set_op(std::string(10000, 'a')); },
       StatusCode::INVALID_ARGUMENT, "op"},
      {"dim 0", [](R& r) { r.mutable_spec()->mutable_dims(1)->set_value(0); },
       StatusCode::INVALID_ARGUMENT, "n"},
      {"dim negative",
       [](R& r) { r.mutable_spec()->mutable_dims(1)->set_value(-1); },
       StatusCode::INVALID_ARGUMENT, "n"},
      {"dim 2^40",
       [](R& r) {
         r.mutable_spec()->mutable_dims(1)->set_value(int64_t{1} << 40);
       },
       StatusCode::INVALID_ARGUMENT, "n"},
      {"dim absent",
       [](R& r) { r.mutable_spec()->mutable_dims()->RemoveLast(); },
       StatusCode::INVALID_ARGUMENT, "n"},
      {"token dim 0",
       [](R& r) { r.mutable_spec()->mutable_dims(0)->set_value(0); },
       StatusCode::INVALID_ARGUMENT, "rows"},
      {"token dim 2^40",
       [](R& r) {
         r.mutable_spec()->mutable_dims(0)->set_value(int64_t{1} << 40);
       },
       StatusCode::INVALID_ARGUMENT, "rows"},
      {"10^4 dims",
       [](R& r) {
         for (int i = 0; i < 10000; ++i) {
           r.mutable_spec()->add_dims()->set_name("d" + std::to_string(i));
         }
       },
       StatusCode::INVALID_ARGUMENT, "dims"},
      {"dtype that the op has not",
       [](R& r) { r.mutable_spec()->mutable_operands(0)->set_dtype("i8"); },
       StatusCode::INVALID_ARGUMENT, "x"},
      {"dtype that nobody has",
       [](R& r) { r.mutable_spec()->mutable_operands(0)->set_dtype("bf17"); },
       StatusCode::INVALID_ARGUMENT, "x"},
      {"unknown attribute",
       [](R& r) {
         v1::Attr* attr = r.mutable_spec()->add_attrs();
         attr->set_name("colour");
         attr->set_string_value("red");
       },
       StatusCode::UNIMPLEMENTED, "colour"},
      {"attribute with no value",
       [](R& r) { r.mutable_spec()->add_attrs()->set_name("quant"); },
       StatusCode::INVALID_ARGUMENT, "quant"},
      {"stride mode",
       [](R& r) {
         r.mutable_spec()->mutable_operands(0)->set_stride_mode(
             static_cast<v1::StrideMode>(7));
       },
       StatusCode::INVALID_ARGUMENT, "stride_mode"},
      {"another processor",
       [](R& r) { r.mutable_spec()->set_target("gfx942"); },
       StatusCode::UNIMPLEMENTED, "gfx942"},
      {"contradiction",
       [](R& r) { r.mutable_spec()->set_target("gfx950:xnack+:xnack-"); },
       StatusCode::INVALID_ARGUMENT, "xnack"},
      {"unknown feature",
       [](R& r) { r.mutable_spec()->set_target("gfx950:foo+"); },
       StatusCode::INVALID_ARGUMENT, "foo"},
      {"empty target", [](R& r) { r.mutable_spec()->set_target(""); },
       StatusCode::INVALID_ARGUMENT, "target"},
      {"no spec", [](R& r) { r.clear_spec(); }, StatusCode::INVALID_ARGUMENT,
       "op"},
      {"no api version", [](R& r) { r.clear_api_version(); },
       StatusCode::INVALID_ARGUMENT, "api_version"},
      {"later api version", [](R& r) { r.set_api_version(2); },
       StatusCode::UNIMPLEMENTED, "api_version"},
      {"fetch", [](R& r) { r.set_fetch(static_cast<v1::Fetch>(9)); },
       StatusCode::INVALID_ARGUMENT, "fetch"},
      {"priority", [](R& r) { r.set_priority(static_cast<v1::Priority>(9)); },
       StatusCode::INVALID_ARGUMENT, "priority"},
      {"held digest", [](R& r) { r.add_held_digests("short"); },
       StatusCode::INVALID_ARGUMENT, "held_digests"},
  };
  return *kBad;
}

class RefusalTest : public DaemonTest {
 protected:
  void SetUp() override { StartDaemon(); }

  // Sends bytes as they are to a unary method.
  grpc::Status SendRaw(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(client().channel());
    grpc::ClientContext context;
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    grpc::Status status;
    stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                   [&](grpc::Status got) {
                     const std::lock_guard<std::mutex> lock(mutex);
                     status = std::move(got);
                     done = true;
                     ended.notify_one();
                   });
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [&] { return done; });
    return status;
  }
};

TEST_F(RefusalTest, EachGetsItsCodeAndAMessageThatNamesTheField) {
  for (const Bad& bad : BadRequests()) {
    v1::GetKernelRequest request = RequestOf(RmsNorm(4096));
    bad.spoil(request);
    const Answer<v1::GetKernelResponse> answer = client().Get(request);
    EXPECT_EQ(answer.code(), bad.code) << bad.what << ": " << answer.message();
    EXPECT_THAT(answer.message(), HasSubstr(bad.field)) << bad.what;
    EXPECT_THAT(answer.message(),
                AnyOf(HasSubstr("allowed"), HasSubstr("known")))
        << bad.what;
  }
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 0);
}

TEST_F(RefusalTest, BytesThatAreNoMessageAreInvalidEverywhere) {
  const char* const methods[] = {
      "/ingot.v1.Kernels/GetKernel",  "/ingot.v1.Kernels/GetKernels",
      "/ingot.v1.Kernels/ReadObject", "/ingot.v1.Kernels/GetCapabilities",
      "/ingot.v1.Admin/Stats",        "/ingot.v1.Admin/List",
      "/ingot.v1.Admin/Describe",     "/ingot.v1.Admin/Inspect",
      "/ingot.v1.Admin/Delete",       "/ingot.v1.Admin/Verify"};
  for (const char* method : methods) {
    const grpc::Status status = SendRaw(method, "\x0a\xff\xff\xff\xff\x0f");
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT)
        << method << ": " << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("malformed"));
  }
}

TEST_F(RefusalTest, TruncatedRequestsAreInvalidOrRefused) {
  const std::string whole = RequestOf(RmsNorm(4096)).SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const grpc::Status status =
        SendRaw("/ingot.v1.Kernels/GetKernel", whole.substr(0, size));
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT)
        << size << ": " << status.error_message();
  }
}

TEST_F(RefusalTest, RandomBytesNeverSurprise) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const grpc::Status status = SendRaw("/ingot.v1.Kernels/GetKernel", bytes);
    EXPECT_THAT(status.error_code(),
                AnyOf(StatusCode::INVALID_ARGUMENT, StatusCode::UNIMPLEMENTED))
        << status.error_message();
  }
}

TEST_F(RefusalTest, AMessageOverTheLimitIsNotToBeTriedAgain) {
  v1::GetKernelRequest request = RequestOf(RmsNorm(4096));
  request.set_request_id(std::string(100 << 20, 'x'));
  const Answer<v1::GetKernelResponse> answer = client().Get(request);
  EXPECT_EQ(answer.code(), StatusCode::RESOURCE_EXHAUSTED) << answer.message();
  EXPECT_THAT(answer.status.error_details(), Not(HasSubstr("RetryInfo")));
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
}

TEST_F(RefusalTest, ReadObjectSaysWhatIsWrong) {
  const auto read = [&](const std::string& digest, uint64_t offset) {
    v1::ReadObjectRequest request;
    request.set_digest(digest);
    request.set_offset(offset);
    grpc::ClientContext context;
    auto reader = client().kernels().ReadObject(&context, request);
    for (v1::ObjectChunk chunk; reader->Read(&chunk);) {
    }
    return reader->Finish();
  };
  EXPECT_EQ(read("short", 0).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(read(std::string(32, 'x'), 0).error_code(), StatusCode::NOT_FOUND);
  const Answer<v1::GetKernelResponse> got = client().Get(RmsNorm(64));
  ASSERT_TRUE(got.ok()) << got.message();
  const v1::Record& record = got.response.kernels(0).record();
  EXPECT_TRUE(read(record.digest(), record.size()).ok());
  const grpc::Status beyond = read(record.digest(), record.size() + 1);
  EXPECT_EQ(beyond.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(beyond.error_message(), HasSubstr("offset"));
}

TEST_F(RefusalTest, MemoryDoesNotGrowOverBadRequests) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what is freed";
#endif
  v1::GetKernelsRequest batch;
  for (int i = 0; i < 500; ++i) {
    const Bad& bad =
        BadRequests()[static_cast<size_t>(i) % BadRequests().size()];
    // 10^4 dims in each batch would test how fast the client is.
    if (std::string(bad.what) == "10^4 dims") continue;
    v1::GetKernelRequest* request = batch.add_requests();
    *request = RequestOf(RmsNorm(4096));
    bad.spoil(*request);
  }
  int refused = 0;
  const auto send = [&](int batches) {
    for (int i = 0; i < batches; ++i) {
      grpc::ClientContext context;
      auto reader = client().kernels().GetKernels(&context, batch);
      for (v1::GetKernelsResponse message; reader->Read(&message);) {
        for (const v1::IndexedResult& result : message.results()) {
          refused += result.code() != 0 ? 1 : 0;
        }
      }
      ASSERT_TRUE(reader->Finish().ok());
      for (int k = 0; k < 10; ++k) {
        SendRaw("/ingot.v1.Kernels/GetKernel", "\x0a\xff");
      }
    }
  };
  send(20);
  const uint64_t before = daemon().ResidentBytes();
  refused = 0;
  send(210);
  EXPECT_GE(refused, 100000);
  EXPECT_LT(daemon().ResidentBytes(), before + (8u << 20));
}

}  // namespace
}  // namespace ingot::server
