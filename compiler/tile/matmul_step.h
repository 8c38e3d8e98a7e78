// What both k loops of matmul.h are made of: reading a step's fragments out of
// LDS and multiplying them, as lists of operations that a loop puts in order.
#ifndef INGOT_COMPILER_TILE_MATMUL_STEP_H_
#define INGOT_COMPILER_TILE_MATMUL_STEP_H_

#include <vector>

#include "compiler/tile/fragment.h"
#include "compiler/tile/issue_order.h"
#include "compiler/tile/matmul.h"

namespace ingot::tile {

struct StepBases {
  Values a;
  Values b;
};

// A step is read in sets of 32 k. In LDS its A panel comes first.
class StepReader {
 public:
  StepReader(Builder& builder, const MatmulShape& shape, const Panel& a,
             const Panel& b);

  int sets() const { return shape_.k / kFragmentK; }
  int parts_per_set() const;

  StepBases Bases(Value lds, int offset);
  StepBases Bases(Value lds, Value offset);

  // Operations that read a set into `parts`; `bases` and `parts` must outlive
  // them.
  std::vector<Emit> Reads(const StepBases& bases, int set, const Access& access,
                          Values* parts);
  // Operations that multiply a set into `accumulators`, in serpentine order.
  std::vector<Emit> Multiplies(int set, const Values* parts,
                               Values* accumulators);

 private:
  Value Operand(const FragmentReader& reader, const Values& parts, int first,
                int fragment) const;

  Builder& b_;
  MatmulShape shape_;
  FragmentReader a_;
  FragmentReader b_reader_;
  int b_offset_;
};

// One zero for all accumulators.
Values ZeroAccumulators(Builder& builder, const MatmulShape& shape);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_MATMUL_STEP_H_
