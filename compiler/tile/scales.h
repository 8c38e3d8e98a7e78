// The scales of a panel (panel.h): one e8m0 byte for 32 k of a row, how a step
// of them gets into LDS and from there into the lanes of an MFMA. Lane l takes
// the scale of row l % 16 and of block l / 16 of the 128 k that a set has.
//
// In LDS a step is a list of 32-bit words, in the order in which LDS-DMA of a
// word a lane writes them, w = k of a step / 128:
//   kLinearWords    [row][w], four scales a word
//   bytes           [row / 16][w][64 lanes], one scale a word
//   kShuffledPairs  [row / 32][w][64 lanes], the scales of rows r and r + 16
//   kShuffledWords  [row / 32][w / 2][64 lanes], the same for two sets
// Whatever lies outside the matrix or beyond the valid k reads as zero, which
// is 2^-127 and no NaN.
#ifndef INGOT_COMPILER_TILE_SCALES_H_
#define INGOT_COMPILER_TILE_SCALES_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/element.h"

namespace ingot::tile {

inline constexpr int kScaleBlock = 32;  // k of a scale

struct ScaleShape {
  int mn = 0;  // rows of the panel
  int k = 0;   // of a step; a multiple of 128
  int waves = 0;
  ScaleFetch fetch = ScaleFetch::kNone;

  bool shuffled() const { return fetch >= ScaleFetch::kShuffledBytes; }
  int round_bytes() const { return waves * 256; }
  // Whole rounds; what the last one has too much is never read.
  int bytes() const;
  int pieces() const { return bytes() / round_bytes(); }
};

// Byte of a step's LDS image that holds the scale of `row` and of 32 k from
// 32 * block on.
int ScaleLdsByte(const ScaleShape& shape, int row, int block);

struct ScaleSource {
  Value base;    // kGlobal
  Value stride;  // i32, bytes between rows; linear ones only
  Value first;   // i32, the panel's first row
  Value extent;  // i32, rows of the matrix
  Value k;       // i32, of the matrix
};

class ScalePanel {
 public:
  ScalePanel(Builder& builder, const ScaleShape& shape,
             const ScaleSource& source);

  const ScaleShape& shape() const { return shape_; }
  Value buffer() const { return buffer_; }
  Value buffer_bytes() const { return buffer_bytes_; }  // i32
  // Scalar byte offset of a step whose first block is `block`.
  Value StepOffset(Value block);

  // The lane's byte offset of a piece; from block `valid_blocks` of the step on
  // (when valid) an offset outside the buffer.
  Value LaneOffset(int piece, Value valid_blocks);
  // Bytes that a lane fetches.
  int width() const;

 private:
  Builder& b_;
  ScaleShape shape_;
  Value buffer_;
  Value buffer_bytes_;
  Values lane_offset_;
  Values lane_block_;
};

class ScaleReader {
 public:
  // Of the rows from `first_row` (scalar) of the image on; a multiple of 32
  // where pairs of rows are fetched together.
  ScaleReader(Builder& builder, const ScaleShape& shape, Value first_row);

  // Fragments, 16 rows each, whose scales one read fetches together: those of
  // the same fragment / per_read().
  int per_read() const { return PerRead(shape_.fetch); }
  static int PerRead(ScaleFetch fetch) {
    return fetch >= ScaleFetch::kShuffledPairs ? 2 : 1;
  }

  // As FragmentReader's.
  Value Base(Value lds, int offset);
  Value Base(Value lds, Value offset);
  // An i32 that has the scale of `fragment` in its byte ByteOf(fragment, set).
  Value Read(Value base, int fragment, int set, const Access& access);
  int ByteOf(int fragment, int set) const;

 private:
  Builder& b_;
  ScaleShape shape_;
  Value lane_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_SCALES_H_
