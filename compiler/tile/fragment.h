// MFMA operands out of a panel's LDS image (panel.h): fragments of 16 rows by
// 32 k of 16-bit elements, eight a lane, for v_mfma_f32_16x16x32.
#ifndef INGOT_COMPILER_TILE_FRAGMENT_H_
#define INGOT_COMPILER_TILE_FRAGMENT_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/panel.h"

namespace ingot::tile {

inline constexpr int kFragmentRows = 16;
inline constexpr int kFragmentK = 32;

// One read is ds_read_b128 (a fragment) where k is contiguous, else
// ds_read_b64_tr_b16 (half a fragment).
class FragmentReader {
 public:
  // The wave's rows start at `first_row` (scalar, a multiple of their number
  // `rows`, which is a multiple of 16).
  FragmentReader(Builder& builder, const PanelShape& shape, int rows,
                 Value first_row);

  int fragments() const { return rows_ / kFragmentRows; }
  // Reads of one fragment.
  int parts() const { return shape_.k_contiguous ? 1 : 2; }

  // Addresses for a step at `offset` bytes of `lds`: few lane values, from
  // which every read is a constant away. Opaque, so that the optimiser does not
  // make one for each read.
  Values Bases(Value lds, int offset);
  // The same for an offset that changes (scalar).
  Values Bases(Value lds, Value offset);

  // Part `part` of fragment `fragment` of k 32 * set on: 4 x i32, or 4 x i16.
  Value Read(const Values& bases, int fragment, int set, int part,
             const Access& access);

  // A whole fragment, 8 x `elem`, out of its parts.
  static Value Join(absl::Span<const Value> parts, Type elem);

 private:
  int base_count() const;

  Builder& b_;
  PanelShape shape_;
  int rows_;
  Values lane_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_FRAGMENT_H_
