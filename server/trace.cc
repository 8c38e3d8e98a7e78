#include "server/trace.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ingot::server {
namespace {

// version-trace-span-flags
constexpr size_t kTrace = 3;
constexpr size_t kSpan = 36;
constexpr size_t kFlags = 53;
constexpr size_t kSize = 55;

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
  });
}

// An id of all zeros is none.
bool IsId(absl::string_view text) {
  return IsHex(text) &&
         std::any_of(text.begin(), text.end(), [](char c) { return c != '0'; });
}

bool IsTraceparent(absl::string_view text) {
  if (text.size() < kSize) return false;
  const absl::string_view version = text.substr(0, 2);
  // A later version may go on behind another dash.
  const bool ends =
      text.size() == kSize || (version != "00" && text[kSize] == '-');
  return ends && IsHex(version) && version != "ff" && text[2] == '-' &&
         text[kSpan - 1] == '-' && text[kFlags - 1] == '-' &&
         IsId(text.substr(kTrace, 32)) && IsId(text.substr(kSpan, 16)) &&
         IsHex(text.substr(kFlags, 2));
}

std::string RandomId() {
  static thread_local std::mt19937_64 random([] {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }());
  return absl::StrCat(
      absl::Hex(std::max<uint64_t>(random(), 1), absl::kZeroPad16));
}

}  // namespace

Trace TraceOf(absl::string_view traceparent) {
  Trace trace;
  trace.span_id = RandomId();
  if (IsTraceparent(traceparent)) {
    trace.trace_id = std::string(traceparent.substr(kTrace, 32));
    trace.parent_id = std::string(traceparent.substr(kSpan, 16));
  } else {
    trace.trace_id = RandomId() + RandomId();
  }
  return trace;
}

Trace SpanOf(absl::string_view traceparent) {
  if (!IsTraceparent(traceparent)) return {};
  return {std::string(traceparent.substr(kTrace, 32)), "",
          std::string(traceparent.substr(kSpan, 16))};
}

Trace NextSpan(const Trace& trace) {
  Trace next = trace;
  next.span_id = RandomId();
  return next;
}

std::string Traceparent(const Trace& trace) {
  if (trace.trace_id.empty()) return "";
  return absl::StrCat("00-", trace.trace_id, "-", trace.span_id, "-01");
}

}  // namespace ingot::server
