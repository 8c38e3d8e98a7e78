// Copies and fills from the forms in which HIP's callers state them.
#ifndef TESTS_EMULATOR_HIP_COPY_H_
#define TESTS_EMULATOR_HIP_COPY_H_

#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/operation.h"

namespace ingot::emulator::hip {

// Memory at `pointer`, which may be null, with what HIP knows about it.
Region MakeRegion(const void* pointer, size_t pitch = 0, size_t slice = 0);

CopyOp LinearCopy(void* to, const void* from, size_t bytes, int kind);
FillOp LinearFill(void* to, unsigned value, unsigned element, size_t count);

// kNotSupported for copies of HIP arrays (textures).
int MakeCopy(const Copy3dParams& params, CopyOp* copy);
int MakeCopy(const DriverCopy3dParams& params, CopyOp* copy);
int MakeFill(const MemsetParams& params, FillOp* fill);

// Whether there is anything to do; HIP accepts empty copies and fills and does
// nothing, whatever the pointers.
inline bool Empty(const CopyOp& c) {
  return c.width == 0 || c.height == 0 || c.depth == 0;
}
inline bool Empty(const FillOp& f) {
  return f.width == 0 || f.height == 0 || f.depth == 0;
}

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_COPY_H_
