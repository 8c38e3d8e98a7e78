#include "compiler/ops/scaled_gemm_plan_request.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;
constexpr int64_t kBlock = 32;
constexpr absl::string_view kFormats[] = {"e4m3fn", "e5m2", "e2m3", "e3m2",
                                          "e2m1"};

int BitsOf(absl::string_view dtype) {
  if (dtype == "e2m1") return 4;
  return dtype == "e2m3" || dtype == "e3m2" ? 6 : 8;
}

// The layout leaves no choice of strides.
bool IsShuffled(const ScaledGemmRequest& r, int operand) {
  if (operand == kScaledB) return r.weights_shuffled;
  return (operand == kScaledScaleA || operand == kScaledScaleB) &&
         r.scales_shuffled;
}

// A row holds what its stride has room for.
void LimitToRow(int operand, int64_t stride, ScaledGemmRequest* r) {
  int64_t most = stride;
  if (operand == kScaledA || operand == kScaledB) {
    most = stride * 8 / r->bits(operand);
  } else if (operand != kScaledD) {
    most = stride * kBlock;
  }
  PlanDim& inner = r->dims[operand == kScaledD ? kScaledN : kScaledK];
  inner.max = std::min(inner.max, most);
}

absl::Status ReadBias(const Spec& spec, ScaledGemmRequest* r) {
  if (spec.FindOperand("bias") == nullptr) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(
      r->bias, CheckOperand(spec, "bias",
                            {absl::string_view(r->dtype(kScaledD)), "f32"}));
  const Operand& bias = *r->bias;
  if (bias.stride_mode == StrideMode::kDynamic ||
      (bias.stride_mode == StrideMode::kStatic &&
       (bias.strides.size() != 1 || bias.strides[0] != 1))) {
    return Invalid("strides of operand bias", absl::StrJoin(bias.strides, ", "),
                   "dense, or static 1");
  }
  return absl::OkStatus();
}

absl::Status CheckK(const Spec& spec, ScaledGemmRequest* r) {
  PlanDim& k = r->dims[kScaledK];
  if (!AlwaysMultiple(k, kBlock)) {
    return Invalid("dim k", absl::StrCat(k.min, " to ", k.max),
                   "multiples of 32, the block of a scale");
  }
  // The least k that a launch can have.
  k.min = (k.min + kBlock - 1) / kBlock * kBlock;
  if (r->weights_shuffled && r->bits(kScaledB) == 6 && !AlwaysMultiple(k, 64)) {
    return Unimplemented(
        "weight_layout shuffled with b of 6 bits and dim k",
        absl::StrCat(k.min, " to ", k.max),
        "multiples of 64, since the layout moves whole 16 bytes of a row");
  }
  return absl::OkStatus();
}

absl::Status ReadAttributes(const Spec& spec, ScaledGemmRequest* r) {
  INGOT_RETURN_IF_ERROR(CheckChoice(spec, "layout", "nt", {"nt"}).status());
  INGOT_ASSIGN_OR_RETURN(
      const std::string scales,
      CheckChoice(spec, "scale_layout", "linear", {"linear", "shuffled_16x4"}));
  INGOT_ASSIGN_OR_RETURN(
      const std::string weights,
      CheckChoice(spec, "weight_layout", "linear", {"linear", "shuffled"}));
  r->scales_shuffled = scales != "linear";
  r->weights_shuffled = weights != "linear";
  const Attr* block = spec.FindAttr("scale_block");
  if (block == nullptr) return absl::OkStatus();
  const int64_t* number = std::get_if<int64_t>(&block->value);
  if (number == nullptr) {
    return Invalid("attribute scale_block", "no integer", "32");
  }
  if (*number != kBlock) {
    return Unimplemented("attribute scale_block", absl::StrCat(*number), "32");
  }
  return absl::OkStatus();
}

