// mx_shuffle, the code half; what it computes stands in mx_shuffle_plan.cc.
#include "compiler/ops/body.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

// A matrix of bytes; what lies outside it reads as 0.
struct Source {
  Value base;
  Value rows;
  Value n;
  Value stride;

  Value At(Builder& b, tile::Type type, int align, Value row,
           Value column) const {
    const Value inside = (row < rows) & (column < n);
    const Values loaded = b.If(
        inside,
        [&] {
          const Value offset =
              Convert(row, tile::kI64) * Convert(stride, tile::kI64) +
              Convert(column, tile::kI64);
          return Values{b.Load(type, Offset(base, offset), {.align = align})};
        },
        [&] { return Values{b.Zero(type)}; });
    return loaded.empty() ? Value() : loaded[0];
  }
};

// A wave makes 32 rows by 8 columns: its 64 words are contiguous in y, and a
// lane's word is the bytes of two rows, 16 apart, in two columns, 4 apart.
void ShuffleScales(Builder& b, const Source& x) {
  const Value lane = b.LaneId();
  const Value tiles = (x.n + 7) / 8;
  const Value row = b.BlockX() * 32 + lane % 16;
  b.For(b.ThreadX() / 64, tiles, 4, {},
        [&](Value tile, absl::Span<const Value>) {
          Value word = b.I32(0);
          for (int byte = 0; byte < 4; ++byte) {
            const Value scale = x.At(b, tile::kI8, 1, row + byte % 2 * 16,
                                     tile * 8 + byte / 2 * 4 + lane / 16);
            word = word | Convert(scale, tile::kI32) << byte * 8;
          }
          const Value group =
              Convert(b.BlockX(), tile::kI64) * Convert(tiles, tile::kI64) +
              Convert(tile, tile::kI64);
          b.Store(word, Offset(b.Arg("y"),
                               group * 256 + Convert(lane * 4, tile::kI64)));
          return Values{};
        });
}

// 16 rows of a chunk of 16 bytes each are contiguous in y.
void ShuffleWeights(Builder& b, const Source& x, int width) {
  const Value row = b.ThreadX() % 16;
  const Value chunks = x.n / 16;
  b.For(
      b.ThreadX() / 16, chunks, 16, {},
      [&](Value chunk, absl::Span<const Value>) {
        Value bytes;
        const Value matrix_row = b.BlockX() * 16 + row;
        if (width == 16) {
          bytes = x.At(b, Vec(tile::kI32, 4), 16, matrix_row, chunk * 16);
        } else {
          Values single;
          for (int i = 0; i < 16; ++i) {
            single.push_back(x.At(b, tile::kI8, 1, matrix_row, chunk * 16 + i));
          }
          bytes = Bitcast(Pack(single), Vec(tile::kI32, 4));
        }
        const Value place =
            (Convert(b.BlockX(), tile::kI64) * Convert(chunks, tile::kI64) +
             Convert(chunk, tile::kI64)) *
                256 +
            Convert(row * 16, tile::kI64);
        b.Store(bytes, Offset(b.Arg("y"), place));
        return Values{};
      });
}

}  // namespace

absl::Status Build_mx_shuffle(Builder& b, const KernelSpec&) {
  const Source x{b.Arg("x"), b.Arg("rows"), b.Arg("n"), b.Arg("ldx")};
  const std::string what = b.String("what");
  const int width = static_cast<int>(b.Int("width_x"));
  INGOT_RETURN_IF_ERROR(b.status());
  if (what == "weights") {
    ShuffleWeights(b, x, width);
  } else {
    ShuffleScales(b, x);
  }
  return b.status();
}

}  // namespace ingot
