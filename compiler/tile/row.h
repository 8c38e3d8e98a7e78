// A row of n elements spread over threads: vectors of 16 bytes dealt round
// robin, then up to a vector's worth of single elements, one a thread. For
// kernels that walk rows (norms, softmax, reductions, quantisation).
#ifndef INGOT_COMPILER_TILE_ROW_H_
#define INGOT_COMPILER_TILE_ROW_H_

#include <cstdint>

#include "compiler/tile/builder.h"

namespace ingot::tile {

struct RowLayout {
  int64_t n = 0;    // elements
  int threads = 0;  // that share the row, a multiple of 64
  int lanes = 0;    // elements a vector

  int64_t vectors() const { return n / lanes; }
  int tail() const { return static_cast<int>(n % lanes); }
  // Vectors of a thread, the last one perhaps not there for all threads.
  int per_thread() const {
    return static_cast<int>((vectors() + threads - 1) / threads);
  }
  bool IsWhole(int i) const { return (i + 1) * int64_t{threads} <= vectors(); }
};

// One row in memory, n * size of the element up to 2 GiB.
class Row {
 public:
  // `start` is the row's first element, scalar; `thread` counts 0..threads-1;
  // `align` what every row starts at a multiple of, at least the element's
  // size.
  Row(Builder& builder, const RowLayout& layout, Type elem, Value start,
      Value thread, int align);

  // The thread's vector `i`; zeros where the row has none.
  Value Load(int i);
  // The thread's element behind the vectors, or zero. Only when layout.tail().
  Value LoadTail();
  // What the row has no place for is dropped. Written past the caches.
  void Store(Value vector, int i);
  void StoreTail(Value element);

 private:
  // Vectors of more than 16 bytes move in pieces.
  int pieces() const;
  Type piece() const;
  // The thread's byte offset of vector `i`, of which `constant` is the same for
  // all threads.
  Value ThreadOffset(int i, int64_t* constant);
  Value LoadPiece(int i, int piece_index);
  void StorePiece(Value piece, int i, int piece_index);
  bool UsesBuffers() const;

  Builder& b_;
  const RowLayout layout_;
  const Type elem_;
  const Value start_;
  const Value thread_;
  const int align_;
  Value vectors_;  // buffer of the whole vectors
  Value all_;      // buffer of the row
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_ROW_H_
