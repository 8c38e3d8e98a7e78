// rmsnorm: y[r,i] = x[r,i] * rstd[r] * weight[i],
//          rstd[r] = 1 / sqrt(sum_i x[r,i]^2 / n + eps)
//
// x, y: bf16, f16 or f32, the same; weight (optional): dtype of x or f32; rstd
// (optional output): f32 [rows]. Sums in f32, one rounding at the end. NaN and
// infinities go where these formulas send them. y may be x.
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
// The attributes `residual` and `quant` are reserved for the fused forms.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/op.h"
#include "compiler/ops/rmsnorm_plan_samples.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRow = 131072;
constexpr int64_t kMaxRows = int64_t{1} << 30;
constexpr int64_t kMaxStride = (int64_t{1} << 30) - 1;
constexpr int64_t kVectorBytes = 16;
// Workgroups in the x direction of the grid: x times 1024 work-items stays
// below the 2^32 that a dispatch can count.
constexpr int64_t kGroupsX = int64_t{1} << 20;

constexpr int kDimRows = 0;
constexpr int kX = 0;
constexpr int kY = 1;

struct Request {
  PlanDim rows, n;
  const Operand* x = nullptr;
  const Operand* y = nullptr;
  const Operand* weight = nullptr;
  const Operand* rstd = nullptr;
  int64_t bytes = 0;  // of an element of x and y
  int threads = 0;    // a row; 0: ours to choose
};

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
Shape ShapeFor(const Request& r) {
  constexpr int64_t kMaxThreads = 1024;
  const int64_t vectors = r.n.min / (kVectorBytes / r.bytes);
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

absl::Status CheckStrides(const Request& r, const Operand& operand) {
  if (operand.stride_mode != StrideMode::kStatic) return absl::OkStatus();
  const std::string field = absl::StrCat("strides of operand ", operand.name);
  const std::string found = absl::StrJoin(operand.strides, ", ");
  if (operand.strides.size() != 2 || operand.strides[1] != 1) {
    return Invalid(field, found, "a row stride and 1");
  }
  if (operand.strides[0] < r.n.min || operand.strides[0] > kMaxStride) {
    return Invalid(
        field, found,
        absl::StrCat("row strides of ", r.n.min, " to ", kMaxStride));
  }
  return absl::OkStatus();
}

absl::Status CheckVector(const Operand& operand) {
  if (operand.stride_mode == StrideMode::kDense) return absl::OkStatus();
  if (operand.stride_mode == StrideMode::kStatic &&
      operand.strides == std::vector<int64_t>{1}) {
    return absl::OkStatus();
  }
  return Invalid(absl::StrCat("strides of operand ", operand.name),
                 absl::StrJoin(operand.strides, ", "), "dense, or static 1");
}

absl::Status CheckAlignment(const Operand& operand) {
  const int64_t least = DtypeBytes(operand.dtype);
  if (AlignmentOf(operand) >= least) return absl::OkStatus();
  return Invalid(absl::StrCat("alignment of operand ", operand.name),
                 absl::StrCat(operand.alignment),
                 absl::StrCat(least, " or more"));
}

absl::Status ReadOperands(const Spec& spec, Request* r) {
  INGOT_ASSIGN_OR_RETURN(r->x, CheckOperand(spec, "x", {"bf16", "f16", "f32"}));
  const absl::string_view dtype = r->x->dtype;
  INGOT_ASSIGN_OR_RETURN(r->y, CheckOperand(spec, "y", {dtype}));
  r->bytes = DtypeBytes(dtype);
  if (spec.FindOperand("weight") != nullptr) {
    INGOT_ASSIGN_OR_RETURN(r->weight,
                           CheckOperand(spec, "weight", {dtype, "f32"}));
    INGOT_RETURN_IF_ERROR(CheckVector(*r->weight));
  }
  if (spec.FindOperand("rstd") != nullptr) {
    INGOT_ASSIGN_OR_RETURN(r->rstd, CheckOperand(spec, "rstd", {"f32"}));
    INGOT_RETURN_IF_ERROR(CheckVector(*r->rstd));
  }
  INGOT_RETURN_IF_ERROR(CheckStrides(*r, *r->x));
  INGOT_RETURN_IF_ERROR(CheckStrides(*r, *r->y));
  for (const Operand* operand : {r->x, r->y, r->weight, r->rstd}) {
    if (operand != nullptr) INGOT_RETURN_IF_ERROR(CheckAlignment(*operand));
  }
  return absl::OkStatus();
}

absl::Status ReadAttributes(const Spec& spec) {
  if (const Attr* residual = spec.FindAttr("residual")) {
    const bool* on = std::get_if<bool>(&residual->value);
    if (on == nullptr) {
      return Invalid("attribute residual", "no boolean", "false");
    }
    if (*on) return Unimplemented("attribute residual", "true", "false");
  }
  return CheckChoice(spec, "quant", "none", {"none"}).status();
}

absl::Status ReadTuning(const Spec& spec, Request* r) {
  const Tuning* threads = spec.FindTuning("threads");
  if (threads == nullptr) return absl::OkStatus();
  if (threads->value < 64 || threads->value > 1024 ||
      threads->value % 64 != 0) {
    return Invalid("tuning threads", absl::StrCat(threads->value),
                   "multiples of 64 to 1024");
  }
  const int64_t share =
      CeilDiv(r->n.min / (kVectorBytes / r->bytes), threads->value);
  // More would be code without a loop for hundreds of vectors.
  constexpr int64_t kMostVectors = 32;
  if (share > kMostVectors) {
    return Invalid("tuning threads", absl::StrCat(threads->value),
                   absl::StrCat("enough for ", kMostVectors,
                                " vectors of 16 bytes a thread"));
  }
  r->threads = static_cast<int>(threads->value);
  return absl::OkStatus();
}

absl::StatusOr<Request> ReadRequest(const Spec& spec) {
  Request r;
  INGOT_RETURN_IF_ERROR(ReadAttributes(spec));
  INGOT_ASSIGN_OR_RETURN(r.rows, CheckDim(spec, "rows", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.n, CheckDim(spec, "n", kMaxRow));
  if (r.n.min != r.n.max) {
    return Invalid("dim n", absl::StrCat(r.n.min, " to ", r.n.max),
                   "one value");
  }
  INGOT_RETURN_IF_ERROR(ReadOperands(spec, &r));
  INGOT_RETURN_IF_ERROR(ReadTuning(spec, &r));
  return r;
}

// What rows that start at multiples of `align` bytes need of a launch.
struct Family {
  const char* name = "";
  int64_t align = 0;
  bool possible = true;
  bool conditional = false;  // may fail for strides of a launch
  std::vector<Guard> guards;
};

void RequireRows(const Request& r, const Operand& operand, int index,
                 Family* family) {
  const int64_t multiple = std::max<int64_t>(1, family->align / r.bytes);
  if (AlignmentOf(operand) < family->align) family->possible = false;
  family->guards.push_back(
      {Guard::kOperandAlignment, index, 0, 0, family->align});
  switch (operand.stride_mode) {
    case StrideMode::kDense:
      if (r.n.min % multiple != 0) family->possible = false;
      break;
    case StrideMode::kStatic:
      if (operand.strides[0] % multiple != 0) family->possible = false;
      break;
    case StrideMode::kDynamic:
      family->guards.push_back(
          {Guard::kOperandStride, index * 8, r.n.min, kMaxStride, multiple});
      family->guards.push_back({Guard::kOperandStride, index * 8 + 1, 1, 1, 0});
      family->conditional |= multiple > 1;
      break;
  }
}

Family MakeFamily(const Request& r, const char* name, int64_t align) {
  Family family{name, align};
  RequireRows(r, *r.x, kX, &family);
  RequireRows(r, *r.y, kY, &family);
  return family;
}

// The aligned one first; the last one always matches what the spec promises.
std::vector<Family> Families(const Request& r) {
  const Family aligned = MakeFamily(r, "aligned", kVectorBytes);
  if (aligned.possible && !aligned.conditional) return {aligned};
  const Family unaligned = MakeFamily(r, "unaligned", r.bytes);
  if (!aligned.possible) return {unaligned};
  return {aligned, unaligned};
}

int64_t WeightAlign(const Request& r) {
  if (AlignmentOf(*r.weight) >= kVectorBytes) return kVectorBytes;
  return DtypeBytes(r.weight->dtype);
}

std::vector<KernelArg> Arguments(const Request& r) {
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kOperand, index, 8, Expr::Const(0)});
  };
  pointer("x", kX);
  pointer("y", kY);
  int next = kY + 1;
  if (r.weight != nullptr) pointer("weight", next++);
  if (r.rstd != nullptr) pointer("rstd", next++);
  // Strides also where they are dense or static: the kernel is the same.
  args.push_back({"ldx", KernelArg::kInteger, 0, 8, Expr::StrideAt(kX, 0)});
  args.push_back({"ldy", KernelArg::kInteger, 0, 8, Expr::StrideAt(kY, 0)});
  args.push_back({"rows", KernelArg::kInteger, 0, 4, Expr::DimAt(kDimRows)});
  args.push_back({"eps", KernelArg::kScalar, 0, 4, Expr::Const(0)});
  return args;
}

