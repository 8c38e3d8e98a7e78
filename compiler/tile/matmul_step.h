// What both k loops of matmul.h are made of: reading a step's fragments out of
// LDS and multiplying them, as lists of operations that a loop puts in order.
#ifndef INGOT_COMPILER_TILE_MATMUL_STEP_H_
#define INGOT_COMPILER_TILE_MATMUL_STEP_H_

#include <functional>
#include <vector>

#include "compiler/tile/fragment.h"
#include "compiler/tile/issue_order.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/scales.h"

namespace ingot::tile {

struct StepBases {
  Values a;
  Values b;
  Value scales_a;  // invalid when elements have none
  Value scales_b;
};

// A step is multiplied in sets: each is what one MFMA takes of k. Of a step
// with no more k than that, each set is half of the wave's rows; the columns
// are read with the first half and stay for the second. In LDS a step's A panel
// comes first.
class StepReader {
 public:
  StepReader(Builder& builder, const MatmulShape& shape, const Panel& a,
             const Panel& b);

  int sets() const { return sets_of_k() * row_parts(); }

  StepBases Bases(Value lds, int offset);
  StepBases Bases(Value lds, Value offset);

  // Operations that read a set into `parts`; `bases` and `parts` must outlive
  // them.
  std::vector<Emit> Reads(const StepBases& bases, int set, const Access& access,
                          Values* parts);
  // Operations that multiply a set into `accumulators`, in serpentine order.
  // The sets of a step are multiplied in their order.
  std::vector<Emit> Multiplies(int set, const Values* parts,
                               Values* accumulators);

 private:
  using ReadPart = std::function<Value(int fragment, int part)>;

  int sets_of_k() const { return shape_.k / shape_.a.mfma_k(); }
  int row_parts() const { return sets_of_k() == 1 ? 2 : 1; }
  int rows() const { return shape_.fragments_m() / row_parts(); }
  bool scaled() const { return shape_.a.scales != ScaleFetch::kNone; }
  // Values of a fragment in `parts`: its reads and its scale.
  int ValuesOf(const FragmentReader& reader) const {
    return reader.parts() + (scaled() ? 1 : 0);
  }
  template <typename Offset>
  StepBases BasesAt(Value lds, Offset offset);
  MxOperand ScaledOperand(const Element& element, const FragmentReader& reader,
                          absl::Span<const Value> values) const;
  void MultiplyBlock(absl::Span<const Value> row,
                     absl::Span<const Value> column, Value* sum);

  Builder& b_;
  MatmulShape shape_;
  FragmentReader a_;
  FragmentReader b_reader_;
  ScaleReader scales_a_;
  ScaleReader scales_b_;
  PanelShape a_shape_;
  PanelShape b_shape_;
  Values columns_;  // of the step that is being multiplied
};

// One zero for all accumulators.
Values ZeroAccumulators(Builder& builder, const MatmulShape& shape);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_MATMUL_STEP_H_