Expr RowLengthExpr(const ScaledGemmRequest& r, int operand) {
  const Expr k = Expr::DimAt(kScaledK);
  switch (operand) {
    case kScaledA:
    case kScaledB:
      return FloorDiv(k * Expr::Const(r.bits(operand)), Expr::Const(8));
    case kScaledD:
      return Expr::DimAt(kScaledN);
    default: {
      const Expr blocks = FloorDiv(k, Expr::Const(kBlock));
      if (!r.scales_shuffled) return blocks;
      return CeilDiv(blocks, Expr::Const(8)) * Expr::Const(8);
    }
  }
}

Expr RowsExpr(const ScaledGemmRequest& r, int operand) {
  const bool columns = operand == kScaledB || operand == kScaledScaleB;
  const Expr rows = Expr::DimAt(columns ? kScaledN : kScaledM);
  if (!IsShuffled(r, operand)) return rows;
  const Expr group = Expr::Const(operand == kScaledB ? 16 : 256);
  return CeilDiv(rows, group) * group;
}

}  // namespace

int ScaledGemmRequest::bits(int operand) const {
  return BitsOf(dtype(operand));
}

absl::Status CheckScaledStrides(int operand, ScaledGemmRequest* r) {
  const Operand& x = *r->operands[operand];
  const std::string field = absl::StrCat("strides of operand ", x.name);
  if (x.stride_mode == StrideMode::kDense) return absl::OkStatus();
  if (IsShuffled(*r, operand)) {
    return Invalid(field, "strides", "dense: its layout is shuffled");
  }
  if (x.stride_mode == StrideMode::kDynamic) return absl::OkStatus();
  const int row = r->row_axis(operand);
  if (x.strides.size() != static_cast<size_t>(row) + 2 ||
      x.strides.back() != 1) {
    return Invalid(
        field, absl::StrJoin(x.strides, ", "),
        row == 0 ? "a row stride and 1" : "a group stride, a row stride and 1");
  }
  const int64_t least = LeastRow(*r, operand);
  if (x.strides[row] < least || x.strides[row] > kScaledMaxRow) {
    return Invalid(
        field, absl::StrCat(x.strides[row]),
        absl::StrCat("row strides of ", least, " to ", kScaledMaxRow));
  }
  if (row == 1 && (x.strides[0] < 0 || x.strides[0] > kScaledMaxGroupStride)) {
    return Invalid(
        field, absl::StrCat(x.strides[0]),
        absl::StrCat("group strides of 0 to ", kScaledMaxGroupStride));
  }
  LimitToRow(operand, x.strides[row], r);
  return absl::OkStatus();
}

PlanOperand DescribeScaledOperand(const Operand& x, std::vector<Expr> extents) {
  PlanOperand out;
  out.name = x.name;
  out.dtype = x.dtype;
  out.axes = static_cast<int>(extents.size());
  out.stride_mode = x.stride_mode;
  out.output = x.name == "d";
  if (x.stride_mode == StrideMode::kDense) {
    Expr stride = Expr::Const(1);
    for (size_t axis = extents.size(); axis-- > 0;) {
      out.strides.insert(out.strides.begin(), stride);
      stride =
          axis + 1 == extents.size() ? extents[axis] : stride * extents[axis];
    }
  } else if (x.stride_mode == StrideMode::kStatic) {
    for (const int64_t stride : x.strides) {
      out.strides.push_back(Expr::Const(stride));
    }
  }
  out.extents = std::move(extents);
  return out;
}

