#include "compiler/ops/gemm_plan_contract.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ops/gemm_plan_access.h"

namespace ingot {
namespace {

Expr Times(Expr x, int factor) {
  return factor == 1 ? x : std::move(x) * Expr::Const(factor);
}

PlanOperand DescribeScale(const Operand& x, Expr extent) {
  PlanOperand out;
  out.name = x.name;
  out.dtype = x.dtype;
  out.axes = 1;
  out.strides = {Expr::Const(1)};
  out.extents = {std::move(extent)};
  return out;
}

PlanOperand DescribeBias(const GemmRequest& r) {
  PlanOperand bias;
  bias.name = "bias";
  bias.dtype = r.bias->dtype;
  bias.axes = r.bias_batched ? 2 : 1;
  bias.extents = {GemmColumns(r)};
  if (!r.bias_batched) {
    bias.strides = {Expr::Const(1)};
    return bias;
  }
  bias.extents.insert(bias.extents.begin(), Expr::DimAt(kGemmB));
  bias.stride_mode = r.bias->stride_mode;
  for (const int64_t stride : r.bias->strides) {
    bias.strides.push_back(Expr::Const(stride));
  }
  return bias;
}

}  // namespace

PlanOperand DescribeGemmMatrix(const GemmMatrix& x, bool output) {
  PlanOperand out;
  out.name = x.operand->name;
  out.dtype = x.operand->dtype;
  out.axes = x.row_axis + 2;
  const bool batched = x.row_axis == 1;
  out.stride_mode = x.operand->stride_mode;
  const Expr rows = Times(Expr::DimAt(x.rows), x.rows_factor);
  const Expr inner = Times(Expr::DimAt(x.inner), x.inner_factor);
  out.extents = {rows, inner};
  if (batched) out.extents.insert(out.extents.begin(), Expr::DimAt(kGemmB));
  out.output = output;
  if (out.stride_mode == StrideMode::kDense) {
    out.strides = {inner, Expr::Const(1)};
    if (batched) out.strides.insert(out.strides.begin(), rows * inner);
  } else if (out.stride_mode == StrideMode::kStatic) {
    for (const int64_t stride : x.operand->strides) {
      out.strides.push_back(Expr::Const(stride));
    }
  }
  return out;
}

Expr GemmColumns(const GemmRequest& r) {
  return Times(Expr::DimAt(kGemmN), r.columns_factor());
}

Expr GemmGridZ(const GemmRequest& r) {
  return r.batch ? Expr::DimAt(kGemmB) : Expr::Const(1);
}

void DescribeGemm(const GemmRequest& r, Plan* plan) {
  plan->resolved.attrs = {{"act", r.act}, {"layout", r.layout}};
  if (r.pairing != "none") {
    plan->resolved.attrs.push_back({"pairing", r.pairing});
  }
  if (r.fp8()) plan->resolved.attrs.push_back({"scaling", r.scaling});
  plan->dims.assign(r.dims.begin(), r.dims.end());
  if (r.batch) plan->dims.push_back(*r.batch);
  plan->operands = {DescribeGemmMatrix(r.a, false),
                    DescribeGemmMatrix(r.b, false),
                    DescribeGemmMatrix(r.d, true)};
  plan->scalars = {{"alpha", "f32", 1.0}};
  if (r.has_c()) {
    plan->operands.push_back(DescribeGemmMatrix(r.c, false));
    plan->scalars.push_back({"beta", "f32", 0.0});
  }
  if (r.scaled()) {
    const bool row = r.scaling == "row";
    plan->operands.push_back(
        DescribeScale(*r.scale_a, row ? Expr::DimAt(kGemmM) : Expr::Const(1)));
    plan->operands.push_back(
        DescribeScale(*r.scale_b, row ? GemmColumns(r) : Expr::Const(1)));
  }
  if (r.bias != nullptr) plan->operands.push_back(DescribeBias(r));
  if (r.has_residual()) {
    plan->operands.push_back(DescribeGemmMatrix(r.residual, false));
  }
}

std::vector<KernelArg> GemmArguments(const GemmRequest& r) {
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kOperand, index, 8, Expr::Const(0)});
  };
  const auto integer = [&](const char* name, Expr value, uint32_t size = 4) {
    args.push_back({name, KernelArg::kInteger, 0, size, std::move(value)});
  };
  const auto scalar = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kScalar, index, 4, Expr::Const(0)});
  };
  struct Matrix {
    const char* name;
    const char* stride;
    const char* batch_stride;
    const GemmMatrix* matrix;
  };
  const Matrix matrices[] = {
      {"a", "lda", "batch_a", &r.a},
      {"b", "ldb", "batch_b", &r.b},
      {"d", "ldd", "batch_d", &r.d},
      {"c", "ldc", "batch_c", &r.c},
      {"residual", "ldr", "batch_residual", &r.residual}};
  for (const Matrix& x : matrices) {
    if (x.matrix->operand != nullptr) pointer(x.name, x.matrix->index);
  }
  if (r.scaled()) {
    pointer("scale_a", r.scale_index);
    pointer("scale_b", r.scale_index + 1);
  }
  if (r.bias != nullptr) pointer("bias", r.bias_index);
  if (r.batch) {
    for (const Matrix& x : matrices) {
      if (x.matrix->operand == nullptr) continue;
      integer(x.batch_stride, Expr::StrideAt(x.matrix->index, 0), 8);
    }
    if (r.bias_batched) {
      integer("batch_bias", Expr::StrideAt(r.bias_index, 0), 8);
    }
  }
  integer("m", Expr::DimAt(kGemmM));
  integer("n", GemmColumns(r));
  integer("k", Expr::DimAt(kGemmK));
  // Strides also where they are dense or static: the kernel is the same.
  for (const Matrix& x : matrices) {
    if (x.matrix->operand == nullptr) continue;
    integer(x.stride, Expr::StrideAt(x.matrix->index, x.matrix->row_axis));
  }
  scalar("alpha", 0);
  if (r.has_c()) scalar("beta", 1);
  return args;
}

std::vector<Param> GemmContractParams(const GemmRequest& r) {
  return {{"act", r.act},
          {"bias", r.bias == nullptr ? "none" : r.bias->dtype},
          {"dtype", r.dtype},
          {"dtype_b", r.dtype_b},
          {"dtype_d", r.dtype_d},
          {"has_c", int64_t{r.has_c()}},
          {"has_residual", int64_t{r.has_residual()}},
          {"layout", r.layout},
          {"pairing", r.pairing},
          {"scaling", r.scaling},
          {"width_bias", int64_t{GemmBiasWidth(r)}}};
}

}  // namespace ingot
