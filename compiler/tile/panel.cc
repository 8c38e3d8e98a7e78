// Banks. ds_read_b128 reads 16 lanes a phase; rows of 128 bytes with the XOR by
// mn / 2 spread any 16 consecutive rows over all 64 banks, and so do rows of 64
// bytes with two bits of it. Elements of 6 bits are read by ds_read_b64, 32
// lanes a phase: 16 rows of 96 bytes start at eight different places of the
// banks, twice; the XOR by mn / 8 tells the two apart.
// ds_read_b64_tr_b16 reads 32 lanes a phase: rows k = {0..3} and {8..11} (then
// {4..7} and {12..15}) of 32 bytes each. The XOR moves those eight pieces into
// different eighths of the 256 bytes that the banks span, as far as the row's
// own length leaves bits to do so.
#include "compiler/tile/panel.h"

#include <algorithm>
#include <limits>

namespace ingot::tile {
namespace {

constexpr int kChunk = 16;  // bytes
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

int PanelShape::row_bytes() const {
  if (element.bits() == 6) return 96;
  return std::min(128, step_row_bytes());
}

int PanelShape::data_bytes() const {
  const int round = round_bytes();
  return (mn * step_row_bytes() + round - 1) / round * round;
}

RowSwizzle RowSwizzleOf(const PanelShape& shape) {
  switch (shape.row_bytes()) {
    case 64:
      return {2, 4};
    case 96:
      return {8, 2};
    default:
      return {2, 8};
  }
}

int LdsByte(const PanelShape& shape, int row, int chunk) {
  if (!shape.k_contiguous) {
    return row * shape.mn * 2 +
           (chunk ^ 2 * ColumnSwizzle(shape, row)) * kChunk;
  }
  if (shape.shuffled) {
    const int chunks = shape.step_row_bytes() / kChunk;
    return ((row / 16 * chunks + chunk) * 16 + row % 16) * kChunk;
  }
  const int bytes = shape.row_bytes();
  const int chunks = bytes / kChunk;
  const RowSwizzle swizzle = RowSwizzleOf(shape);
  return chunk / chunks * shape.mn * bytes + row * bytes +
         (chunk % chunks ^ row / swizzle.divisor % swizzle.modulus) * kChunk;
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
    : b_(builder), shape_(shape), thread_(builder.ThreadX()) {
  row_bytes_ = source.stride * shape.element.unit_bytes();
  Start(source);
  for (int piece = 0; piece < shape.data_pieces(); ++piece) {
    lane_unit_.push_back(LaneUnit(piece));
    lane_offset_.push_back(LaneOffset(piece));
  }
  if (shape.element.scales != ScaleFetch::kNone) {
    scales_.emplace(b_, shape.scales(),
                    ScaleSource{source.scales, source.scale_stride,
                                source.first, source.extent, source.k});
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
    start_ =
        Offset(source.base, Convert(first, kI64) * shape_.element.unit_bytes());
    columns_ = rows_left;
    return;
  }
  // A wave moves 8 rows at a time: always of the same half.
  if (shape_.paired) first = first + b_.WaveId() % 2 * half_;
  start_ =
      Offset(source.base, Convert(first, kI64) * Convert(row_bytes_, kI64));
  columns_ = Units(source.k);
  all_ =
      b_.Buffer(start_, Convert(Records(Min(rows_left, b_.I32(rows))), kI64));
}

// Units of a row that `k` elements take.
Value Panel::Units(Value k) {
  const int bits = shape_.element.bits();
  return bits < 8 ? k / 8 * bits : k;
}

// Bytes from a row's start to the end of the last of `rows` rows: exact, since
// the matrix may end there.
Value Panel::Records(Value rows) {
  if (shape_.shuffled) return (rows + 15) / 16 * 16 * row_bytes_;
  return (rows - 1) * row_bytes_ + columns_ * shape_.element.unit_bytes();
}

// The lane writes 16 bytes of the LDS image as a piece: the number of these
// among all of the image, divided.
Value Panel::Quotient(int piece, int divisor) {
  const int first = piece * shape_.round_bytes() / kChunk;
  if (first % divisor == 0) return thread_ / divisor + first / divisor;
  return (thread_ + first) / divisor;
}

Value Panel::Remainder(int piece, int divisor) {
  const int first = piece * shape_.round_bytes() / kChunk;
  return (first % divisor == 0 ? thread_ : thread_ + first) % divisor;
}

// What they are, by the image of a step in panel.h.
Value Panel::LaneUnit(int piece) {
  const int unit = shape_.element.unit_bytes();
  if (!shape_.k_contiguous) {
    return Quotient(piece, shape_.mn * unit / kChunk);
  }
  if (shape_.shuffled) {
    const int chunks = shape_.step_row_bytes() / kChunk;
    return Quotient(piece, 16) % chunks * kChunk;
  }
  // Row in [block][mn] order, and the chunk's place in it.
  const int chunks = shape_.row_bytes() / kChunk;
  const RowSwizzle swizzle = RowSwizzleOf(shape_);
  const Value row = Quotient(piece, chunks);
  const Value chunk =
      Remainder(piece, chunks) ^ (row / swizzle.divisor % swizzle.modulus);
  return row / shape_.mn * (shape_.row_bytes() / unit) +
         chunk * (kChunk / unit);
}

Value Panel::LaneOffset(int piece) {
  const int unit = shape_.element.unit_bytes();
  if (!shape_.k_contiguous) {
    const Value k = lane_unit_[piece];
    const Value place = Remainder(piece, shape_.mn * unit / kChunk);
    const Value chunk = place ^ (LaneSwizzle(shape_, k) << 1);
    if (!shape_.paired) return k * row_bytes_ + chunk * kChunk;
    return k * row_bytes_ + chunk / 2 * kChunk + chunk % 2 * half_ * 2;
  }
  Value row;
  Value offset;
  if (shape_.shuffled) {
    const int chunks = shape_.step_row_bytes() / kChunk;
    row = Quotient(piece, 16) / chunks * 16;
    offset = lane_unit_[piece] * 16 + Remainder(piece, 16) * kChunk;
  } else {
    row = Quotient(piece, shape_.row_bytes() / kChunk) % shape_.mn;
    if (shape_.paired) row = row / 16 * 8 + row % 8;
    offset = lane_unit_[piece] * unit;
  }
  offset = row * row_bytes_ + offset;
  if (shape_.data_bytes() == shape_.mn * shape_.step_row_bytes()) return offset;
  // A round may be larger than what is left of the image.
  const Value number = thread_ + piece * shape_.round_bytes() / kChunk;
  return Select(number < shape_.mn * shape_.step_row_bytes() / kChunk, offset,
                b_.I32(kOutside));
}

Value Panel::Cursor(Value step) {
  if (scales_.has_value()) return step * (shape_.k / kScaleBlock);
  if (shape_.k_contiguous) return step * step_bytes();
  return Offset(start_,
                Convert(step * shape_.k, kI64) * Convert(row_bytes_, kI64));
}

Value Panel::Advance(Value cursor) {
  if (scales_.has_value()) return cursor + shape_.k / kScaleBlock;
  if (shape_.k_contiguous) return cursor + step_bytes();
  return Offset(cursor, Convert(row_bytes_ * shape_.k, kI64));
}

// Bytes from one step to the next, k contiguous.
int Panel::step_bytes() const {
  return shape_.step_row_bytes() * (shape_.shuffled ? 16 : 1);
}

Panel::Feed Panel::FeedAt(Value cursor) {
  Feed feed{all_, cursor};
  if (scales_.has_value()) {
    feed.offset = cursor * (step_bytes() * kScaleBlock / shape_.k);
    feed.scale_offset = scales_->StepOffset(cursor);
  }
  return feed;
}

Panel::Feed Panel::Whole(Value cursor, Value live) {
  const Value none = b_.I32(0);
  // A scalar offset beyond the buffer's end might wrap in the range check, so a
  // step beyond the last reads the first one again.
  if (shape_.k_contiguous) return FeedAt(Select(live, cursor, none));
  const Value records = Records(b_.I32(shape_.k));
  return {b_.Buffer(cursor, Convert(Select(live, records, none), kI64)), none};
}

Panel::Feed Panel::Partial(Value step, Value valid_k) {
  const Value none = b_.I32(0);
  const Value some = valid_k > 0;
  const Value cursor = Cursor(Select(some, step, none));
  if (shape_.k_contiguous) {
    Feed feed = FeedAt(cursor);
    feed.valid_units = Units(valid_k);
    if (scales_.has_value()) feed.valid_scales = valid_k / kScaleBlock;
    return feed;
  }
  const Value records = Select(some, Records(valid_k), none);
  return {b_.Buffer(cursor, Convert(records, kI64)), none};
}

int Panel::ImageByte(int piece) const {
  const int behind = piece - shape_.data_pieces();
  if (behind < 0) return piece * shape_.round_bytes();
  return shape_.data_bytes() + behind * shape_.scales().round_bytes();
}

void Panel::Dma(const Feed& feed, int piece, Value lds, int lds_offset,
                Value wave_lds, const Access& access) {
  const int place = lds_offset + ImageByte(piece);
  if (piece >= shape_.data_pieces()) {
    const int index = piece - shape_.data_pieces();
    b_.BufferLoadToLds(scales_->buffer(), Offset(lds, wave_lds / 4 + place),
                       scales_->width(),
                       scales_->LaneOffset(index, feed.valid_scales),
                       feed.scale_offset, kCached, access);
    return;
  }
  Value offset = lane_offset_[piece];
  if (feed.valid_units.valid()) {
    offset =
        Select(lane_unit_[piece] < feed.valid_units, offset, b_.I32(kOutside));
  }
  b_.BufferLoadToLds(feed.buffer, Offset(lds, wave_lds + place), kChunk, offset,
                     feed.offset, kCached, access);
}

Value Panel::Load(const Feed& feed, int piece, int width) {
  if (piece >= shape_.data_pieces()) {
    const int index = piece - shape_.data_pieces();
    return Convert(
        b_.BufferLoad(scales_->width() == 1 ? kI8 : kI16, scales_->buffer(),
                      scales_->LaneOffset(index, feed.valid_scales),
                      feed.scale_offset),
        kI32);
  }
  const int unit = shape_.element.unit_bytes();
  Values parts;
  for (int e = 0; e < kChunk / unit; e += width) {
    Value offset = lane_offset_[piece] + e * unit;
    if (feed.valid_units.valid()) {
      offset = Select(lane_unit_[piece] + e < feed.valid_units, offset,
                      b_.I32(kOutside));
    }
    const int bytes = width * unit;
    const Type type = bytes == 1   ? kI8
                      : bytes == 2 ? kI16
                                   : Vec(kI32, bytes / 4);
    parts.push_back(b_.BufferLoad(type, feed.buffer, offset, feed.offset));
  }
  if (parts.size() == 1) return parts[0];
  if (parts.size() == 2) return Concat(parts[0], parts[1]);
  return Bitcast(Pack(parts), Vec(kI32, 4));
}

void Panel::Write(Value data, int piece, Value lds, int lds_offset,
                  Value lds_lane) {
  const int place = lds_offset + ImageByte(piece);
  if (piece >= shape_.data_pieces()) {
    b_.Store(data, Offset(Offset(lds, lds_lane - thread_ * 12), place));
    return;
  }
  b_.Store(data, Offset(Offset(lds, lds_lane), place), {.align = 16});
}

}  // namespace ingot::tile
