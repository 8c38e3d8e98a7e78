// silu_mul: y[r,i] = act(gate[r,i]) * up[r,i], the gated activation of a
// transformer's MLP (silu_and_mul, swiglu, geglu).
//
// Operands: y [rows, n], and gate and up [rows, n] each or both in
// x [rows, 2n], as one projection for both leaves them. bf16, f16 or f32, all
// the same.
// `act`: silu (default), gelu_tanh, gelu_erf.
// `pairing`, with x alone: halves (default): gate is x[r, 0..n-1], up
// x[r, n..2n-1]; interleaved: gate is x[r, 2i], up x[r, 2i+1].
// Computed in f32, rounded once at the end. NaN and infinities go where the
// formula sends them; act of minus infinity is zero.
//
// In place: y may be gate or up, or either half of x, with the same start and
// row stride; any other overlap of y is undefined.
//
// n is baked, 1 to 262144, any value; rows and row strides come with the
// launch. Rows up to 2^30, row strides below 2^30 elements. Rows of interleaved
// x start at multiples of a pair.
//
// A workgroup of 256 threads works on a part of one row, or each wave of it on
// a short row of its own. Two vectors of 16 bytes of each input a thread: the
// eight waves that a SIMD holds then have more loads in flight than memory
// needs, and a row of few tokens still spreads over several compute units. The
// hardware deals workgroups out faster than memory feeds them, so a persistent
// grid would win nothing.
//
// Variants: `aligned` where every row starts at a multiple of 16 bytes, else
// `unaligned`.
#include <array>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recipe_steps.h"
#include "compiler/ops/row_operands.h"
#include "compiler/ops/silu_mul_plan_samples.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxN = int64_t{1} << 18;
constexpr int64_t kMostVectors = 8;
constexpr int kDimRows = 0;

struct Request {
  PlanDim rows, n;
  std::string act;
  bool interleaved = false;
  // Inputs first, then y. One input: gate and up are in it.
  std::vector<RowOperand> operands;
  int64_t bytes = 0;  // of an element
  int64_t threads = 256;
  int64_t vectors = 2;  // at most, of each input, a thread

  bool separate() const { return operands.size() == 3; }
};

