// MFMA operands out of a panel's LDS image (panel.h): fragments of 16 rows by
// the k of one MFMA, 32 for v_mfma_f32_16x16x32 (elements of 16 bits) and 128
// for v_mfma_f32_16x16x128 (narrow ones).
#ifndef INGOT_COMPILER_TILE_FRAGMENT_H_
#define INGOT_COMPILER_TILE_FRAGMENT_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/panel.h"

namespace ingot::tile {

inline constexpr int kFragmentRows = 16;

// Where k is contiguous, a fragment is one ds_read_b128 or two (8 bits), or
// three ds_read_b64 (6 bits); else two ds_read_b64_tr_b16.
class FragmentReader {
 public:
  // The wave's rows start at `first_row` (scalar, a multiple of their number
  // `rows`, which is a multiple of 16).
  FragmentReader(Builder& builder, const PanelShape& shape, int rows,
                 Value first_row);

  int fragments() const { return rows_ / kFragmentRows; }
  // Reads of one fragment.
  int parts() const { return PartsOf(shape_); }
  static int PartsOf(const PanelShape& shape);

  // Addresses for a step at `offset` bytes of `lds`: few lane values, from
  // which every read is a constant away. Opaque, so that the optimiser does not
  // make one for each read.
  Values Bases(Value lds, int offset);
  // The same for an offset that changes (scalar).
  Values Bases(Value lds, Value offset);

  // Part `part` of fragment `fragment` of k set * mfma_k on, in the panel that
  // lies `panel` bytes behind the bases: 4 x i32, 2 x i32 (6 bits) or 4 x i16
  // (transposed).
  Value Read(const Values& bases, int panel, int fragment, int set, int part,
             const Access& access);

  // A whole fragment out of its parts: eight elements of 16 bits, or 32 packed
  // in words.
  static Value Join(absl::Span<const Value> parts, const Element& element);

 private:
  int base_count() const;
  // Address of base `i` for the lane, relative to a step.
  Value RowLane(int i, Value first_row);
  Value ShuffledLane(int i, Value first_row);
  Value ColumnLane(int i, Value first_row);

  Builder& b_;
  PanelShape shape_;
  int rows_;
  Value group_;     // lane / 16
  Value in_group_;  // lane % 16
  Values lane_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_FRAGMENT_H_
