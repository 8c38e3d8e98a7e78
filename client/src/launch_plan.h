// A plan in the form that launches use: checked once, flat, indices resolved.
// Immutable after MakeLaunchPlan, so any number of threads may read it.
#ifndef INGOT_CLIENT_SRC_LAUNCH_PLAN_H_
#define INGOT_CLIENT_SRC_LAUNCH_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/src/expr.h"
#include "client/src/status.h"
#include "ingot/v1/plan.pb-c.h"

namespace ingot::client {

inline constexpr int kMaxScalars = 32;
// HIP takes 4 KiB of kernel arguments.
inline constexpr uint32_t kMaxKernargBytes = 4096;

struct PlanDim {
  std::string name;
  int64_t min;
  int64_t max;  // inclusive
  int64_t multiple_of;
};

struct PlanOperand {
  std::string name;
  std::string dtype;
  uint32_t axes;
  bool dynamic;               // strides come with the launch
  bool output;                // kernels write it
  std::vector<Expr> strides;  // an axis each unless dynamic
  std::vector<Expr> extents;  // elements an axis
};

struct PlanScalar {
  enum Type { kF32, kI32, kI64 };
  std::string name;
  Type type;
  bool has_default;
  double default_value;
};

struct PlanGuard {
  enum Subject { kDim, kAlignment, kStride };
  Subject subject;
  uint32_t index;  // dim; operand; operand * kMaxAxes + axis
  int64_t min;
  int64_t max;          // 0: unbounded
  int64_t multiple_of;  // at least 1
};

struct PlanArgument {
  enum Kind { kOperand, kInteger, kScalar, kWorkspace, kEpoch, kPeer };
  Kind kind;
  uint32_t index;
  uint32_t size;    // 4 or 8
  uint32_t offset;  // in the kernarg segment
  Expr expr;        // bytes added, or the value
};

// Either a fill or a launch.
struct PlanStep {
  bool is_fill;
  // A fill's: `operand` when not of the workspace.
  bool of_workspace;
  uint32_t operand;
  Expr offset;
  Expr bytes;
  uint32_t value;
  // A launch's.
  uint32_t kernel;  // into LaunchPlan::kernels
  uint32_t workgroup[3];
  Expr grid[3];
  uint32_t lds_bytes;
  bool cooperative;
  uint32_t kernarg_bytes;
  std::vector<PlanArgument> args;
};

struct PlanVariant {
  std::string name;
  std::vector<PlanGuard> guards;
  Expr workspace_bytes;
  bool workspace_kept;
  std::vector<PlanStep> steps;
};

struct PlanKernel {
  std::string key;  // 32 bytes
  std::string symbol;
};

struct LaunchPlan {
  std::string spec_digest;
  std::string fingerprint;
  uint64_t epoch = 0;
  std::vector<PlanDim> dims;
  std::vector<PlanOperand> operands;
  std::vector<PlanScalar> scalars;
  std::vector<PlanVariant> variants;
  std::vector<PlanKernel> kernels;  // no key twice
  // Stride slots (operand * kMaxAxes + axis) that a guard or expression reads;
  // the others need not be computed.
  std::vector<uint32_t> used_strides;
  uint32_t peers = 0;  // how many a launch must bring
};

// UNIMPLEMENTED for a recipe, expression or argument that is newer than this
// library; INTERNAL for a plan that contradicts itself.
Status MakeLaunchPlan(const Ingot__V1__Plan& wire, LaunchPlan* plan);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_LAUNCH_PLAN_H_