// How workgroups share rows.
struct Shape {
  int threads = 0;  // of a workgroup that share a row
  int rows = 1;     // a workgroup
  int chunks = 1;   // workgroups a row
  uint32_t workgroup() const { return static_cast<uint32_t>(threads * rows); }
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

Shape ShapeFor(const Request& r) {
  const int64_t row_vectors = r.n.min / (kRowVectorBytes / r.bytes);
  if (row_vectors <= 64 * r.vectors) {
    return {.threads = 64, .rows = static_cast<int>(r.threads / 64)};
  }
  return {
      .threads = static_cast<int>(r.threads),
      .chunks = static_cast<int>(CeilDiv(row_vectors, r.threads * r.vectors))};
}

absl::Status AddOperand(const Spec& spec, absl::string_view name,
                        absl::Span<const absl::string_view> dtypes,
                        Request* r) {
  RowOperand rows;
  INGOT_ASSIGN_OR_RETURN(rows.operand, CheckOperand(spec, name, dtypes));
  r->bytes = DtypeBytes(rows->dtype);
  rows.index = static_cast<int>(r->operands.size());
  rows.n = r->n.min;
  rows.unit_bytes = r->bytes;
  if (name == "x") {
    rows.n *= 2;
    if (r->interleaved) rows.unit_bytes *= 2;
    if (!r->interleaved) rows.skip_bytes = r->n.min * r->bytes;
  }
  rows.output = name == "y";
  r->operands.push_back(rows);
  return CheckRows(rows);
}

absl::Status ReadOperands(const Spec& spec, Request* r) {
  const bool joined = spec.FindOperand("x") != nullptr;
  for (const char* name : {"gate", "up"}) {
    if (joined && spec.FindOperand(name) != nullptr) {
      return Invalid(absl::StrCat("operand ", name), "one beside x",
                     "x, or gate and up");
    }
  }
  INGOT_RETURN_IF_ERROR(
      AddOperand(spec, joined ? "x" : "gate", {"bf16", "f16", "f32"}, r));
  const absl::string_view dtype = r->operands[0]->dtype;
  if (!joined) INGOT_RETURN_IF_ERROR(AddOperand(spec, "up", {dtype}, r));
  return AddOperand(spec, "y", {dtype}, r);
}

absl::Status ReadAttributes(const Spec& spec, Request* r) {
  INGOT_ASSIGN_OR_RETURN(
      r->act,
      CheckChoice(spec, "act", "silu", {"silu", "gelu_tanh", "gelu_erf"}));
  INGOT_ASSIGN_OR_RETURN(
      const std::string pairing,
      CheckChoice(spec, "pairing", "halves", {"halves", "interleaved"}));
  r->interleaved = pairing == "interleaved";
  if (spec.FindAttr("pairing") != nullptr && spec.FindOperand("x") == nullptr) {
    return Invalid("attribute pairing", Quoted(pairing), "none without x");
  }
  return absl::OkStatus();
}

absl::Status ReadTuning(const Spec& spec, Request* r) {
  if (const Tuning* threads = spec.FindTuning("threads")) {
    if (threads->value < 64 || threads->value > 1024 ||
        threads->value % 64 != 0) {
      return Invalid("tuning threads", absl::StrCat(threads->value),
                     "multiples of 64 to 1024");
    }
    r->threads = threads->value;
  }
  if (const Tuning* vectors = spec.FindTuning("vectors")) {
    if (vectors->value < 1 || vectors->value > kMostVectors) {
      return Invalid("tuning vectors", absl::StrCat(vectors->value),
                     absl::StrCat("1 to ", kMostVectors));
    }
    r->vectors = vectors->value;
  }
  return absl::OkStatus();
}

absl::StatusOr<Request> ReadRequest(const Spec& spec) {
  Request r;
  INGOT_RETURN_IF_ERROR(ReadAttributes(spec, &r));
  INGOT_ASSIGN_OR_RETURN(r.rows, CheckDim(spec, "rows", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.n, CheckDim(spec, "n", kMaxN));
  if (r.n.min != r.n.max) {
    return Invalid("dim n", absl::StrCat(r.n.min, " to ", r.n.max),
                   "one value");
  }
  INGOT_RETURN_IF_ERROR(ReadOperands(spec, &r));
  INGOT_RETURN_IF_ERROR(ReadTuning(spec, &r));
  return r;
}

// With x in halves the kernel is given the two halves as gate and up.
std::vector<KernelArg> Arguments(const Request& r) {
  std::vector<KernelArg> args;
  const auto add = [&](const char* pointer, const char* stride, int index,
                       int64_t offset) {
    args.push_back(
        {pointer, KernelArg::kOperand, index, 8, Expr::Const(offset)});
    args.push_back(
        {stride, KernelArg::kInteger, 0, 8, Expr::StrideAt(index, 0)});
  };
  if (r.interleaved) {
    add("x", "ldx", 0, 0);
  } else {
    add("gate", "ldg", 0, 0);
    add("up", "ldu", r.separate() ? 1 : 0, r.operands[0].skip_bytes);
  }
  add("y", "ldy", r.operands.back().index, 0);
  args.push_back({"rows", KernelArg::kInteger, 0, 4, Expr::DimAt(kDimRows)});
  return args;
}

KernelSpec Kernel(const Request& r, const RowFamily& family,
                  const Shape& shape) {
  const std::string& dtype = r.operands[0]->dtype;
  const int64_t groups_x = kRowGroupsX / shape.chunks;
  KernelSpec kernel;
  kernel.symbol =
      absl::StrCat("ingot_silu_mul_", dtype, "_n", r.n.min, "_", r.act,
                   r.interleaved ? "_interleaved_" : "_", family.name);
  kernel.params = {
      {"act", r.act},
      {"align", family.aligned ? kRowVectorBytes : r.bytes},
      {"chunks", int64_t{shape.chunks}},
      {"dtype", dtype},
      {"groups_x", groups_x},
      {"interleaved", int64_t{r.interleaved}},
      {"n", r.n.min},
      {"rows_per_workgroup", int64_t{shape.rows}},
      {"threads", int64_t{shape.threads}},
  };
  kernel.codegen = {{"agpr_alloc", int64_t{0}}, {"opt", "light"}};
  kernel.workgroup = {shape.workgroup(), 1, 1};
  const Expr groups = CeilDiv(Expr::DimAt(kDimRows), Expr::Const(shape.rows));
  kernel.grid = {Min(groups, Expr::Const(groups_x)) * Expr::Const(shape.chunks),
                 CeilDiv(groups, Expr::Const(groups_x)), Expr::Const(1)};
  kernel.args = Arguments(r);
  return kernel;
}

absl::StatusOr<Plan> PlanSiluMul(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Request r, ReadRequest(spec));
  const Shape shape = ShapeFor(r);
  Plan plan;
  plan.resolved = spec;
  plan.resolved.tuning = {{"threads", r.threads}, {"vectors", r.vectors}};
  plan.dims = {r.rows, r.n};
  for (const RowOperand& operand : r.operands) {
    plan.operands.push_back(DescribeRows(operand, Expr::DimAt(kDimRows)));
  }
  for (const RowFamily& family : RowFamilies(r.operands)) {
    Variant variant;
    variant.name = family.name;
    variant.guards = family.guards;
    AddLaunch(Kernel(r, family, shape), &plan, &variant.recipe);
    plan.variants.push_back(std::move(variant));
  }
  return plan;
}

// One for each way to share rows: short ones are shared alike by many tunings.
std::vector<Candidate> SiluMulCandidates(const Spec& spec) {
  absl::StatusOr<Request> r = ReadRequest(spec);
  if (!r.ok()) return {};
  const auto pinned = [&](const char* name, int64_t value) {
    const Tuning* pin = spec.FindTuning(name);
    return pin != nullptr && pin->value != value;
  };
  std::set<std::array<int, 3>> seen;
  std::vector<Candidate> all;
  for (r->threads = 64; r->threads <= 1024; r->threads *= 2) {
    for (r->vectors = 1; r->vectors <= kMostVectors; r->vectors *= 2) {
      if (pinned("threads", r->threads) || pinned("vectors", r->vectors)) {
        continue;
      }
      const Shape shape = ShapeFor(*r);
      if (!seen.insert({shape.threads, shape.rows, shape.chunks}).second) {
        continue;
      }
      all.push_back(
          {.tuning = {{"threads", r->threads}, {"vectors", r->vectors}}});
    }
  }
  return all;
}

constexpr const char* kDims[] = {"rows", "n"};
constexpr const char* kOperands[] = {"x", "gate", "up", "y"};
constexpr const char* kAttrs[] = {"act", "pairing"};
constexpr const char* kTuning[] = {"threads", "vectors"};

}  // namespace

extern constinit const OpDef k_op_silu_mul = {
    .name = "silu_mul",
    .summary = "y[r,i] = act(gate[r,i]) * up[r,i], gate and up apart or in x",
    .dims = kDims,
    .operands = kOperands,
    .attrs = kAttrs,
    .tuning = kTuning,
    .plan = PlanSiluMul,
    .samples = SiluMulSamples,
    .bad_samples = SiluMulBadSamples,
    .candidates = SiluMulCandidates,
};

}  // namespace ingot
