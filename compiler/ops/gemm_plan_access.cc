#include "compiler/ops/gemm_plan_access.h"

#include <algorithm>

#include "compiler/ops/checks.h"

namespace ingot {
namespace {

constexpr int kDma = 8;  // elements of 16 bytes, the width of LDS-DMA

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
      need.guards.push_back({Guard::kOperandStride, leading, 0, 0, width});
    }
    need.guards.push_back(
        {Guard::kOperandStride, row, inner.min, kGemmMaxRow, width});
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

void RequireOutput(const GemmRequest& r, int width, GemmFamily* family) {
  family->width_d = width;
  Require(NeedOf(r, r.d, width), family);
  if (r.has_c()) Require(NeedOf(r, r.c, width), family);
}

}  // namespace

std::vector<GemmFamily> GemmFamilies(const GemmRequest& r) {
  constexpr int kWide = 4;  // a lane holds four neighbouring columns of d
  std::vector<GemmFamily> families;
  const bool wide_possible = NeedOf(r, r.d, kWide).possible &&
                             (!r.has_c() || NeedOf(r, r.c, kWide).possible);
  int sure_width = UnconditionalWidth(r, r.d, kWide);
  if (r.has_c()) {
    sure_width = std::min(sure_width, UnconditionalWidth(r, r.c, kWide));
  }
  const int widths[] = {wide_possible ? kWide : 1,
                        sure_width == kWide ? kWide : 1};
  const Need a = NeedOf(r, r.a, kDma);
  const Need b = NeedOf(r, r.b, kDma);
  if (a.possible && b.possible) {
    for (const int width : widths) {
      GemmFamily family{GemmSchedule::kDma, kDma, kDma};
      Require(a, &family);
      Require(b, &family);
      RequireOutput(r, width, &family);
      families.push_back(family);
      if (!family.conditional) return families;
      if (widths[0] == widths[1]) break;
    }
  }
  GemmFamily family;
  family.width_a = UnconditionalWidth(r, r.a, kDma);
  family.width_b = UnconditionalWidth(r, r.b, kDma);
  Require(NeedOf(r, r.a, family.width_a), &family);
  Require(NeedOf(r, r.b, family.width_b), &family);
  RequireOutput(r, widths[1], &family);
  families.push_back(family);
  return families;
}

}  // namespace ingot
