// Banks. ds_read_b128 reads 16 lanes a phase; rows of 128 bytes with the XOR by
// mn / 2 spread any 16 consecutive rows over all 64 banks.
// ds_read_b64_tr_b16 reads 32 lanes a phase: rows k = {0..3} and {8..11} (then
// {4..7} and {12..15}) of 32 bytes each. The XOR moves those eight pieces into
// different eighths of the 256 bytes that the banks span, as far as the row's
// own length leaves bits to do so.
#include "compiler/tile/panel.h"

#include <limits>

namespace ingot::tile {
namespace {

constexpr int kBlock = 64;      // k of a block when k is contiguous
constexpr int kRowBytes = 128;  // of a block's row
constexpr int kChunk = 16;      // bytes
constexpr int kChunkElements = 8;
// Offset 2^31: no buffer here reaches it (panels are below 2 GiB), and it wraps
// with none of the scalar offsets added to it.
constexpr int64_t kOutside = std::numeric_limits<int32_t>::min();

// Row bits that ColumnSwizzle is made of, lowest XOR bit first. A row of 128
// bytes alternates between two halves of the banks by itself, so bit 0 of k is
// not needed there; and so on.
constexpr int kSwizzleBits[4][3] = {{}, {3}, {1, 3}, {0, 1, 3}};

}  // namespace

int ColumnSwizzleBits(const PanelShape& shape) {
  int bits = 0;
  while (bits < 3 && (32 << bits) < shape.mn * 2) ++bits;
  return bits;
}

int ColumnSwizzle(const PanelShape& shape, int k) {
  const int bits = ColumnSwizzleBits(shape);
  int swizzle = 0;
  for (int i = 0; i < bits; ++i) {
    swizzle |= (k >> kSwizzleBits[bits][i] & 1) << i;
  }
  return swizzle;
}

int LdsByte(const PanelShape& shape, int row, int chunk) {
  if (shape.k_contiguous) {
    const int block = chunk * kChunkElements / kBlock;
    return block * shape.mn * kRowBytes + row * kRowBytes +
           (chunk % 8 ^ (row / 2 % 8)) * kChunk;
  }
  return row * shape.mn * 2 + (chunk ^ 2 * ColumnSwizzle(shape, row)) * kChunk;
}

namespace {

// ColumnSwizzle of a lane value.
Value LaneSwizzle(const PanelShape& shape, Value k) {
  const int bits = ColumnSwizzleBits(shape);
  Value swizzle = k.Like(int64_t{0});
  for (int i = 0; i < bits; ++i) {
    swizzle = swizzle | ((k >> kSwizzleBits[bits][i] & 1) << i);
  }
  return swizzle;
}

}  // namespace

Panel::Panel(Builder& builder, const PanelShape& shape,
             const PanelSource& source)
    : b_(builder), shape_(shape), thread_(builder.ThreadX()), k_(source.k) {
  row_bytes_ = source.stride * 2;
  Start(source);
  for (int piece = 0; piece < shape.pieces(); ++piece) {
    lane_k_.push_back(LaneK(piece));
    lane_offset_.push_back(LaneOffset(piece));
  }
}

// Where the panel starts in memory, and what lies there.
void Panel::Start(const PanelSource& source) {
  Value first = source.first;
  Value extent = source.extent;
  int rows = shape_.mn;
  if (shape_.paired) {
    half_ = extent / 2;
    first = first / 2;
    rows = rows / 2;
    if (shape_.k_contiguous) extent = half_;
  }
  const Value rows_left = extent - first;
  if (!shape_.k_contiguous) {
    start_ = Offset(source.base, Convert(first, kI64) * 2);
    columns_ = rows_left;
    return;
  }
  // A wave moves 8 rows at a time: always of the same half.
  if (shape_.paired) first = first + b_.WaveId() % 2 * half_;
  start_ =
      Offset(source.base, Convert(first, kI64) * Convert(row_bytes_, kI64));
  columns_ = source.k;
  all_ =
      b_.Buffer(start_, Convert(Records(Min(rows_left, b_.I32(rows))), kI64));
}

// Bytes from a row's start to the end of the last of `rows` rows: exact, since
// the matrix may end there.
Value Panel::Records(Value rows) {
  return (rows - 1) * row_bytes_ + columns_ * 2;
}

// Both follow from which 16 bytes of the LDS image the lane writes:
// piece * round_bytes + thread * 16.
Value Panel::LaneK(int piece) {
  const int first_byte = piece * shape_.round_bytes();
  if (!shape_.k_contiguous) {
    const int row = shape_.mn * 2;
    return thread_ / (row / kChunk) + first_byte / row;
  }
  // Row in [block][mn] order, and the chunk's place in it.
  const Value row = thread_ / 8 + first_byte / kRowBytes;
  const Value chunk = (thread_ % 8) ^ (row / 2 % 8);
  return row / shape_.mn * kBlock + chunk * kChunkElements;
}

Value Panel::LaneOffset(int piece) {
  const int first_byte = piece * shape_.round_bytes();
  if (shape_.k_contiguous) {
    Value row = (thread_ / 8 + first_byte / kRowBytes) % shape_.mn;
    if (shape_.paired) row = row / 16 * 8 + row % 8;
    return row * row_bytes_ + lane_k_[piece] * 2;
  }
  const Value k = lane_k_[piece];
  const Value place = thread_ % (shape_.mn * 2 / kChunk);
  const Value chunk = place ^ (LaneSwizzle(shape_, k) << 1);
  if (!shape_.paired) return k * row_bytes_ + chunk * kChunk;
  return k * row_bytes_ + chunk / 2 * kChunk + chunk % 2 * half_ * 2;
}

Value Panel::Cursor(Value step) {
  if (shape_.k_contiguous) return step * (shape_.k * 2);
  return Offset(start_,
                Convert(step * shape_.k, kI64) * Convert(row_bytes_, kI64));
}

Value Panel::Advance(Value cursor) {
  if (shape_.k_contiguous) return cursor + shape_.k * 2;
  return Offset(cursor, Convert(row_bytes_ * shape_.k, kI64));
}

Panel::Feed Panel::Whole(Value cursor, Value live) {
  const Value none = b_.I32(0);
  // A scalar offset beyond the buffer's end might wrap in the range check, so a
  // step beyond the last reads the first one again.
  if (shape_.k_contiguous) return {all_, Select(live, cursor, none), {}};
  const Value records = Records(b_.I32(shape_.k));
  return {
      b_.Buffer(cursor, Convert(Select(live, records, none), kI64)), none, {}};
}

Panel::Feed Panel::Partial(Value step, Value valid_k) {
  const Value none = b_.I32(0);
  const Value some = valid_k > 0;
  const Value cursor = Cursor(Select(some, step, none));
  if (shape_.k_contiguous) return {all_, cursor, valid_k};
  const Value records = Select(some, Records(valid_k), none);
  return {b_.Buffer(cursor, Convert(records, kI64)), none, {}};
}

void Panel::Dma(const Feed& feed, int piece, Value lds, int lds_offset,
                Value wave_lds, const Access& access) {
  Value offset = lane_offset_[piece];
  if (feed.valid_k.valid()) {
    offset = Select(lane_k_[piece] < feed.valid_k, offset, b_.I32(kOutside));
  }
  const int place = lds_offset + piece * shape_.round_bytes();
  b_.BufferLoadToLds(feed.buffer, Offset(lds, wave_lds + place), kChunk, offset,
                     feed.offset, kCached, access);
}

Value Panel::Load(const Feed& feed, int piece, int width) {
  Values parts;
  for (int e = 0; e < kChunkElements; e += width) {
    Value offset = lane_offset_[piece] + e * 2;
    if (feed.valid_k.valid()) {
      offset =
          Select(lane_k_[piece] + e < feed.valid_k, offset, b_.I32(kOutside));
    }
    const Type type = width == 1 ? kI16 : Vec(kI32, width / 2);
    parts.push_back(b_.BufferLoad(type, feed.buffer, offset, feed.offset));
  }
  if (width == 8) return parts[0];
  if (width == 4) return Concat(parts[0], parts[1]);
  return Bitcast(Pack(parts), Vec(kI32, 4));
}

void Panel::Write(Value data, int piece, Value lds, int lds_offset,
                  Value lds_lane) {
  const int place = lds_offset + piece * shape_.round_bytes();
  b_.Store(data, Offset(Offset(lds, lds_lane), place), {.align = 16});
}

}  // namespace ingot::tile
