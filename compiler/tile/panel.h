// A panel: the rows of one matrix of 16-bit elements that a workgroup
// multiplies, k elements at a time, and how a step of it gets into LDS.
//
// Elements of a panel are named by (mn, k): mn counts rows of A or columns of
// B, k runs along the reduction. In memory one of the two is contiguous. In LDS
// a step is stored
//   k contiguous:   [k / 64][mn][64], chunk c of 8 elements of a row at place
//                   c ^ (mn / 2 % 8)
//   mn contiguous:  [k][mn], chunks moved by an XOR that depends on k
// so that neither ds_read_b128 (rows) nor ds_read_b64_tr_b16 (columns) meets a
// bank twice in a phase (the tables stand in panel.cc). An LDS-DMA writes 16
// bytes a lane in order, so the XOR is applied to the global address.
//
// Elements beyond the panel's rows read as zero or are never stored; elements
// beyond k read as zero wherever `valid_k` says so. All members take scalars
// (uniform values) unless they are called lane values.
#ifndef INGOT_COMPILER_TILE_PANEL_H_
#define INGOT_COMPILER_TILE_PANEL_H_

#include <cstdint>

#include "compiler/tile/builder.h"

namespace ingot::tile {

struct PanelShape {
  int mn = 0;
  int k = 0;  // of a step; a multiple of 64 when k is contiguous
  bool k_contiguous = true;
  int waves = 0;  // of the workgroup, which all move it together
  // The matrix has two halves of extent / 2 rows. A panel takes 8 rows of the
  // first, then the 8 of the second at the same places, and so on; its own rows
  // are counted through both. Needs an even number of waves.
  bool paired = false;

  int bytes() const { return mn * k * 2; }
  // Pieces of 16 bytes that a lane moves; bytes() is a multiple of a round.
  int pieces() const { return bytes() / round_bytes(); }
  int round_bytes() const { return waves * 1024; }
};

// Byte of a step's LDS image where chunk `chunk` (of 8 contiguous elements) of
// row `row` lies: row is mn and chunk along k, or the other way round.
int LdsByte(const PanelShape& shape, int row, int chunk);
// The XOR of mn-contiguous rows, in units of 16 elements, and how many bits it
// has.
int ColumnSwizzle(const PanelShape& shape, int k);
int ColumnSwizzleBits(const PanelShape& shape);

struct PanelSource {
  Value base;    // kGlobal, element (0, 0) of the matrix
  Value stride;  // i32, elements between rows in memory
  Value first;   // i32, mn of the panel's first row
  Value extent;  // i32, rows of the whole matrix
  Value k;       // i32, of the whole matrix
};

class Panel {
 public:
  Panel(Builder& builder, const PanelShape& shape, const PanelSource& source);

  const PanelShape& shape() const { return shape_; }

  // Where a step starts in memory: carried round a loop.
  //   k contiguous: i32 bytes from the panel's start; else a pointer
  Value Cursor(Value step);
  Value Advance(Value cursor);

  // A whole step as LDS-DMA, one piece after the other: Dma(piece) of a Feed
  // made by Whole(cursor, live), where a step that is not `live` may hold
  // anything but touches nothing outside the matrix; or by Partial(step,
  // valid_k), where everything from valid_k (0..shape.k) on becomes zero.
  struct Feed {
    Value buffer;
    Value offset;   // scalar, bytes
    Value valid_k;  // invalid when the step is whole
  };
  Feed Whole(Value cursor, Value live);
  Feed Partial(Value step, Value valid_k);
  // `lds` is where the step starts; `wave_lds` = wave * 1024.
  void Dma(const Feed& feed, int piece, Value lds, int lds_offset,
           Value wave_lds, const Access& access);

  // A piece of a partial step into registers, 4 x i32, by loads of `width`
  // elements, which must divide the contiguous extent and the row stride.
  Value Load(const Feed& feed, int piece, int width);
  // Puts a piece where Dma would have.
  void Write(Value data, int piece, Value lds, int lds_offset, Value lds_lane);

 private:
  void Start(const PanelSource& source);
  Value LaneOffset(int piece);
  Value LaneK(int piece);
  Value Records(Value rows);

  Builder& b_;
  PanelShape shape_;
  Value thread_;
  Value row_bytes_;  // i32
  Value half_;       // rows of one, if paired
  Value start_;      // kGlobal
  Value columns_;    // elements of a row in memory from start_ on
  Value all_;        // buffer of the whole panel, k contiguous
  Value k_;
  Values lane_offset_;
  Values lane_k_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_PANEL_H_
