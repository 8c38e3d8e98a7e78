// rmsnorm: y[r,i] = s[r,i] * rstd[r] * weight[i],
//          rstd[r] = 1 / sqrt(sum_i s[r,i]^2 / n + eps)
// where s is x or, with a residual, x + residual rounded to their dtype, which
// residual_out gets: the fused add of a transformer's layers, whose next layer
// sees what this one normalised.
//
// x, y, residual (optional), residual_out (optional output; needs residual):
// bf16, f16 or f32, all the same; weight (optional): dtype of x or f32; rstd
// (optional output): f32 [rows]. Sums in f32, s and y rounded once each. NaN
// and infinities go where these formulas send them.
//
// In place: y and residual_out may each be x or residual, with the same start
// and row stride; any other overlap of an output is undefined.
//
// n is baked: a thread's share of the row is then known and the code has no
// loops. 1 to 131072, any value; rows, eps and row strides come with the
// launch. Limits: rows up to 2^30, row strides below 2^30 elements (offsets
// inside a row are 32-bit, those of rows 64-bit, so tensors may be of any
// size).
//
// A row is worked on by one wave while that leaves it at most four vectors of
// 16 bytes a lane, else by one workgroup, and stays in registers between the
// two passes; only rows above 256 KiB are read twice.
//
// Variants: `aligned` where every row starts at a multiple of 16 bytes, else
// `unaligned`, which also takes rows that start between words.
//
// The attribute `quant` is reserved for quantised outputs.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/op.h"
#include "compiler/ops/rmsnorm_plan_request.h"
#include "compiler/ops/rmsnorm_plan_samples.h"

