// What the k loops of matmul.h are made of: reading a step's fragments out of
// LDS and multiplying them, one operation at a time, for a loop to put in
// order.
#ifndef INGOT_COMPILER_TILE_MATMUL_STEP_H_
#define INGOT_COMPILER_TILE_MATMUL_STEP_H_

#include <vector>

#include "compiler/tile/fragment.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/scales.h"
#include "compiler/tile/schedule.h"

namespace ingot::tile {

struct StepBases {
  Values a;
  Values b;
  Value scales_a;  // invalid when elements have none
  Value scales_b;
};

// The registers that hold fragments, a slot for each part of each set.
using StepParts = Values;

// A step is multiplied in sets: each is what one MFMA takes of k. Of a step
// with no more k than that, each set is half of the wave's rows. In LDS the
// panels of A come first, then those of B.
class StepReader {
 public:
  // Shapes of a panel of A and of B.
  StepReader(Builder& builder, const MatmulShape& shape, const PanelShape& a,
             const PanelShape& b);

  int sets() const { return shape_.k / shape_.a.mfma_k(); }
  // What a schedule of the loop must know.
  ScheduleShape Schedule(int stages) const;

  StepBases Bases(Value lds, int offset);
  StepBases Bases(Value lds, Value offset);

  StepParts NewParts() const { return StepParts(SlotsOf(0) + SlotsOf(1)); }
  // Place of a part in StepParts; actions as in a schedule (kRead).
  size_t Slot(const Action& read) const;
  // Whether there is anything to read: one read may fetch the scales of several
  // fragments, and stands with the first of them.
  bool IsRead(const Action& read) const;
  void Read(const StepBases& bases, const Action& read, const Access& access,
            StepParts* parts);
  // By a schedule's kProduct; accumulators as in matmul.h.
  void Multiply(const Action& product, const StepParts& parts,
                Values* accumulators);

  // All of a set, for loops without a schedule.
  void ReadSet(const StepBases& bases, int set, const Access& access,
               StepParts* parts);
  void MultiplySet(int set, const StepParts& parts, Values* accumulators);

 private:
  const FragmentReader& ReaderOf(int operand) const {
    return operand == 0 ? a_ : b_reader_;
  }
  const PanelShape& PanelOf(int operand) const {
    return operand == 0 ? a_shape_ : b_shape_;
  }
  bool scaled() const { return shape_.a.scales != ScaleFetch::kNone; }
  // Values of a fragment: its reads and, as one part more, its scale.
  int ValuesOf(int operand) const {
    return ReaderOf(operand).parts() + (scaled() ? 1 : 0);
  }
  template <typename Offset>
  StepBases BasesAt(Value lds, Offset offset);
  size_t SlotsOf(int operand) const;
  absl::Span<const Value> Fragment(int operand, int fragment, int set,
                                   const StepParts& parts) const;
  const ScaleReader& ScalesOf(int operand) const {
    return operand == 0 ? scales_a_ : scales_b_;
  }
  MxOperand ScaledOperand(const Element& element, int operand, int fragment,
                          int set, const StepParts& parts) const;

  Builder& b_;
  MatmulShape shape_;
  PanelShape a_shape_;
  PanelShape b_shape_;
  FragmentReader a_;
  FragmentReader b_reader_;
  ScaleReader scales_a_;
  ScaleReader scales_b_;
};

// The sums of all waves that share k, through `lds`: by ShapeOfSums. Wave w
// puts its own, m * n * 4 bytes, at w * `wave_bytes`, where nothing may be in
// flight.
Values SumOverWaves(Builder& builder, const MatmulShape& shape, Value lds,
                    int wave_bytes, const Access& access, const Values& sums);

// One zero for all accumulators.
Values ZeroAccumulators(Builder& builder, const MatmulShape& shape);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_MATMUL_STEP_H_
