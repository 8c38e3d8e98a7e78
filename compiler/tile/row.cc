#include "compiler/tile/row.h"

#include <algorithm>

namespace ingot::tile {
namespace {

constexpr int kAccessBytes = 16;

}  // namespace

Row::Row(Builder& builder, const RowLayout& layout, Type elem, Value start,
         Value thread, int align)
    : b_(builder),
      layout_(layout),
      elem_(elem.Scalar()),
      start_(start),
      thread_(thread),
      align_(align) {
  const int64_t bytes = elem_.Bytes();
  if (UsesBuffers() && layout_.vectors() > 0) {
    vectors_ =
        b_.Buffer(start, b_.I64(layout_.vectors() * layout_.lanes * bytes));
  }
  if (layout_.tail() > 0) all_ = b_.Buffer(start, b_.I64(layout_.n * bytes));
}

// Buffer instructions move words; rows that start between words go through
// global memory instructions, which take any alignment.
bool Row::UsesBuffers() const { return align_ >= 4; }

int Row::pieces() const {
  return std::max(1, layout_.lanes * elem_.Bytes() / kAccessBytes);
}

Type Row::piece() const { return elem_.WithLanes(layout_.lanes / pieces()); }

Value Row::ThreadOffset(int i, int64_t* constant) {
  const int64_t bytes = layout_.lanes * elem_.Bytes();
  *constant = i * int64_t{layout_.threads} * bytes;
  return thread_ * bytes;
}

Value Row::LoadPiece(int i, int piece_index) {
  int64_t constant = 0;
  Value offset = ThreadOffset(i, &constant);
  constant += piece_index * piece().Bytes();
  const bool whole = layout_.IsWhole(i);
  if (UsesBuffers()) {
    // Only the lane's offset takes part in the bounds check.
    if (!whole)
      return b_.BufferLoad(piece(), vectors_, offset + constant, b_.I32(0));
    return b_.BufferLoad(piece(), vectors_, offset, b_.I32(constant));
  }
  const Access access = {.align = align_};
  if (whole)
    return b_.Load(piece(), Offset(Offset(start_, offset), constant), access);
  // Threads without a vector read nothing: whatever they read might be what
  // another wave writes, where a row is written in place.
  Value inside = thread_ < layout_.vectors() - i * int64_t{layout_.threads};
  const auto load = [&] {
    return Values{
        b_.Load(piece(), Offset(Offset(start_, offset), constant), access)};
  };
  return b_.If(inside, load, [&] { return Values{b_.Zero(piece())}; })[0];
}

Value Row::Load(int i) {
  Value vector = LoadPiece(i, 0);
  for (int p = 1; p < pieces(); ++p) vector = Concat(vector, LoadPiece(i, p));
  return vector;
}

void Row::StorePiece(Value value, int i, int piece_index) {
  int64_t constant = 0;
  Value offset = ThreadOffset(i, &constant);
  constant += piece_index * piece().Bytes();
  const bool whole = layout_.IsWhole(i);
  if (UsesBuffers()) {
    if (whole) {
      b_.BufferStore(value, vectors_, offset, b_.I32(constant), kStream);
    } else {
      b_.BufferStore(value, vectors_, offset + constant, b_.I32(0), kStream);
    }
    return;
  }
  const auto store = [&] {
    b_.Store(value, Offset(Offset(start_, offset), constant),
             {.align = align_, .nontemporal = true});
  };
  if (whole) {
    store();
  } else {
    b_.If(thread_ < layout_.vectors() - i * int64_t{layout_.threads}, store);
  }
}

void Row::Store(Value vector, int i) {
  for (int p = 0; p < pieces(); ++p) {
    StorePiece(Slice(vector, p * piece().lanes, piece().lanes), i, p);
  }
}

// Threads beyond the tail compute an offset beyond the buffer.
Value Row::LoadTail() {
  const int64_t bytes = elem_.Bytes();
  return b_.BufferLoad(
      elem_, all_, thread_ * bytes + layout_.vectors() * layout_.lanes * bytes,
      b_.I32(0));
}

void Row::StoreTail(Value element) {
  const int64_t bytes = elem_.Bytes();
  b_.BufferStore(element, all_,
                 thread_ * bytes + layout_.vectors() * layout_.lanes * bytes,
                 b_.I32(0), kStream);
}

}  // namespace ingot::tile