namespace ingot {
namespace {

// Workgroups in the x direction of the grid: x times 1024 work-items stays
// below the 2^32 that a dispatch can count.
constexpr int64_t kGroupsX = int64_t{1} << 20;

constexpr int kDimRows = 0;

// How the threads of a workgroup share rows.
struct Shape {
  int threads = 0;  // a row
  int rows = 0;     // a workgroup
  uint32_t workgroup() const { return static_cast<uint32_t>(threads * rows); }
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many whole waves as leave each thread `vectors` vectors of the row.
int64_t ThreadsFor(int64_t row_vectors, int64_t vectors) {
  return std::max<int64_t>(64, CeilDiv(CeilDiv(row_vectors, vectors), 64) * 64);
}

// Four vectors a thread keep 64 bytes in flight, enough to cover memory with
// the waves that fit; up to eight are taken where that leaves fewer threads
// idle.
Shape ShapeFor(const RmsNormRequest& r) {
  constexpr int64_t kMaxThreads = 1024;
  const int64_t vectors = r.n.min / (kRmsNormVectorBytes / r.bytes);
  int64_t threads = r.threads;
  if (threads == 0) {
    threads = ThreadsFor(vectors, 4);
    int64_t least_idle = CeilDiv(vectors, threads) * threads - vectors;
    for (int64_t share = 5; share <= 8; ++share) {
      const int64_t fewer = ThreadsFor(vectors, share);
      const int64_t idle = CeilDiv(vectors, fewer) * fewer - vectors;
      if (idle < least_idle) {
        threads = fewer;
        least_idle = idle;
      }
    }
    threads = std::min(threads, kMaxThreads);
  }
  return {static_cast<int>(threads), threads == 64 ? 4 : 1};
}

// What rows that start at multiples of `align` bytes need of a launch.
struct Family {
  const char* name = "";
  int64_t align = 0;
  bool possible = true;
  bool conditional = false;  // may fail for strides of a launch
  std::vector<Guard> guards;
};

void RequireRows(const RmsNormRequest& r, const RmsNormOperand& rows,
                 Family* family) {
  const Operand& operand = *rows.operand;
  const int64_t multiple = std::max<int64_t>(1, family->align / r.bytes);
  if (AlignmentOf(operand) < family->align) family->possible = false;
  family->guards.push_back(
      {Guard::kOperandAlignment, rows.index, 0, 0, family->align});
  switch (operand.stride_mode) {
    case StrideMode::kDense:
      if (r.n.min % multiple != 0) family->possible = false;
      break;
    case StrideMode::kStatic:
      if (operand.strides[0] % multiple != 0) family->possible = false;
      break;
    case StrideMode::kDynamic:
      family->guards.push_back({Guard::kOperandStride, rows.index * 8, r.n.min,
                                kRmsNormMaxStride, multiple});
      family->guards.push_back(
          {Guard::kOperandStride, rows.index * 8 + 1, 1, 1, 0});
      family->conditional |= multiple > 1;
      break;
  }
}

Family MakeFamily(const RmsNormRequest& r, const char* name, int64_t align) {
  Family family{name, align};
  for (const RmsNormOperand* rows : r.matrices()) {
    RequireRows(r, *rows, &family);
  }
  return family;
}

// The aligned one first; the last one always matches what the spec promises.
std::vector<Family> Families(const RmsNormRequest& r) {
  const Family aligned = MakeFamily(r, "aligned", kRmsNormVectorBytes);
  if (aligned.possible && !aligned.conditional) return {aligned};
  const Family unaligned = MakeFamily(r, "unaligned", r.bytes);
  if (!aligned.possible) return {unaligned};
  return {aligned, unaligned};
}

int64_t WeightAlign(const RmsNormRequest& r) {
  if (AlignmentOf(*r.weight.operand) >= kRmsNormVectorBytes)
    return kRmsNormVectorBytes;
  return DtypeBytes(r.weight->dtype);
}

std::vector<KernelArg> Arguments(const RmsNormRequest& r) {
  struct Entry {
    const char* pointer;
    const char* stride;  // of operands that are rows
    const RmsNormOperand& operand;
  };
  const Entry entries[] = {{"x", "ldx", r.x},
                           {"y", "ldy", r.y},
                           {"weight", nullptr, r.weight},
                           {"rstd", nullptr, r.rstd},
                           {"residual", "ldr", r.residual},
                           {"residual_out", "ldro", r.residual_out}};
  std::vector<KernelArg> args;
  for (const Entry& entry : entries) {
    if (!entry.operand) continue;
    args.push_back({entry.pointer, KernelArg::kOperand, entry.operand.index, 8,
                    Expr::Const(0)});
  }
  // Strides also where they are dense or static: the kernel is the same.
  for (const Entry& entry : entries) {
    if (!entry.operand || entry.stride == nullptr) continue;
    args.push_back({entry.stride, KernelArg::kInteger, 0, 8,
                    Expr::StrideAt(entry.operand.index, 0)});
  }
  args.push_back({"rows", KernelArg::kInteger, 0, 4, Expr::DimAt(kDimRows)});
  args.push_back({"eps", KernelArg::kScalar, 0, 4, Expr::Const(0)});
  return args;
}

std::string Symbol(const RmsNormRequest& r, const Family& family) {
  std::string symbol =
      absl::StrCat("ingot_rmsnorm_", r.x->dtype, "_n", r.n.min);
  if (r.weight) absl::StrAppend(&symbol, "_w", r.weight->dtype);
  if (r.rstd) absl::StrAppend(&symbol, "_rstd");
  if (r.residual) absl::StrAppend(&symbol, "_residual");
  if (r.residual_out) absl::StrAppend(&symbol, "_out");
  return absl::StrCat(symbol, "_", family.name);
}

KernelSpec Kernel(const RmsNormRequest& r, const Family& family,
                  const Shape& shape) {
  KernelSpec kernel;
  kernel.symbol = Symbol(r, family);
  kernel.params = {{"align", family.align},
                   {"align_weight", r.weight ? WeightAlign(r) : int64_t{0}},
                   {"dtype", r.x->dtype},
                   {"dtype_weight", r.weight ? r.weight->dtype : "none"},
                   {"groups_x", kGroupsX},
                   {"has_residual", int64_t{bool(r.residual)}},
                   {"has_residual_out", int64_t{bool(r.residual_out)}},
                   {"has_rstd", int64_t{bool(r.rstd)}},
                   {"n", r.n.min},
                   {"rows_per_workgroup", int64_t{shape.rows}},
                   {"threads", int64_t{shape.threads}}};
  // Half of the registers would be AccVGPRs, which only matrix kernels use.
  kernel.codegen = {{"agpr_alloc", int64_t{0}}, {"opt", "light"}};
  kernel.workgroup = {shape.workgroup(), 1, 1};
  const Expr groups = CeilDiv(Expr::DimAt(kDimRows), Expr::Const(shape.rows));
  kernel.grid = {Min(groups, Expr::Const(kGroupsX)),
                 CeilDiv(groups, Expr::Const(kGroupsX)), Expr::Const(1)};
  // A word a wave, for the sum over the workgroup.
  kernel.lds_bytes = shape.rows > 1 ? 0 : shape.workgroup() / 64 * 4;
  kernel.args = Arguments(r);
  return kernel;
}

PlanOperand DescribeRows(const Operand& operand, int64_t n, bool output) {
  PlanOperand out;
  out.name = operand.name;
  out.dtype = operand.dtype;
  out.axes = 2;
  out.stride_mode = operand.stride_mode;
  if (operand.stride_mode == StrideMode::kDense) {
    out.strides = {Expr::Const(n), Expr::Const(1)};
  } else if (operand.stride_mode == StrideMode::kStatic) {
    out.strides = {Expr::Const(operand.strides[0]), Expr::Const(1)};
  }
  out.extents = {Expr::DimAt(kDimRows), Expr::Const(n)};
  out.output = output;
  return out;
}

PlanOperand DescribeVector(const Operand& operand, const Expr& extent,
                           bool output) {
  PlanOperand out;
  out.name = operand.name;
  out.dtype = operand.dtype;
  out.axes = 1;
  out.strides = {Expr::Const(1)};
  out.extents = {extent};
  out.output = output;
  return out;
}

// In the order of their indices.
std::vector<PlanOperand> DescribeOperands(const RmsNormRequest& r) {
  const Expr rows = Expr::DimAt(kDimRows);
  const Expr n = Expr::Const(r.n.min);
  std::vector<PlanOperand> list = {DescribeRows(*r.x.operand, r.n.min, false),
                                   DescribeRows(*r.y.operand, r.n.min, true)};
  if (r.weight) list.push_back(DescribeVector(*r.weight.operand, n, false));
  if (r.rstd) list.push_back(DescribeVector(*r.rstd.operand, rows, true));
  if (r.residual) {
    list.push_back(DescribeRows(*r.residual.operand, r.n.min, false));
  }
  if (r.residual_out) {
    list.push_back(DescribeRows(*r.residual_out.operand, r.n.min, true));
  }
  return list;
}

absl::StatusOr<Plan> PlanRmsNorm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const RmsNormRequest r, ReadRmsNormRequest(spec));
  const Shape shape = ShapeFor(r);
  Plan plan;
  plan.resolved = spec;
  plan.resolved.tuning = {{"threads", shape.threads}};
  plan.dims = {r.rows, r.n};
  plan.operands = DescribeOperands(r);
  plan.scalars = {{"eps", "f32", 1e-6}};
  for (const Family& family : Families(r)) {
    Variant variant;
    variant.name = family.name;
    variant.guards = family.guards;
    LaunchStep launch;
    launch.kernel = static_cast<int>(plan.kernels.size());
    plan.kernels.push_back({Kernel(r, family, shape)});
    launch.grid = plan.kernels.back().spec.grid;
    variant.recipe.steps.push_back(launch);
    plan.variants.push_back(std::move(variant));
  }
  return plan;
}

std::vector<Candidate> RmsNormCandidates(const Spec&) {
  std::vector<Candidate> all;
  for (int64_t threads = 64; threads <= 1024; threads *= 2) {
    all.push_back({.tuning = {{"threads", threads}}});
  }
  return all;
}

constexpr const char* kDims[] = {"rows", "n"};
constexpr const char* kOperands[] = {"x",    "y",        "weight",
                                     "rstd", "residual", "residual_out"};
constexpr const char* kAttrs[] = {"quant"};
constexpr const char* kTuning[] = {"threads"};

}  // namespace

extern constinit const OpDef k_op_rmsnorm = {
    .name = "rmsnorm",
    .summary =
        "y[r,i] = s[r,i] / sqrt(sum_i s[r,i]^2 / n + eps) * weight[i], "
        "s = x or x + residual",
    .dims = kDims,
    .operands = kOperands,
    .attrs = kAttrs,
    .tuning = kTuning,
    .plan = PlanRmsNorm,
    .samples = RmsNormSamples,
    .bad_samples = RmsNormBadSamples,
    .candidates = RmsNormCandidates,
};

}  // namespace ingot
