// Reductions over the lanes of a wave and the waves of a workgroup. Every lane
// gets the result, the same bits in each, whatever order the waves run in.
#ifndef INGOT_COMPILER_TILE_REDUCE_H_
#define INGOT_COMPILER_TILE_REDUCE_H_

#include "absl/functional/function_ref.h"
#include "compiler/tile/builder.h"

namespace ingot::tile {

// Combines two 32-bit values; associative enough for the caller, commutative to
// the bit (Fma is not, a + b and Max are).
using Combine = absl::FunctionRef<Value(Value, Value)>;

Value Sum(Value a, Value b);

// The lanes of a vector, as a balanced tree.
Value ReduceLanes(Value vector, Combine combine);
// Each `lanes` lanes, 2 to 16 and a power of two, counted from lane 0; all must
// be active.
Value ReduceNeighbours(Builder& builder, Value value, int lanes,
                       Combine combine);
// All 64 lanes, which must be active. No LDS.
Value ReduceWave(Builder& builder, Value value, Combine combine);
// All work-items of a one-dimensional workgroup of whole waves. Uses 4 bytes of
// LDS a wave and one barrier when there is more than one wave; `identity` is
// what `combine` does not notice.
Value ReduceWorkgroup(Builder& builder, Value value, Value identity,
                      Combine combine);

// The lanes before (Exclusive) or up to and with (Inclusive) each lane of the
// wave, combined in lane order; `identity` is what lane 0 has before it.
Value ScanWaveInclusive(Builder& builder, Value value, Value identity,
                        Combine combine);
Value ScanWaveExclusive(Builder& builder, Value value, Value identity,
                        Combine combine);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_REDUCE_H_
