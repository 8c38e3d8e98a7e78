// W3C trace context: which trace of the caller's a request belongs to.
#ifndef INGOT_SERVER_TRACE_H_
#define INGOT_SERVER_TRACE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot::server {

// All empty: nobody's.
struct Trace {
  std::string trace_id;   // 32 hex digits
  std::string parent_id;  // 16, the caller's span; empty when it sent none
  std::string span_id;    // 16, of what the daemon does for the request
};

// From the metadata `traceparent`, with a span of its own. What is no valid
// traceparent counts as none: a trace begins here.
Trace TraceOf(absl::string_view traceparent);

// The same for another request of one call.
Trace NextSpan(const Trace& trace);

// As a traceparent for what the request causes; empty for nobody's.
std::string Traceparent(const Trace& trace);

// The trace that a Traceparent of ours stands for; all empty for "".
Trace SpanOf(absl::string_view traceparent);

}  // namespace ingot::server

#endif  // INGOT_SERVER_TRACE_H_
