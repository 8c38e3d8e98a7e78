// A panel: the rows of one matrix that a workgroup multiplies, k elements at a
// time, and how a step of it, with its scales if it has any (scales.h), gets
// into LDS.
//
// Elements of a panel are named by (mn, k): mn counts rows of A or columns of
// B, k runs along the reduction. In memory one of the two is contiguous, or the
// matrix is a weight shuffled beforehand: [mn / 16][16 bytes of k][mn % 16][16
// bytes], rows padded to 16. In LDS a step is stored
//   k contiguous:   [block of k][mn][bytes], 128 bytes a row of a block where
//                   the step has as many; chunk c of 16 bytes at place
//                   c ^ RowSwizzle(mn)
//   shuffled:       [mn / 16][chunk][mn % 16][16 bytes], as in memory
//   mn contiguous:  [k][mn], chunks moved by an XOR that depends on k (16 and 8
//                   bits); rows of one chunk or two moved by ColumnPlace
// so that neither ds_read_b128 and ds_read_b64 (rows) nor ds_read_b64_tr_b16
// and ds_read_b64_tr_b8 (columns) meets a bank twice in a phase (the tables
// stand in panel.cc). An LDS-DMA writes 16 bytes a lane in order, so the XOR is
// applied to the global address.
//
// Elements beyond the panel's rows read as zero or are never stored; elements
// beyond k read as zero wherever `valid_k` says so, in chunks. Only with 6
// bits, where k may end inside a chunk, does the rest of it hold what memory
// has there: finite numbers, which meet zeros or, as scales are 2^-127 there,
// make products too small for f32. All members take scalars (uniform values)
// unless they are called lane values.
#ifndef INGOT_COMPILER_TILE_PANEL_H_
#define INGOT_COMPILER_TILE_PANEL_H_

#include <cstdint>
#include <optional>

#include "compiler/tile/builder.h"
#include "compiler/tile/element.h"
#include "compiler/tile/scales.h"

namespace ingot::tile {

struct PanelShape {
  int mn = 0;
  // Of a step; a multiple of block_k() when k is contiguous, and of 128 when
  // elements are narrow.
  int k = 0;
  bool k_contiguous = true;
  int waves = 0;  // that move it together; 1: each moves one of its own
  // The matrix has two halves of extent / 2 rows. A panel takes 8 rows of the
  // first, then the 8 of the second at the same places, and so on; its own rows
  // are counted through both. Needs one wave or an even number, and 16-bit
  // elements.
  bool paired = false;
  Element element;
  bool shuffled = false;  // only with k contiguous
  // An operand may come as several panels of equal size, which take groups of
  // `group` rows of the workgroup's rows in turn; not with scales.
  int panels = 1;
  int group = 0;
  // Pieces (below) of a wave that lie one behind the other in LDS, so that one
  // M0 serves them all: LdsRun, or 1.
  int run = 1;

  // Bytes of a step's row, and of a row of one of its blocks in LDS.
  int step_row_bytes() const { return k * element.bits() / 8; }
  int row_bytes() const;
  int block_k() const { return row_bytes() * 8 / element.bits(); }
  int data_bytes() const;
  int bytes() const { return data_bytes() + scales().bytes(); }
  // Pieces of 16 bytes that a lane moves, then those of the scales. What the
  // last round of data has too much is never read.
  int data_pieces() const { return data_bytes() / round_bytes(); }
  int pieces() const { return data_pieces() + scales().pieces(); }
  int round_bytes() const { return waves * 1024; }
  // As many as an instruction's offset reaches and the pieces divide into.
  int LdsRun() const;
  ScaleShape scales() const { return {mn, k, waves, element.scales}; }
};

// Byte of a step's LDS image where chunk `chunk` (of 16 contiguous bytes) of
// row `row` lies: row is mn and chunk along k, or the other way round.
int LdsByte(const PanelShape& shape, int row, int chunk);
// The XOR of rows whose k is contiguous, in chunks: row / divisor % modulus.
// Rows 16 apart have the same.
struct RowSwizzle {
  int divisor = 0;
  int modulus = 0;
};
RowSwizzle RowSwizzleOf(const PanelShape& shape);
// The XOR of mn-contiguous rows, in units of 16 elements, and how many bits it
// has.
int ColumnSwizzle(const PanelShape& shape, int k);
int ColumnSwizzleBits(const PanelShape& shape);
// Which row of the image has k, where k is not contiguous, and which k that row
// has.
int ColumnPlace(const PanelShape& shape, int k);
Value ColumnPlace(const PanelShape& shape, Value k);

struct PanelSource {
  Value base;          // kGlobal, element (0, 0) of the matrix
  Value stride;        // i32, units (element.h) between rows in memory
  Value first;         // i32, mn of the panel's first row
  Value extent;        // i32, rows of the whole matrix
  Value k;             // i32, of the whole matrix
  Value scales;        // kGlobal, of the whole matrix
  Value scale_stride;  // i32, bytes between rows; linear ones only
};

class Panel {
 public:
  // Panel `index` of shape.panels.
  Panel(Builder& builder, const PanelShape& shape, const PanelSource& source,
        int index = 0);