KernelSpec Kernel(const Request& r, const Family& family, const Shape& shape) {
  KernelSpec kernel;
  const std::string weight = r.weight == nullptr ? "none" : r.weight->dtype;
  kernel.symbol =
      absl::StrCat("ingot_rmsnorm_", r.x->dtype, "_n", r.n.min,
                   r.weight == nullptr ? "" : "_w", r.weight ? weight : "",
                   r.rstd == nullptr ? "" : "_rstd", "_", family.name);
  kernel.params = {{"align", family.align},
                   {"align_weight", r.weight ? WeightAlign(r) : int64_t{0}},
                   {"dtype", r.x->dtype},
                   {"dtype_weight", weight},
                   {"groups_x", kGroupsX},
                   {"has_rstd", int64_t{r.rstd != nullptr}},
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

absl::StatusOr<Plan> PlanRmsNorm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Request r, ReadRequest(spec));
  const Shape shape = ShapeFor(r);
  Plan plan;
  plan.resolved = spec;
  plan.resolved.tuning = {{"threads", shape.threads}};
  plan.dims = {r.rows, r.n};
  plan.operands = {DescribeRows(*r.x, r.n.min, false),
                   DescribeRows(*r.y, r.n.min, true)};
  if (r.weight != nullptr) {
    plan.operands.push_back(
        DescribeVector(*r.weight, Expr::Const(r.n.min), false));
  }
  if (r.rstd != nullptr) {
    plan.operands.push_back(
        DescribeVector(*r.rstd, Expr::DimAt(kDimRows), true));
  }
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
constexpr const char* kOperands[] = {"x", "y", "weight", "rstd"};
constexpr const char* kAttrs[] = {"residual", "quant"};
constexpr const char* kTuning[] = {"threads"};

}  // namespace

extern constinit const OpDef k_op_rmsnorm = {
    .name = "rmsnorm",
    .summary = "y[r,i] = x[r,i] / sqrt(sum_i x[r,i]^2 / n + eps) * weight[i]",
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
