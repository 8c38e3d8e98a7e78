// The error vocabulary that every component shares: absl::Status with the codes
// of the README's table, the two propagation macros, and context in front of a
// message. Nothing else of another component crosses a border.
#ifndef INGOT_PROTO_STATUS_H_
#define INGOT_PROTO_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ingot {

// `status` with `context` put before its message; its code is kept and OK stays
// OK. For saying where, never for changing what.
inline absl::Status Annotate(const absl::Status& status,
                             absl::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(),
                         absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

}  // namespace ingot

// Returns the status out of the function when it is not OK.
#define INGOT_RETURN_IF_ERROR(expression)                  \
  do {                                                     \
    absl::Status ingot_status_ = (expression);             \
    if (!ingot_status_.ok()) return ingot_status_;         \
  } while (false)

// INGOT_ASSIGN_OR_RETURN(const Plan plan, MakePlan(spec));
#define INGOT_ASSIGN_OR_RETURN(target, expression) \
  INGOT_ASSIGN_OR_RETURN_(INGOT_CONCAT_(ingot_or_, __LINE__), target, expression)
#define INGOT_ASSIGN_OR_RETURN_(temporary, target, expression) \
  auto temporary = (expression);                               \
  if (!temporary.ok()) return std::move(temporary).status();   \
  target = *std::move(temporary)
#define INGOT_CONCAT_(a, b) INGOT_CONCAT_2_(a, b)
#define INGOT_CONCAT_2_(a, b) a##b

#endif  // INGOT_PROTO_STATUS_H_
