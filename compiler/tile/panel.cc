// Banks. ds_read_b128 reads 16 lanes a phase; rows of 128 bytes with the XOR by
// mn / 2 spread any 16 consecutive rows over all 64 banks, and so do rows of 64
// bytes with two bits of it. Elements of 6 bits are read by ds_read_b64, 32
// lanes a phase: 16 rows of 96 bytes start at eight different places of the
// banks, twice; the XOR by mn / 8 tells the two apart.
// ds_read_b64_tr_b16 reads 32 lanes a phase: rows k = {0..3} and {8..11} (then
// {4..7} and {12..15}) of 32 bytes each. The XOR moves those eight pieces into
// different eighths of the 256 bytes that the banks span, as far as the row's
// own length leaves bits to do so. Rows of one piece leave none; there the rows
// themselves change places, so that those of a phase are neighbours.
#include "compiler/tile/panel.h"

#include <algorithm>
#include <limits>

namespace ingot::tile {
namespace {

constexpr int kChunk = 16;  // bytes
// Offset 2^31: no buffer here reaches it (panels are below 2 GiB), and it wraps
// with none of the scalar offsets added to it.
constexpr int64_t kOutside = std::numeric_limits<int32_t>::min();

// Row bits that ColumnSwizzle is made of, lowest XOR bit first. Rows of 128 or
// 384 bytes alternate between two halves of the banks by themselves, so bit 0
// of k is not needed there; and so on.
constexpr int kSwizzleBits[4][3] = {{}, {3}, {1, 3}, {0, 1, 3}};
// Of 8 bits, where a phase reads rows k = {0..7} and {16..23} of 16 bytes each.
constexpr int kNarrowSwizzleBits[5][4] = {
    {}, {4}, {2, 4}, {1, 2, 4}, {0, 1, 2, 4}};

int SwizzleBit(const PanelShape& shape, int bits, int i) {
  return shape.element.narrow() ? kNarrowSwizzleBits[bits][i]
                                : kSwizzleBits[bits][i];
}

}  // namespace

// The XOR stays inside groups of 16 << bits elements, which make up a row.
int ColumnSwizzleBits(const PanelShape& shape) {
  const int most = shape.element.narrow() ? 4 : 3;
  int bits = 0;
  while (bits < most && shape.mn % (32 << bits) == 0) ++bits;
  return bits;
}

int ColumnSwizzle(const PanelShape& shape, int k) {
  const int bits = ColumnSwizzleBits(shape);
  int swizzle = 0;
  for (int i = 0; i < bits; ++i) {
    swizzle |= (k >> SwizzleBit(shape, bits, i) & 1) << i;
  }
  return swizzle;
}

namespace {

// Bits `bit` and `bit` + 1 change places.
template <typename T>
T SwapBits(const T& x, int bit) {
  return x ^ ((x >> bit ^ x >> (bit + 1)) & 1) * (3 << bit);
}

template <typename T>
T PlaceOf(const PanelShape& shape, const T& k) {
  if (shape.mn != 16) return k;
  return SwapBits(k, shape.element.narrow() ? 3 : 2);
}

}  // namespace

int ColumnPlace(const PanelShape& shape, int k) { return PlaceOf(shape, k); }
Value ColumnPlace(const PanelShape& shape, Value k) {
  return PlaceOf(shape, k);
}

int PanelShape::row_bytes() const {
  if (element.bits() == 6) return 96;
  return std::min(128, step_row_bytes());
}

int PanelShape::LdsRun() const {
  // An instruction's offset has twelve bits.
  constexpr int kMost = 4;
  int most = 1;
  for (int pieces = 2; pieces <= kMost; ++pieces) {
    // Which half a piece is of may depend on the wave or on the piece.
    if (paired && waves > 1 && pieces % 2 != 0) continue;
    if (data_pieces() % pieces == 0) most = pieces;
  }
  return most;
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
    const int unit = shape.element.unit_bytes();
    return ColumnPlace(shape, row) * shape.mn * unit +
           (chunk ^ unit * ColumnSwizzle(shape, row)) * kChunk;
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
    swizzle = swizzle | ((k >> SwizzleBit(shape, bits, i) & 1) << i);
  }
  return swizzle;
}

}  // namespace

