#include "server/trace.h"

#include <vector>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00f067aa0ba902b7";

std::string Valid() {
  return std::string("00-") + kTraceId + "-" + kParent + "-01";
}

TEST(TraceTest, GoesOnWithTheCallers) {
  const Trace trace = TraceOf(Valid());
  EXPECT_EQ(trace.trace_id, kTraceId);
  EXPECT_EQ(trace.parent_id, kParent);
  EXPECT_EQ(trace.span_id.size(), 16u);
  EXPECT_NE(trace.span_id, kParent);
  EXPECT_EQ(Traceparent(trace),
            std::string("00-") + kTraceId + "-" + trace.span_id + "-01");
  EXPECT_EQ(TraceOf(Traceparent(trace)).parent_id, trace.span_id);
  const Trace next = NextSpan(trace);
  EXPECT_EQ(next.trace_id, trace.trace_id);
  EXPECT_EQ(next.parent_id, trace.parent_id);
  EXPECT_NE(next.span_id, trace.span_id);
  EXPECT_EQ(Traceparent({}), "");
}

TEST(TraceTest, TakesALaterVersion) {
  std::string later = Valid();
  later.replace(0, 2, "cc");
  EXPECT_EQ(TraceOf(later + "-what-comes").trace_id, kTraceId);
  EXPECT_EQ(TraceOf(later).trace_id, kTraceId);
  EXPECT_NE(TraceOf(later + "x").trace_id, kTraceId);
}

TEST(TraceTest, BeginsAnewForWhatIsNone) {
  const std::string zeros(32, '0');
  std::vector<std::string> wrong = {
      "",
      "x",
      Valid().substr(0, 54),
      Valid() + "-more",  // version 00 ends there
      "ff" + Valid().substr(2),
      std::string("00-") + zeros + "-" + kParent + "-01",
      std::string("00-") + kTraceId + "-0000000000000000-01",
      std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-") + kParent + "-01"};
  for (size_t at = 0; at < Valid().size(); ++at) {
    wrong.push_back(Valid());
    wrong.back()[at] = 'g';
  }
  for (const std::string& text : wrong) {
    const Trace trace = TraceOf(text);
    EXPECT_NE(trace.trace_id, kTraceId) << text;
    EXPECT_EQ(trace.trace_id.size(), 32u) << text;
    EXPECT_EQ(trace.parent_id, "") << text;
  }
  EXPECT_NE(TraceOf("").trace_id, TraceOf("").trace_id);
}

}  // namespace
}  // namespace ingot::server
