#include "compiler/ops/gemm_plan_contract.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

PlanOperand DescribeMatrix(const GemmMatrix& x, bool output) {
  PlanOperand out;
  out.name = x.operand->name;
  out.dtype = x.operand->dtype;
  out.axes = 2;
  out.stride_mode = x.operand->stride_mode;
  out.extents = {Expr::DimAt(x.rows), Expr::DimAt(x.inner)};
  out.output = output;
  if (out.stride_mode == StrideMode::kDense) {
    out.strides = {Expr::DimAt(x.inner), Expr::Const(1)};
  } else if (out.stride_mode == StrideMode::kStatic) {
    out.strides = {Expr::Const(x.operand->strides[0]), Expr::Const(1)};
  }
  return out;
}

}  // namespace

void DescribeGemm(const GemmRequest& r, Plan* plan) {
  plan->resolved.attrs = {{"act", "none"}, {"layout", r.layout}};
  plan->dims.assign(r.dims.begin(), r.dims.end());
  plan->operands = {DescribeMatrix(r.a, false), DescribeMatrix(r.b, false),
                    DescribeMatrix(r.d, true)};
  plan->scalars = {{"alpha", "f32", 1.0}};
  if (r.has_c()) {
    plan->operands.push_back(DescribeMatrix(r.c, false));
    plan->scalars.push_back({"beta", "f32", 0.0});
  }
  if (r.bias != nullptr) {
    PlanOperand bias;
    bias.name = "bias";
    bias.dtype = r.bias->dtype;
    bias.axes = 1;
    bias.strides = {Expr::Const(1)};
    bias.extents = {Expr::DimAt(kGemmN)};
    plan->operands.push_back(bias);
  }
}

std::vector<KernelArg> GemmArguments(const GemmRequest& r) {
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kOperand, index, 8, Expr::Const(0)});
  };
  const auto integer = [&](const char* name, Expr value) {
    args.push_back({name, KernelArg::kInteger, 0, 4, std::move(value)});
  };
  const auto scalar = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kScalar, index, 4, Expr::Const(0)});
  };
  pointer("a", r.a.index);
  pointer("b", r.b.index);
  pointer("d", r.d.index);
  if (r.has_c()) pointer("c", r.c.index);
  if (r.bias != nullptr) pointer("bias", r.has_c() ? 4 : 3);
  integer("m", Expr::DimAt(kGemmM));
  integer("n", Expr::DimAt(kGemmN));
  integer("k", Expr::DimAt(kGemmK));
  // Strides also where they are dense or static: the kernel is the same.
  integer("lda", Expr::StrideAt(r.a.index, 0));
  integer("ldb", Expr::StrideAt(r.b.index, 0));
  integer("ldd", Expr::StrideAt(r.d.index, 0));
  if (r.has_c()) integer("ldc", Expr::StrideAt(r.c.index, 0));
  scalar("alpha", 0);
  if (r.has_c()) scalar("beta", 1);
  return args;
}

std::vector<Param> GemmContractParams(const GemmRequest& r) {
  return {{"dtype", r.dtype},
          {"dtype_d", r.dtype_d},
          {"bias", r.bias == nullptr ? "none" : r.bias->dtype},
          {"layout", r.layout},
          {"has_c", int64_t{r.has_c()}}};
}

}  // namespace ingot
