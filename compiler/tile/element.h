// What the operands of a matrix product are made of.
#ifndef INGOT_COMPILER_TILE_ELEMENT_H_
#define INGOT_COMPILER_TILE_ELEMENT_H_

#include "absl/strings/string_view.h"
#include "compiler/tile/builder.h"
#include "proto/status.h"

namespace ingot::tile {

// How the scales of a matrix lie in memory and by which pieces they are
// fetched. A scale is an e8m0 byte for 32 k of a row.
//   linear    [row][k / 32]
//   shuffled  [row / 32][k / 256][k / 32 % 4][row % 16][k / 128 % 2]
//             [row / 16 % 2], rows padded to 256 and k to 256: a lane of an
//             MFMA finds the scales of two blocks of rows and two of k in one
//             word
enum class ScaleFetch {
  kNone,           // the matrix has no scales
  kLinearWords,    // by words; k and the row stride are multiples of 4 scales
  kLinearBytes,    // by bytes
  kShuffledBytes,  // by bytes
  kShuffledPairs,  // by the scales of rows r and r + 16; rows of a wave are a
                   // multiple of 32
  kShuffledWords,  // by words; k and its steps are multiples of 256, too
};

// An element, and with it the format of a whole matrix. Elements of 16 bits
// are `type`; narrower ones are packed without gaps along k, the first one in
// the lowest bits, and registers hold them as 32-bit words.
struct Element {
  Type type = kBF16;  // kBF16 or kF16; kI8: `format` counts
  MxFormat format = MxFormat::kE4M3;
  ScaleFetch scales = ScaleFetch::kNone;

  bool narrow() const { return type == kI8; }
  int bits() const {
    if (!narrow()) return 16;
    switch (format) {
      case MxFormat::kE4M3:
      case MxFormat::kE5M2:
        return 8;
      case MxFormat::kE2M3:
      case MxFormat::kE3M2:
        return 6;
      case MxFormat::kE2M1:
        return 4;
    }
    return 0;
  }
  // k of the 16x16 MFMA that multiplies them at full rate.
  int mfma_k() const { return narrow() ? 128 : 32; }
  // Extents, strides and widths along a row count units: elements of 16 bits,
  // or bytes of packed ones.
  int unit_bytes() const { return narrow() ? 1 : 2; }
  int units(int k) const { return narrow() ? k * bits() / 8 : k; }
  bool operator==(const Element&) const = default;
};

// The element of a baked dtype ("bf16", "f16", or an MX format: "e4m3fn",
// "e5m2", "e2m3", "e3m2", "e2m1") with scales fetched by "none",
// "linear_words", "linear_bytes", "shuffled_bytes", "shuffled_pairs" or
// "shuffled_words". INTERNAL for anything else: the plan has checked them.
absl::StatusOr<Element> ElementOf(absl::string_view dtype,
                                  absl::string_view scales);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_ELEMENT_H_
