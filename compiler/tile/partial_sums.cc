#include "compiler/tile/partial_sums.h"

namespace ingot::tile {
namespace {

constexpr int kBlock = 16;
constexpr int kLaneBytes = 16;
constexpr int kBlockBytes = 64 * kLaneBytes;
// Parts whose loads are in flight at once.
constexpr int kAtOnce = 8;

}  // namespace

PartialSums::PartialSums(Builder& builder, const MatmulShape& shape,
                         const TilePlace& place, const PartialSumsPlace& where)
    : b_(builder), shape_(shape), where_(where) {
  const WavePlace wave = PlaceOfWave(b_, shape);
  row_ = (place.row + wave.m) / kBlock;
  column_ = (place.column + wave.n) / kBlock;
  rows_ = (place.rows + (kBlock - 1)) / kBlock;
  columns_ = (place.columns + (kBlock - 1)) / kBlock;
  lane_offset_ = b_.LaneId() * kLaneBytes;
}

// Row i of the wave's blocks, as far as there are any; nothing if not `live`.
Value PartialSums::BufferOf(Value part, int i, Value live) {
  const Value row = where_.batch * rows_ + row_ + i;
  const Value offset =
      Convert(part, kI64) * where_.part_bytes +
      Convert(row, kI64) * Convert(columns_ * kBlockBytes, kI64);
  const Value bytes =
      Select(row_ + i < rows_, columns_ * kBlockBytes, b_.I32(0));
  return b_.Buffer(
      Offset(where_.base, offset),
      Convert(live.valid() ? Select(live, bytes, b_.I32(0)) : bytes, kI64));
}

Value PartialSums::ScalarOffset(int j) { return (column_ + j) * kBlockBytes; }

void PartialSums::Store(Value part, const Values& sums) {
  const int columns = shape_.fragments_n();
  for (int i = 0; i < shape_.fragments_m(); ++i) {
    const Value buffer = BufferOf(part, i, {});
    for (int j = 0; j < columns; ++j) {
      Value sum = sums[i * columns + j];
      if (shape_.accumulate_in_agprs) {
        sum = b_.Opaque(sum, RegisterClass::kAgpr, /*pinned=*/true);
      }
      b_.BufferStore(sum, buffer, lane_offset_, ScalarOffset(j));
    }
  }
  AwaitLoads(b_, shape_, shape_.fragments_m() * columns);
}

Values PartialSums::Sum(Value parts) {
  const int columns = shape_.fragments_n();
  const int blocks = shape_.fragments_m() * columns;
  // Opaque: code generation splits phis that start from a constant vector.
  const Value zero = b_.Opaque(b_.Zero(Vec(kF32, 4)), RegisterClass::kVgpr);
  return b_.For(
      b_.I32(0), parts, kAtOnce, Values(blocks, zero),
      [&](Value first, absl::Span<const Value> carried) {
        Values loaded;
        for (int part = 0; part < kAtOnce; ++part) {
          for (int i = 0; i < shape_.fragments_m(); ++i) {
            const Value buffer =
                BufferOf(first + part, i, first + part < parts);
            for (int j = 0; j < columns; ++j) {
              loaded.push_back(b_.BufferLoad(Vec(kF32, 4), buffer, lane_offset_,
                                             ScalarOffset(j)));
            }
          }
        }
        Values sums(carried.begin(), carried.end());
        for (size_t i = 0; i < loaded.size(); ++i) {
          sums[i % blocks] = sums[i % blocks] + loaded[i];
        }
        return sums;
      });
}

}  // namespace ingot::tile
