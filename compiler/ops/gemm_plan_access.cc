#include "compiler/ops/gemm_plan_access.h"

#include <algorithm>

#include "compiler/ops/checks.h"

namespace ingot {
namespace {

// Elements of 16 bytes, the width of LDS-DMA.
int DmaWidth(const GemmRequest& r) {
  return static_cast<int>(16 / DtypeBytes(r.dtype));
}

// What accesses of one matrix, `width` elements wide, need of a launch.
struct Need {
  bool possible = true;
  bool conditional = false;
  std::vector<Guard> guards;
};

Need NeedOf(const GemmRequest& r, const GemmMatrix& x, int width) {
  Need need;
  const int64_t bytes = width * DtypeBytes(x.operand->dtype);
  if (AlignmentOf(*x.operand) < bytes) return {.possible = false};
  need.guards.push_back(
      {Guard::kOperandAlignment, x.index, 0, 0, static_cast<int64_t>(bytes)});
  const PlanDim& inner = r.dims[x.inner];
  if (!AlwaysMultiple(inner, width)) {
    if (inner.min == inner.max) return {.possible = false};
    need.guards.push_back({Guard::kDim, x.inner, 0, 0, width});
    need.conditional = true;
  }
  for (int axis = 0; axis <= x.row_axis; ++axis) {
    if (x.operand->stride_mode == StrideMode::kStatic &&
        x.operand->strides[axis] % width != 0) {
      return {.possible = false};
    }
  }
  if (x.operand->stride_mode == StrideMode::kDynamic) {
    const int first = x.index * 8;
    const int row = first + x.row_axis;
    for (int leading = first; leading < row; ++leading) {
      // Matrices of a batch may be the same one, but not the results.
      need.guards.push_back({Guard::kOperandStride, leading, &x == &r.d ? 1 : 0,
                             kGemmMaxBatchStride, width});
    }
    need.guards.push_back({Guard::kOperandStride, row,
                           std::max<int64_t>(1, inner.min * x.inner_factor),
                           kGemmMaxRow, width});
    need.guards.push_back({Guard::kOperandStride, row + 1, 1, 1, 0});
    need.conditional |= width > 1;
  }
  return need;
}

void Require(const Need& need, GemmFamily* family) {
  family->guards.insert(family->guards.end(), need.guards.begin(),
                        need.guards.end());
  family->conditional |= need.conditional;
}

// The widest accesses of `x` that every launch allows.
int UnconditionalWidth(const GemmRequest& r, const GemmMatrix& x, int widest) {
  for (int width = widest; width > 1; width /= 2) {
    const Need need = NeedOf(r, x, width);
    if (need.possible && !need.conditional) return width;
  }
  return 1;
}

// Matrices that lie like d and are accessed alike.
std::vector<const GemmMatrix*> Outputs(const GemmRequest& r) {
  std::vector<const GemmMatrix*> outputs = {&r.d};
  if (r.has_c()) outputs.push_back(&r.c);
  if (r.has_residual()) outputs.push_back(&r.residual);
  return outputs;
}

// The widest accesses of d, c and residual; `always`: that every launch allows.
int OutputWidth(const GemmRequest& r, bool always) {
  // A lane has four neighbouring columns; of 16-bit ones, lanes make up eight.
  for (const int width : {DtypeBytes(r.dtype_d) == 2 ? 8 : 4, 4}) {
    bool all = true;
    for (const GemmMatrix* x : Outputs(r)) {
      const Need need = NeedOf(r, *x, width);
      all = all && need.possible && !(always && need.conditional);
    }
    if (all) return width;
  }
  return 1;
}

void RequireOutput(const GemmRequest& r, int width, GemmFamily* family) {
  family->width_d = width;
  for (const GemmMatrix* x : Outputs(r)) {
    Require(NeedOf(r, *x, width), family);
  }
  for (int i = 0; i < 2 && r.scaled(); ++i) {
    family->guards.push_back(
        {Guard::kOperandAlignment, r.scale_index + i, 0, 0, 4});
  }
  if (r.bias == nullptr) return;
  const int64_t bytes = GemmBiasWidth(r) * DtypeBytes(r.bias->dtype);
  family->guards.push_back(
      {Guard::kOperandAlignment, r.bias_index, 0, 0, bytes});
  if (!r.bias_batched || r.bias->stride_mode != StrideMode::kDynamic) return;
  const int stride = r.bias_index * 8;
  family->guards.push_back(
      {Guard::kOperandStride, stride, 0, kGemmMaxBatchStride, 0});
  family->guards.push_back({Guard::kOperandStride, stride + 1, 1, 1, 0});
}

}  // namespace

int GemmBiasWidth(const GemmRequest& r) {
  constexpr int kWide = 4;
  if (r.bias == nullptr) return 0;
  const bool wide =
      AlignmentOf(*r.bias) >= kWide * DtypeBytes(r.bias->dtype) &&
      AlwaysMultiple(r.dims[kGemmN], kWide) &&
      (!r.bias_batched || r.bias->stride_mode == StrideMode::kDense ||
       (r.bias->stride_mode == StrideMode::kStatic &&
        r.bias->strides[0] % kWide == 0));
  return wide ? kWide : 1;
}

std::vector<GemmFamily> GemmFamilies(const GemmRequest& r) {
  std::vector<GemmFamily> families;
  const int widths[] = {OutputWidth(r, false), OutputWidth(r, true)};
  const int dma = DmaWidth(r);
  const Need a = NeedOf(r, r.a, dma);
  const Need b = NeedOf(r, r.b, dma);
  if (a.possible && b.possible) {
    for (const int width : widths) {
      GemmFamily family{GemmSchedule::kDma, dma, dma};
      Require(a, &family);
      Require(b, &family);
      RequireOutput(r, width, &family);
      families.push_back(family);
      if (!family.conditional) return families;
      if (widths[0] == widths[1]) break;
    }
  }
  GemmFamily family;
  family.width_a = UnconditionalWidth(r, r.a, dma);
  family.width_b = UnconditionalWidth(r, r.b, dma);
  Require(NeedOf(r, r.a, family.width_a), &family);
  Require(NeedOf(r, r.b, family.width_b), &family);
  RequireOutput(r, widths[1], &family);
  families.push_back(family);
  return families;
}

}  // namespace ingot
