// The plan: what the compiler decided for a spec. Variants guarded by dims and
// alignments, each with a recipe, each launch naming a kernel. Mirrors
// ingot/v1/plan.proto; server/wire.cc translates.
#ifndef INGOT_COMPILER_PLAN_H_
#define INGOT_COMPILER_PLAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/expr.h"
#include "compiler/kernel_spec.h"
#include "compiler/spec.h"

namespace ingot {

struct Guard {
  enum Subject { kDim, kOperandAlignment, kOperandStride };
  Subject subject = kDim;
  int index = 0;  // dim; operand; operand * 8 + axis
  int64_t min = 0;
  int64_t max = 0;  // 0: unbounded
  int64_t multiple_of = 0;
};

struct LaunchStep {
  int kernel = 0;  // into Plan::kernels
  std::array<Expr, 3> grid;
};

struct FillStep {
  bool workspace = true;
  int operand = 0;
  Expr offset;
  Expr bytes;
  uint32_t value = 0;
};

using RecipeStep = std::variant<FillStep, LaunchStep>;

// The version of recipes that this build writes. Never reuse a number.
inline constexpr uint32_t kRecipeVersion = 1;

struct Recipe {
  Expr workspace_bytes = Expr::Const(0);
  bool workspace_kept = false;
  std::vector<RecipeStep> steps;
};

struct Variant {
  std::string name;
  std::vector<Guard> guards;
  Recipe recipe;
};

struct PlanDim {
  std::string name;
  int64_t min = 0;  // inclusive
  int64_t max = 0;
  int64_t multiple_of = 1;
};

struct PlanOperand {
  std::string name;
  std::string dtype;
  int axes = 0;
  StrideMode stride_mode = StrideMode::kDense;
  std::vector<Expr> strides;  // an axis each unless kDynamic
  // Elements, an axis each; bytes of a format that packs several into one.
  std::vector<Expr> extents;
  bool output = false;
};

struct PlanScalar {
  std::string name;
  std::string dtype;  // f32, i32, i64
  std::optional<double> default_value;
};

// A kernel that some variant launches: everything the worker needs, and the
// key.
struct PlanKernel {
  KernelSpec spec;
  std::string encoding;  // EncodeKernelSpec(spec)
  std::string key;       // SHA-256 of `encoding`, 32 bytes
};

struct Plan {
  Spec resolved;            // canonical, tile configuration in `tuning`
  std::string spec_digest;  // of the spec asked for, not of `resolved`
  std::string fingerprint;  // of the op
  std::vector<PlanDim> dims;
  std::vector<PlanOperand> operands;
  std::vector<PlanScalar> scalars;
  std::vector<Variant> variants;
  std::vector<PlanKernel> kernels;  // no key twice
};

// Checks `spec` and decides. Takes microseconds, compiles nothing.
// INVALID_ARGUMENT, UNIMPLEMENTED and FAILED_PRECONDITION as README's table
// says, naming field, found and allowed.
absl::StatusOr<Plan> MakePlan(const Spec& spec);

}  // namespace ingot

#endif  // INGOT_COMPILER_PLAN_H_
