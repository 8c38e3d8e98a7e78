// How rmsnorm writes a row of y: in x's dtype, or as 8- or 4-bit floats with
// the scales of their blocks.
#ifndef INGOT_COMPILER_OPS_RMSNORM_BODY_OUTPUT_H_
#define INGOT_COMPILER_OPS_RMSNORM_BODY_OUTPUT_H_

#include "compiler/ops/rmsnorm_body.h"

namespace ingot {

class RmsNormOutput {
 public:
  explicit RmsNormOutput(const RmsNorm& norm);

  // The thread's vector `i` of the row, f32, scaled already where the whole row
  // shares a scale; and its element behind the vectors. All threads of a wave
  // call them together.
  void Store(tile::Value y, int i);
  void StoreTail(tile::Value y);

 private:
  bool in_blocks() const {
    return norm_.quant == RmsNormQuant::kMxFp8 ||
           norm_.quant == RmsNormQuant::kMxFp4;
  }
  tile::Row OpenY() const;
  tile::Value Block(tile::Value y, int i);

  const RmsNorm& norm_;
  tile::Builder& b_;
  tile::Row y_;
  tile::Value scales_;  // buffer of the row's block scales
};

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_RMSNORM_BODY_OUTPUT_H_
