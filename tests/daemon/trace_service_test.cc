// W3C trace context: what a request causes is logged under the caller's trace.
#include <regex>
#include <sstream>

#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00f067aa0ba902b7";

class TraceServiceTest : public DaemonTest {
 protected:
  grpc::Status Get(int64_t n, const std::string& traceparent) {
    grpc::ClientContext context;
    if (!traceparent.empty()) context.AddMetadata("traceparent", traceparent);
    v1::GetKernelResponse response;
    return client().kernels().GetKernel(&context, RequestOf(RmsNorm(n)),
                                        &response);
  }
  static std::string Traceparent() {
    return std::string("00-") + kTraceId + "-" + kParent + "-01";
  }
  // Lines of the log with `event` and, if not empty, `text`; waits for one.
  std::vector<std::string> Lines(const std::string& event,
                                 const std::string& text = "") {
    std::vector<std::string> lines;
    for (int i = 0; i < 500 && lines.empty(); ++i) {
      std::istringstream log(daemon().Log());
      for (std::string line; std::getline(log, line);) {
        if (line.find("\"event\":\"" + event + "\"") != std::string::npos &&
            line.find(text) != std::string::npos) {
          lines.push_back(line);
        }
      }
      if (lines.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    return lines;
  }
  static std::string Field(const std::string& line, const std::string& name) {
    std::smatch match;
    const std::regex field("\"" + name + "\":\"([^\"]*)\"");
    return std::regex_search(line, match, field) ? match[1].str() : "";
  }
};

TEST_F(TraceServiceTest, TheCallersTraceIsInEveryLine) {
  StartFaultyDaemon();
  daemon().OrderFault("n=64", "abort", 1);
  ASSERT_TRUE(Get(64, Traceparent()).ok());
  const auto requests = Lines("request");
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(Field(requests[0], "trace_id"), kTraceId);
  EXPECT_EQ(Field(requests[0], "parent_id"), kParent);
  const std::string span = Field(requests[0], "span_id");
  EXPECT_THAT(span, SizeIs(16));
  EXPECT_NE(span, kParent);
  for (const char* event : {"compile", "worker died"}) {
    const auto lines = Lines(event);
    ASSERT_THAT(lines, SizeIs(1)) << event;
    EXPECT_EQ(Field(lines[0], "trace_id"), kTraceId) << event;
    EXPECT_EQ(Field(lines[0], "span_id"), span) << event;
  }
}

TEST_F(TraceServiceTest, OneIsBegunForWhomSendsNone) {
  StartDaemon();
  ASSERT_TRUE(Get(64, "").ok());
  ASSERT_TRUE(Get(65, "00-nonsense").ok());
  std::string last;
  ASSERT_THAT(Lines("request"), SizeIs(2));
  for (const std::string& line : Lines("request")) {
    const std::string id = Field(line, "trace_id");
    EXPECT_TRUE(std::regex_match(id, std::regex("[0-9a-f]{32}"))) << line;
    EXPECT_EQ(Field(line, "parent_id"), "");
    EXPECT_NE(id, last);
    last = id;
  }
}

// One trace, a span each.
TEST_F(TraceServiceTest, ABatchIsOneTrace) {
  StartDaemon();
  v1::GetKernelsRequest batch;
  *batch.add_requests() = RequestOf(RmsNorm(64));
  *batch.add_requests() = RequestOf(RmsNorm(65));
  grpc::ClientContext context;
  context.AddMetadata("traceparent", Traceparent());
  const auto stream = client().kernels().GetKernels(&context, batch);
  v1::GetKernelsResponse part;
  while (stream->Read(&part)) {
  }
  ASSERT_TRUE(stream->Finish().ok());
  const auto requests = Lines("request", kTraceId);
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_NE(Field(requests[0], "span_id"), Field(requests[1], "span_id"));
  EXPECT_THAT(Lines("compile", kTraceId), SizeIs(2));
}

// The log that a repro bundle keeps begins with the trace.
TEST_F(TraceServiceTest, ABundleSaysWhoseItWas) {
  StartFaultyDaemon();
  daemon().OrderFault("n=64", "abort");
  const grpc::Status refused = Get(64, Traceparent());
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  using Stub = v1::Admin::Stub;
  const auto list =
      client().Call(&Stub::ListRepros, v1::ListReprosRequest()).response;
  ASSERT_THAT(list.repros(), SizeIs(1));
  EXPECT_TRUE(list.repros(0).quarantined());
  EXPECT_THAT(refused.error_message(), HasSubstr(list.repros(0).id()));
  v1::GetReproRequest request;
  request.set_id(list.repros(0).id());
  const auto repro = client().Call(&Stub::GetRepro, request);
  ASSERT_TRUE(repro.ok()) << repro.message();
  EXPECT_THAT(repro.response.repro().log(),
              HasSubstr(std::string("trace 00-") + kTraceId));
  EXPECT_THAT(repro.response.repro().reason(), HasSubstr("signal 6"));
  EXPECT_FALSE(repro.response.repro().key_encoding().empty());
  for (const char* id : {"", "ffffffffffffffff", "../../../etc/pass", "x"}) {
    request.set_id(id);
    EXPECT_EQ(client().Call(&Stub::GetRepro, request).code(),
              grpc::StatusCode::NOT_FOUND)
        << id;
  }
}

}  // namespace
}  // namespace ingot::server
