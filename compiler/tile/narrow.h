// f32 values rounded to 8- and 4-bit floats (OCP OFP8 and MX 1.0), for kernels
// that quantise what they write.
#ifndef INGOT_COMPILER_TILE_NARROW_H_
#define INGOT_COMPILER_TILE_NARROW_H_

#include "compiler/tile/builder.h"

namespace ingot::tile {

// Each lane of `x` (f32; one lane, or a multiple of four) to the nearest
// e4m3fn, ties to even, as bytes. Magnitudes above 464, to which 448 is no
// longer the nearest, and NaN become NaN.
Value ToE4M3(Value x);

// The e8m0 scale (i32, 0 to 255) of a block whose largest magnitude is `amax`
// (f32): 2^(floor(log2(amax)) - emax), with emax the exponent of the format's
// largest number; at least 2^-127, also for a block of zeros; 255, which is
// NaN, where amax is infinite or NaN. E4M3 or E2M1.
Value MxScaleOf(MxFormat format, Value amax);

// Each lane of `x` (f32, a multiple of four lanes)
// divided by its block's scale (i32, e8m0), to the nearest number of the
// format, ties to even, beyond the largest to the largest. Packed along lanes,
// the first in the lowest bits: bytes.
Value ToMx(MxFormat format, Value x, Value scale);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_NARROW_H_
