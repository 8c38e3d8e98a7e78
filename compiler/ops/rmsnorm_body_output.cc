#include "compiler/ops/rmsnorm_body_output.h"

#include "compiler/tile/narrow.h"
#include "compiler/tile/reduce.h"

namespace ingot {
namespace {

using namespace tile;  // NOLINT: a body is written in the words of the builder

constexpr int kBlock = 32;  // elements of a scale

MxFormat FormatOf(RmsNormQuant quant) {
  return quant == RmsNormQuant::kMxFp4 ? MxFormat::kE2M1 : MxFormat::kE4M3;
}

}  // namespace

RmsNormOutput::RmsNormOutput(const RmsNorm& norm)
    : norm_(norm), b_(norm.b), y_(OpenY()) {
  if (!in_blocks()) return;
  scales_ = b_.Buffer(norm.Start("scale", "ld_scale", 1),
                      b_.I64(norm.layout.n / kBlock));
}

// Narrow elements are rows of bytes, with as many vectors as x has.
Row RmsNormOutput::OpenY() const {
  if (norm_.quant == RmsNormQuant::kNone) return norm_.Open("y", "ldy");
  const int bits = norm_.quant == RmsNormQuant::kMxFp4 ? 4 : 8;
  const RowLayout layout = {norm_.layout.n * bits / 8, norm_.layout.threads,
                            norm_.layout.lanes * bits / 8};
  return Row(b_, layout, kI8, norm_.Start("y", "ldy", 1), norm_.thread,
             static_cast<int>(b_.Int("align_y")));
}

void RmsNormOutput::Store(Value y, int i) {
  switch (norm_.quant) {
    case RmsNormQuant::kNone:
      return y_.Store(Convert(y, norm_.elem), i);
    case RmsNormQuant::kFp8Row:
      return y_.Store(ToE4M3(y), i);
    case RmsNormQuant::kMxFp8:
    case RmsNormQuant::kMxFp4:
      return y_.Store(Block(y, i), i);
  }
}

void RmsNormOutput::StoreTail(Value y) {
  y_.StoreTail(norm_.quant == RmsNormQuant::kNone ? Convert(y, norm_.elem)
                                                  : ToE4M3(y));
}

// A block is the vectors of a few neighbouring threads, the first of which
// writes its scale.
Value RmsNormOutput::Block(Value y, int i) {
  const MxFormat format = FormatOf(norm_.quant);
  const int threads = kBlock / norm_.layout.lanes;
  Value amax =
      ReduceNeighbours(b_, ReduceLanes(Abs(y), Maximum), threads, Maximum);
  Value scale = MxScaleOf(format, amax);
  Value block = norm_.thread / threads + i * (norm_.layout.threads / threads);
  // Others write beyond the row, which is nowhere.
  Value first = norm_.thread % threads == 0;
  b_.BufferStore(Convert(scale, kI8), scales_,
                 Select(first, block, block.Like(int64_t{-1})), b_.I32(0));
  return ToMx(format, y, scale);
}

}  // namespace ingot
