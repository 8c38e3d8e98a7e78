#include "compiler/ops/scaled_gemm_plan_access.h"

#include <algorithm>

#include "compiler/ops/checks.h"

namespace ingot {

bool HasDynamicStrides(const ScaledGemmRequest& r) {
  return std::any_of(
      r.operands.begin(), r.operands.end(), [](const Operand* x) {
        return x != nullptr && x->stride_mode == StrideMode::kDynamic;
      });
}

int64_t RowAlignment(const ScaledGemmRequest& r, int operand, int64_t most,
                     bool any_stride) {
  const Operand& x = *r.operands[operand];
  const int64_t bytes = DtypeBytes(x.dtype);
  int64_t width = std::min<int64_t>(most, AlignmentOf(x));
  const auto holds = [&](int64_t length) {
    return length * bytes % width == 0;
  };
  while (width > bytes) {
    // A row's length: exactly what every k, or n, gives.
    bool all = false;
    if (operand == kScaledD) {
      all = AlwaysMultiple(r.dims[kScaledN], width / bytes);
    } else {
      const PlanDim& k = r.dims[kScaledK];
      const int64_t step = k.min == k.max ? k.min : k.multiple_of;
      all = holds(ScaledRowLength(r, operand, step));
    }
    if (x.stride_mode == StrideMode::kStatic) {
      all = all && std::all_of(x.strides.begin(), x.strides.end() - 1, holds);
    }
    if (x.stride_mode == StrideMode::kDynamic) all = all && any_stride;
    if (all) break;
    width /= 2;
  }
  return width;
}

int64_t ScaledOutputWidth(const ScaledGemmRequest& r, bool any_stride) {
  const int64_t bytes = DtypeBytes(r.dtype(kScaledD));
  const int64_t width = RowAlignment(r, kScaledD, 16, any_stride) / bytes;
  return width < 4 ? 1 : width;
}

int64_t ScaledBiasWidth(const ScaledGemmRequest& r) {
  if (r.bias == nullptr) return 0;
  const bool wide = AlignmentOf(*r.bias) >= 4 * DtypeBytes(r.bias->dtype) &&
                    AlwaysMultiple(r.dims[kScaledN], 4);
  return wide ? 4 : 1;
}

void RequireRows(const ScaledGemmRequest& r, int operand, int index,
                 int64_t bytes, std::vector<Guard>* guards) {
  const Operand& x = *r.operands[operand];
  guards->push_back({Guard::kOperandAlignment, index, 0, 0, bytes});
  if (x.stride_mode != StrideMode::kDynamic) return;
  const int64_t elements = bytes / DtypeBytes(x.dtype);
  const int row = index * 8 + r.row_axis(operand);
  // Groups may share a matrix.
  if (row != index * 8) {
    guards->push_back(
        {Guard::kOperandStride, index * 8, 0, kScaledMaxGroupStride, elements});
  }
  guards->push_back({Guard::kOperandStride, row, LeastRow(r, operand),
                     kScaledMaxRow, elements});
  guards->push_back({Guard::kOperandStride, row + 1, 1, 1, 0});
}

}  // namespace ingot
