// How every refusal of a spec reads: the field, what was found, what is
// allowed.
#ifndef INGOT_COMPILER_REFUSAL_H_
#define INGOT_COMPILER_REFUSAL_H_

#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot {

// Text from a caller as it may stand in a message or a log: printable, quoted,
// cut after 64 bytes.
inline std::string Quoted(absl::string_view text) {
  constexpr size_t kShown = 64;
  if (text.size() <= kShown) return absl::StrCat("'", absl::CEscape(text), "'");
  return absl::StrCat("'", absl::CEscape(text.substr(0, kShown)), "...' (",
                      text.size(), " bytes)");
}

// `found` is quoted by the caller when it is text from outside.
inline absl::Status Refuse(absl::StatusCode code, absl::string_view field,
                           absl::string_view found, absl::string_view allowed) {
  return absl::Status(
      code, absl::StrCat(field, ": found ", found, ", allowed ", allowed));
}

inline absl::Status Invalid(absl::string_view field, absl::string_view found,
                            absl::string_view allowed) {
  return Refuse(absl::StatusCode::kInvalidArgument, field, found, allowed);
}

inline absl::Status Unimplemented(absl::string_view field,
                                  absl::string_view found,
                                  absl::string_view allowed) {
  return Refuse(absl::StatusCode::kUnimplemented, field, found, allowed);
}

}  // namespace ingot

#endif  // INGOT_COMPILER_REFUSAL_H_