absl::StatusOr<ScaledGemmRequest> ReadScaledGemmRequest(const Spec& spec) {
  ScaledGemmRequest r;
  INGOT_RETURN_IF_ERROR(ReadAttributes(spec, &r));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledM], CheckDim(spec, "m", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledN], CheckDim(spec, "n", kScaledMaxRow));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledK], CheckDim(spec, "k", kScaledMaxRow));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledA],
                         CheckOperand(spec, "a", kFormats));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledB],
                         CheckOperand(spec, "b", kFormats));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledScaleA],
                         CheckOperand(spec, "scale_a", {"e8m0"}));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledScaleB],
                         CheckOperand(spec, "scale_b", {"e8m0"}));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledD],
                         CheckOperand(spec, "d", {"bf16", "f16", "f32"}));
  INGOT_RETURN_IF_ERROR(ReadBias(spec, &r));
  INGOT_RETURN_IF_ERROR(CheckK(spec, &r));
  for (size_t i = 0; i < r.operands.size(); ++i) {
    INGOT_RETURN_IF_ERROR(CheckScaledStrides(static_cast<int>(i), &r));
  }
  std::vector<const Operand*> all(r.operands.begin(), r.operands.end());
  if (r.bias != nullptr) all.push_back(r.bias);
  for (const Operand* x : all) {
    // Shuffled scales are read by pairs and words.
    const bool shuffled = r.scales_shuffled && x->dtype == "e8m0";
    const int64_t least = shuffled ? 4 : DtypeBytes(x->dtype);
    if (AlignmentOf(*x) < least) {
      return Invalid(absl::StrCat("alignment of operand ", x->name),
                     absl::StrCat(x->alignment),
                     absl::StrCat(least, " or more"));
    }
  }
  return r;
}

void DescribeScaledGemm(const ScaledGemmRequest& r, Plan* plan) {
  plan->resolved.attrs = {
      {"layout", "nt"},
      {"scale_block", kBlock},
      {"scale_layout", r.scales_shuffled ? "shuffled_16x4" : "linear"},
      {"weight_layout", r.weights_shuffled ? "shuffled" : "linear"}};
  plan->dims.assign(r.dims.begin(), r.dims.end());
  for (size_t i = 0; i < r.operands.size(); ++i) {
    const int operand = static_cast<int>(i);
    plan->operands.push_back(DescribeScaledOperand(
        *r.operands[i], {RowsExpr(r, operand), RowLengthExpr(r, operand)}));
  }
  if (r.bias == nullptr) return;
  PlanOperand bias;
  bias.name = "bias";
  bias.dtype = r.bias->dtype;
  bias.axes = 1;
  bias.strides = {Expr::Const(1)};
  bias.extents = {Expr::DimAt(kScaledN)};
  plan->operands.push_back(bias);
}

std::vector<KernelArg> ScaledGemmArguments(const ScaledGemmRequest& r) {
  std::vector<KernelArg> args;
  const auto integer = [&](const char* name, Expr value) {
    args.push_back({name, KernelArg::kInteger, 0, 4, std::move(value)});
  };
  const int pointers = r.bias == nullptr ? kScaledBias : kScaledBias + 1;
  for (int i = 0; i < pointers; ++i) {
    args.push_back(
        {kScaledGemmOperands[i], KernelArg::kOperand, i, 8, Expr::Const(0)});
  }
  integer("m", Expr::DimAt(kScaledM));
  integer("n", Expr::DimAt(kScaledN));
  integer("k", Expr::DimAt(kScaledK));
  // Strides also where they are dense or static: the kernel is the same.
  constexpr const char* kStrides[] = {"lda", "ldb", "ld_scale_a", "ld_scale_b",
                                      "ldd"};
  for (int i = 0; i < static_cast<int>(std::size(kStrides)); ++i) {
    integer(kStrides[i], Expr::StrideAt(i, 0));
  }
  return args;
}

std::vector<Param> ScaledGemmContractParams(const ScaledGemmRequest& r) {
  return {{"bias", r.bias == nullptr ? "none" : r.bias->dtype},
          {"dtype_a", r.dtype(kScaledA)},
          {"dtype_b", r.dtype(kScaledB)},
          {"dtype_d", r.dtype(kScaledD)},
          {"weights_shuffled", int64_t{r.weights_shuffled}}};
}

int64_t ScaledRowLength(const ScaledGemmRequest& r, int operand, int64_t k) {
  switch (operand) {
    case kScaledA:
    case kScaledB:
      return k * r.bits(operand) / 8;
    case kScaledScaleA:
    case kScaledScaleB:
      return k / kBlock;
    default:
      return 0;
  }
}

int64_t LeastRow(const ScaledGemmRequest& r, int operand) {
  return operand == kScaledD
             ? r.dims[kScaledN].min
             : ScaledRowLength(r, operand, r.dims[kScaledK].min);
}

}  // namespace ingot