Panel::Panel(Builder& builder, const PanelShape& shape,
             const PanelSource& source, int index)
    : b_(builder),
      shape_(shape),
      source_(source),
      thread_(shape.waves == 1 ? builder.LaneId() : builder.ThreadX()) {
  if (shape.waves > 1) {
    const Value wave = b_.WaveId();
    wave_lds_ = wave * (shape.run * 1024);
    wave_scales_ = wave * 256;
    if (shape.run > 1) thread_ = b_.LaneId() + wave * (shape.run * 64);
  }
  row_bytes_ = source.stride * shape.element.unit_bytes();
  Start(source, index);
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
void Panel::Start(const PanelSource& source, int index) {
  Value first = source.first + index * shape_.group;
  Value extent = source.extent;
  int rows = shape_.mn * shape_.panels - shape_.group * (shape_.panels - 1);
  if (shape_.paired) {
    half_ = extent / 2;
    first = first / 2;
    rows = rows / 2;
    if (shape_.k_contiguous) extent = half_;
  }
  const Value rows_left = extent - first;
  if (!shape_.k_contiguous) {
    start_ = Early(Offset(source.base,
                          Convert(first, kI64) * shape_.element.unit_bytes()));
    columns_ = rows_left;
    return;
  }
  columns_ = Units(source.k);
  records_ = Records(Min(rows_left, b_.I32(rows)));
  const auto from = [&](Value row) {
    return Early(
        Offset(source.base, Convert(row, kI64) * Convert(row_bytes_, kI64)));
  };
  // A wave moves 8 rows at a time, of one half. A wave that takes turns with
  // others keeps to the same half; in a run of pieces halves change from piece
  // to piece.
  if (shape_.paired && !AlternatesHalves()) {
    first = first + b_.WaveId() % 2 * half_;
  }
  start_ = from(first);
  all_ = b_.Buffer(start_, Convert(records_, kI64));
  if (AlternatesHalves()) {
    odd_ = b_.Buffer(from(first + half_), Convert(records_, kI64));
  }
}

bool Panel::AlternatesHalves() const {
  return shape_.paired && shape_.k_contiguous &&
         (shape_.waves == 1 || shape_.run > 1);
}

Value Panel::Early(Value pointer) {
  return lead() == 0 ? pointer : Offset(pointer, -int64_t{lead()});
}

// Units of a row that `k` elements take.
Value Panel::Units(Value k) {
  const int bits = shape_.element.bits();
  return bits < 8 ? k / 8 * bits : k;
}

// Bytes from a buffer's start to the end of the last of `rows` rows: exact,
// since the matrix may end there. One panel of several may lie outside wholly.
Value Panel::Records(Value rows) {
  if (shape_.shuffled) return (rows + 15) / 16 * 16 * row_bytes_ + lead();
  const Value bytes =
      (rows - 1) * row_bytes_ + columns_ * shape_.element.unit_bytes();
  return (shape_.panels == 1 ? bytes : Max(bytes, b_.I32(0))) + lead();
}

// Row `row` of the panel, counted in the matrix from the panel's first one.
Value Panel::InMatrix(Value row) {
  if (shape_.panels == 1) return row;
  const int group = shape_.group;
  return row / group * (group * shape_.panels) + row % group;
}

// The lane writes 16 bytes of the LDS image as a piece: the number of these
// among all of the image, divided.
Value Panel::Quotient(int piece, int divisor) {
  const int first = ImageByte(piece) / kChunk;
  if (first % divisor == 0) return thread_ / divisor + first / divisor;
  return (thread_ + first) / divisor;
}

Value Panel::Remainder(int piece, int divisor) {
  const int first = ImageByte(piece) / kChunk;
  return (first % divisor == 0 ? thread_ : thread_ + first) % divisor;
}

// What they are, by the image of a step in panel.h.
Value Panel::LaneUnit(int piece) {
  const int unit = shape_.element.unit_bytes();
  if (!shape_.k_contiguous) {
    return ColumnPlace(shape_, Quotient(piece, shape_.mn * unit / kChunk));
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
  const Value in_block = chunk * (kChunk / unit);
  if (shape_.k == shape_.block_k()) return in_block;
  return row / shape_.mn * (shape_.row_bytes() / unit) + in_block;
}

Value Panel::LaneOffset(int piece) {
  const int unit = shape_.element.unit_bytes();
  if (!shape_.k_contiguous) {
    const Value k = lane_unit_[piece];
    const Value place = Remainder(piece, shape_.mn * unit / kChunk);
    const Value row =
        InMatrix((place ^ LaneSwizzle(shape_, k) * unit) * (kChunk / unit));
    const Value start = k * row_bytes_ + (lead() - InRun(piece));
    if (!shape_.paired) return start + row * unit;
    return start + row / 16 * kChunk + row / 8 % 2 * half_ * 2;
  }
  Value row;
  Value offset;
  if (shape_.shuffled) {
    const int chunks = shape_.step_row_bytes() / kChunk;
    row = InMatrix(Quotient(piece, 16) / chunks * 16);
    offset = lane_unit_[piece] * 16 + Remainder(piece, 16) * kChunk;
  } else {
    row = Quotient(piece, shape_.row_bytes() / kChunk);
    if (shape_.k > shape_.block_k()) row = row % shape_.mn;
    row = InMatrix(row);
    if (shape_.paired) row = row / 16 * 8 + row % 8;
    offset = lane_unit_[piece] * unit;
  }
  offset = row * row_bytes_ + offset + (lead() - InRun(piece));
  if (shape_.data_bytes() == shape_.mn * shape_.step_row_bytes()) return offset;
  // A round may be larger than what is left of the image.
  const Value number = thread_ + ImageByte(piece) / kChunk;
  return Select(number < shape_.mn * shape_.step_row_bytes() / kChunk, offset,
                b_.I32(kOutside));
}

Value Panel::Cursor(Value step) {
  if (scales_.has_value()) return step * (shape_.k / kScaleBlock);
  if (shape_.k_contiguous) return step * step_bytes();
  return Offset(start_,
                Convert(step * shape_.k, kI64) * Convert(row_bytes_, kI64));
}

int Panel::CursorStep() const {
  if (!shape_.k_contiguous) return 0;
  return scales_.has_value() ? shape_.k / kScaleBlock : step_bytes();
}

Value Panel::Advance(Value cursor, int steps) {
  if (shape_.k_contiguous) return cursor + steps * CursorStep();
  return Offset(cursor, Convert(row_bytes_ * (steps * shape_.k), kI64));
}

// Bytes from one step to the next, k contiguous.
int Panel::step_bytes() const {
  return shape_.step_row_bytes() * (shape_.shuffled ? 16 : 1);
}

Panel::Feed Panel::FeedAt(Value cursor) {
  Feed feed{.buffer = all_, .odd_buffer = odd_, .offset = cursor};
  if (scales_.has_value()) {
    feed.offset = cursor * (step_bytes() * kScaleBlock / shape_.k);
    feed.scale_offset = scales_->StepOffset(cursor);
  }
  return feed;
}

Panel::Feed Panel::Whole(Value cursor, Value live) {
  const Value none = b_.I32(0);
  // A scalar offset of the buffer's size is outside for every lane; a larger
  // one might wrap in the range check.
  if (shape_.k_contiguous) {
    Feed feed = FeedAt(cursor);
    feed.offset = Select(live, feed.offset, records_);
    if (scales_.has_value()) {
      feed.scale_offset =
          Select(live, feed.scale_offset, scales_->buffer_bytes());
    }
    return feed;
  }
  const Value records = Select(live, Records(b_.I32(shape_.k)), none);
  return {.buffer = b_.Buffer(cursor, Convert(records, kI64)), .offset = none};
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
  return {.buffer = b_.Buffer(cursor, Convert(records, kI64)), .offset = none};
}

Value Panel::BufferOf(const Feed& feed, int piece) const {
  return feed.odd_buffer.valid() && piece % 2 == 1 ? feed.odd_buffer
                                                   : feed.buffer;
}

int Panel::ImageByte(int piece) const {
  const int behind = piece - shape_.data_pieces();
  if (behind < 0) {
    return piece / shape_.run * shape_.run * shape_.round_bytes() +
           InRun(piece);
  }
  return shape_.data_bytes() + behind * shape_.scales().round_bytes();
}

void Panel::Dma(const Feed& feed, int piece, Value lds, int lds_offset,
                const Access& access) {
  const auto at = [&](const Value& wave, int place) {
    return wave.valid() ? Offset(lds, wave + place) : Offset(lds, place);
  };
  const int place = lds_offset + ImageByte(piece);
  if (piece >= shape_.data_pieces()) {
    const int index = piece - shape_.data_pieces();
    b_.BufferLoadToLds(scales_->buffer(), at(wave_scales_, place),
                       scales_->width(),
                       scales_->LaneOffset(index, feed.valid_scales),
                       feed.scale_offset, /*offset=*/0, kCached, access);
    return;
  }
  Value offset = lane_offset_[piece];
  if (feed.valid_units.valid()) {
    offset =
        Select(lane_unit_[piece] < feed.valid_units, offset, b_.I32(kOutside));
  }
  b_.BufferLoadToLds(BufferOf(feed, piece), at(wave_lds_, place - InRun(piece)),
                     kChunk, offset, feed.offset, InRun(piece), kCached,
                     access);
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
    parts.push_back(
        b_.BufferLoad(type, BufferOf(feed, piece), offset, feed.offset));
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
