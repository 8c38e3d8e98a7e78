// What the parts of rmsnorm's kernel share: its baked parameters and which row
// is worked on.
#ifndef INGOT_COMPILER_OPS_RMSNORM_BODY_H_
#define INGOT_COMPILER_OPS_RMSNORM_BODY_H_

#include "compiler/ops/body.h"
#include "compiler/tile/row.h"

namespace ingot {

enum class RmsNormQuant { kNone, kFp8Row, kMxFp8, kMxFp4 };

struct RmsNorm {
  tile::Builder& b;
  tile::Type elem;
  tile::Type weight_elem;
  RmsNormQuant quant = RmsNormQuant::kNone;
  bool has_weight = false;
  bool has_rstd = false;
  bool has_residual = false;
  bool has_residual_out = false;
  int align = 0;  // of rows of x, of the residual and of its sum
  int rows_per_workgroup = 0;
  tile::RowLayout layout;
  tile::Value row;     // scalar
  tile::Value thread;  // of those that share the row

  // The row of an operand of x's elements.
  tile::Row Open(const char* name, const char* stride) const;
  // The start of the row of an operand with elements of `bytes`.
  tile::Value Start(const char* name, const char* stride, int bytes) const;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_RMSNORM_BODY_H_