  const PanelShape& shape() const { return shape_; }
  const PanelSource& source() const { return source_; }

  // Where a step starts in memory: carried round a loop.
  //   k contiguous: i32, bytes from the panel's start, or blocks of 32 k when
  //   there are scales; else a pointer
  Value Cursor(Value step);
  Value Advance(Value cursor, int steps = 1);
  // By how much the cursor moves in a step; 0 where that is no constant.
  int CursorStep() const;

  // A whole step as LDS-DMA, one piece after the other: Dma(piece) of a Feed
  // made by Whole(cursor, live), where a step that is not `live` is all zeros
  // and asks memory for nothing; or by Partial(step, valid_k), where everything
  // from valid_k (0..shape.k) on becomes zero.
  struct Feed {
    Value buffer;
    Value odd_buffer;    // of odd pieces, where that is another one
    Value offset;        // scalar, bytes
    Value scale_offset;  // the same for scales
    Value valid_units;   // of a row; invalid when the step is whole
    Value valid_scales;  // of a row
  };
  Feed Whole(Value cursor, Value live);
  Feed Partial(Value step, Value valid_k);
  // `lds` + `lds_offset` is where the step starts, in the wave's own LDS if
  // each wave moves a panel of its own.
  void Dma(const Feed& feed, int piece, Value lds, int lds_offset,
           const Access& access);

  // A piece of a partial step into registers by loads of `width` units, which
  // must divide the contiguous extent and the row stride: 4 x i32, or an i32 of
  // scales. Runs are of one piece.
  Value Load(const Feed& feed, int piece, int width);
  // Puts a piece where Dma would have; `lds_lane` is where the lane's first 16
  // bytes go, relative to `lds`.
  void Write(Value data, int piece, Value lds, int lds_offset, Value lds_lane);

 private:
  void Start(const PanelSource& source, int index);
  bool AlternatesHalves() const;
  Value BufferOf(const Feed& feed, int piece) const;
  Value InMatrix(Value row);
  Value Quotient(int piece, int divisor);
  Value Remainder(int piece, int divisor);
  Value LaneOffset(int piece);
  Value LaneUnit(int piece);
  Value Records(Value rows);
  Value Units(Value k);
  Feed FeedAt(Value cursor);
  int step_bytes() const;
  // LDS byte of a piece behind the step's start, at thread 0.
  int ImageByte(int piece) const;
  // The part of it that the instruction adds, in memory as well.
  int InRun(int piece) const { return piece % shape_.run * 1024; }
  // By how much buffers start early, so that no lane's offset gets below 0.
  int lead() const { return InRun(shape_.run - 1); }
  Value Early(Value pointer);

  Builder& b_;
  PanelShape shape_;
  PanelSource source_;
  Value thread_;       // its place among all, of a run of the wave's pieces
  Value wave_lds_;     // where the wave's first piece goes, if waves share
  Value wave_scales_;  // the same
  Value row_bytes_;    // i32
  Value half_;         // rows of one, if paired
  Value start_;        // kGlobal
  Value columns_;      // units of a row in memory from start_ on
  Value all_;          // buffer of the whole panel, k contiguous,
  Value records_;      // its bytes,
  Value odd_;          // and that of odd pieces
  Values lane_offset_;
  Values lane_unit_;
  std::optional<ScalePanel> scales_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_PANEL_H_
