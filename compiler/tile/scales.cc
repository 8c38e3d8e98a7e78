#include "compiler/tile/scales.h"

#include <limits>

namespace ingot::tile {
namespace {

constexpr int kSetBlocks = 4;    // of an MFMA
constexpr int kWaveBytes = 256;  // a word a lane
// As in panel.cc: an offset that no buffer reaches.
constexpr int64_t kOutside = std::numeric_limits<int32_t>::min();

int RoundUp(int value, int factor) {
  return (value + factor - 1) / factor * factor;
}

// Sets of a step, and pieces of 64 words for each group of rows.
int Sets(const ScaleShape& shape) { return shape.k / 128; }
int Units(const ScaleShape& shape) {
  return shape.fetch == ScaleFetch::kShuffledWords ? Sets(shape) / 2
                                                   : Sets(shape);
}

}  // namespace

int ScaleShape::bytes() const {
  switch (fetch) {
    case ScaleFetch::kNone:
      return 0;
    case ScaleFetch::kLinearWords:
      return RoundUp(mn * Sets(*this) * 4, round_bytes());
    case ScaleFetch::kLinearBytes:
    case ScaleFetch::kShuffledBytes:
      return RoundUp(mn / 16 * Sets(*this) * kWaveBytes, round_bytes());
    case ScaleFetch::kShuffledPairs:
    case ScaleFetch::kShuffledWords:
      return RoundUp(mn / 32 * Units(*this) * kWaveBytes, round_bytes());
  }
  return 0;
}

int ScaleLdsByte(const ScaleShape& shape, int row, int block) {
  const int lane = block % kSetBlocks * 16 + row % 16;
  const int set = block / kSetBlocks;
  switch (shape.fetch) {
    case ScaleFetch::kNone:
      break;
    case ScaleFetch::kLinearWords:
      return row * Sets(shape) * 4 + block;
    case ScaleFetch::kLinearBytes:
    case ScaleFetch::kShuffledBytes:
      return (row / 16 * Sets(shape) + set) * kWaveBytes + lane * 4;
    case ScaleFetch::kShuffledPairs:
      return (row / 32 * Sets(shape) + set) * kWaveBytes + lane * 4 +
             row / 16 % 2;
    case ScaleFetch::kShuffledWords:
      return (row / 32 * Units(shape) + set / 2) * kWaveBytes + lane * 4 +
             set % 2 * 2 + row / 16 % 2;
  }
  return 0;
}

ScalePanel::ScalePanel(Builder& builder, const ScaleShape& shape,
                       const ScaleSource& source)
    : b_(builder), shape_(shape) {
  const Value rows_left = source.extent - source.first;
  const Value thread = shape.waves == 1 ? b_.LaneId() : b_.ThreadX();
  const Value lane = thread % 64;
  const Value first = Convert(source.first, kI64);
  const Value first_group = source.first / 16;
  const int units = Units(shape);
  Value group_bytes;
  if (shape.shuffled()) {
    group_bytes = (source.k + 255) / 256 * 256;
    // A panel may start in the middle of a group of 32 rows.
    const Value groups =
        Min((source.extent + 255) / 256 * 8 - source.first / 32,
            b_.I32(shape.mn / 32 + 1));
    buffer_bytes_ = groups * group_bytes;
    buffer_ =
        b_.Buffer(Offset(source.base, first / 32 * Convert(group_bytes, kI64)),
                  Convert(buffer_bytes_, kI64));
  } else {
    const Value rows = Min(rows_left, b_.I32(shape.mn));
    buffer_bytes_ = (rows - 1) * source.stride + source.k / kScaleBlock;
    buffer_ =
        b_.Buffer(Offset(source.base, first * Convert(source.stride, kI64)),
                  Convert(buffer_bytes_, kI64));
  }
  for (int piece = 0; piece < shape.pieces(); ++piece) {
    if (shape.fetch == ScaleFetch::kLinearWords) {
      const Value word = thread + piece * shape.waves * 64;
      const Value block = word % units * kSetBlocks;
      lane_block_.push_back(block);
      lane_offset_.push_back(word / units * source.stride + block);
      continue;
    }
    const Value unit = thread / 64 + piece * shape.waves;
    const Value group = unit / units;
    const Value in_group = unit % units;
    Value block = lane / 16 + in_group * kSetBlocks;
    // Of the set in its 256 k, shuffled.
    const Value place = in_group / 2 * kWaveBytes + in_group % 2 * 2 + lane * 4;
    switch (shape.fetch) {
      case ScaleFetch::kLinearBytes:
        lane_offset_.push_back((group * 16 + lane % 16) * source.stride +
                               block);
        break;
      case ScaleFetch::kShuffledBytes: {
        const Value row_group = group + first_group % 2;
        lane_offset_.push_back(row_group / 2 * group_bytes + place +
                               row_group % 2);
        break;
      }
      case ScaleFetch::kShuffledPairs:
        lane_offset_.push_back(group * group_bytes + place);
        break;
      default:
        block = lane / 16 + in_group * (2 * kSetBlocks);
        lane_offset_.push_back(group * group_bytes + in_group * kWaveBytes +
                               lane * 4);
    }
    lane_block_.push_back(block);
  }
}

Value ScalePanel::StepOffset(Value block) {
  if (!shape_.shuffled()) return block;
  if (Sets(shape_) > 1) return block * 32;
  return (block & ~int64_t{7}) * 32 + (block >> 1 & 2);
}

Value ScalePanel::LaneOffset(int piece, Value valid_blocks) {
  if (!valid_blocks.valid()) return lane_offset_[piece];
  return Select(lane_block_[piece] < valid_blocks, lane_offset_[piece],
                b_.I32(kOutside));
}

int ScalePanel::width() const {
  switch (shape_.fetch) {
    case ScaleFetch::kLinearBytes:
    case ScaleFetch::kShuffledBytes:
      return 1;
    case ScaleFetch::kShuffledPairs:
      return 2;
    default:
      return 4;
  }
}

ScaleReader::ScaleReader(Builder& builder, const ScaleShape& shape,
                         Value first_row)
    : b_(builder), shape_(shape) {
  const Value lane = b_.LaneId();
  switch (shape.fetch) {
    case ScaleFetch::kNone:
      break;
    case ScaleFetch::kLinearWords:
      lane_ = (first_row + lane % 16) * (Sets(shape) * 4) + lane / 16;
      break;
    case ScaleFetch::kLinearBytes:
    case ScaleFetch::kShuffledBytes:
      lane_ = first_row / 16 * (Sets(shape) * kWaveBytes) + lane * 4;
      break;
    case ScaleFetch::kShuffledPairs:
    case ScaleFetch::kShuffledWords:
      lane_ = first_row / 32 * (Units(shape) * kWaveBytes) + lane * 4;
      break;
  }
}

Value ScaleReader::Base(Value lds, int offset) {
  return Offset(lds, b_.Opaque(lane_ + offset, RegisterClass::kVgpr));
}

Value ScaleReader::Base(Value lds, Value offset) {
  return Offset(lds, lane_ + offset);
}

// Lane 0's row and block, relative to those of fragment 0 and set 0, say where
// the others' are.
Value ScaleReader::Read(Value base, int fragment, int set,
                        const Access& access) {
  const int offset = ScaleLdsByte(shape_, fragment * 16, set * kSetBlocks);
  if (per_read() == 1) {
    return Convert(b_.Load(kI8, Offset(base, offset), access), kI32);
  }
  return b_.Load(kI32, Offset(base, offset / 4 * 4), access);
}

int ScaleReader::ByteOf(int fragment, int set) const {
  if (per_read() == 1) return 0;
  return ScaleLdsByte(shape_, fragment * 16, set * kSetBlocks) % 4;
}

}  // namespace ingot::tile
