// The spec: what a caller wants computed, as plain values. Made from the wire
// by server/wire.cc and by tests by hand; checked by ValidateSpec and by the
// op's own Check. See proto/canonical.md for the encoding that digests use.
#ifndef INGOT_COMPILER_SPEC_H_
#define INGOT_COMPILER_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot {

// Either one value or a range. A range of {0, 0, 0} has no limit but the op's.
struct Dim {
  std::string name;
  std::optional<int64_t> value;
  int64_t min = 0;
  int64_t max = 0;          // 0: unbounded
  int64_t multiple_of = 0;  // 0 and 1: any
};

enum class StrideMode { kDense = 0, kStatic = 1, kDynamic = 2 };

struct Operand {
  std::string name;
  std::string dtype;
  StrideMode stride_mode = StrideMode::kDense;
  std::vector<int64_t> strides;  // elements, outermost first; kStatic only
  uint32_t alignment = 0;        // bytes; 0: 16
};

using AttrValue = std::variant<bool, int64_t, double, std::string>;

struct Attr {
  std::string name;
  AttrValue value;
};

struct Tuning {
  std::string name;
  int64_t value = 0;
};

struct Spec {
  std::string op;
  std::vector<Dim> dims;
  std::vector<Operand> operands;
  std::vector<Attr> attrs;
  std::string target;
  std::vector<Tuning> tuning;

  // nullptr when there is none of that name.
  const Dim* FindDim(absl::string_view name) const;
  const Operand* FindOperand(absl::string_view name) const;
  const Attr* FindAttr(absl::string_view name) const;
  const Tuning* FindTuning(absl::string_view name) const;
};

// Whether a dim of this name changes from step to step and is never baked.
bool IsTokenDim(absl::string_view name);

// `spec` with lists sorted, target canonical, defaults folded and token-like
// single values removed (canonical.md). INVALID_ARGUMENT naming field, found
// and allowed for what has no encoding; UNIMPLEMENTED for a processor that is
// not known. Knows nothing of ops.
absl::StatusOr<Spec> Canonicalize(const Spec& spec);

// The bytes of canonical.md for a spec that Canonicalize returned.
std::string EncodeSpec(const Spec& canonical);

// SHA-256 of EncodeSpec: 32 bytes.
std::string SpecDigest(const Spec& canonical);

// "GFX950:xnack-:sramecc+" -> "gfx950:sramecc+:xnack-". INVALID_ARGUMENT for
// what cannot be parsed and for unknown or repeated features, UNIMPLEMENTED for
// another processor.
absl::StatusOr<std::string> CanonicalTarget(absl::string_view target);

}  // namespace ingot

#endif  // INGOT_COMPILER_SPEC_H_
