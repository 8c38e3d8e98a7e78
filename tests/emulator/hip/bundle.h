// Clang's offload bundles: several targets' code objects in one file, as hipcc
// puts them into a host program.
#ifndef TESTS_EMULATOR_HIP_BUNDLE_H_
#define TESTS_EMULATOR_HIP_BUNDLE_H_

#include <cstddef>
#include <string>

namespace ingot::emulator::hip {

// Plain ("__CLANG_OFFLOAD_BUNDLE__") or compressed ("CCOB"). At most `size`
// bytes are read; a bare pointer has no size (kUnknownSize) and is trusted to
// hold what its header says.
bool IsBundle(const void* data, size_t size);

// The entry that fits a gfx950 best: the one for that processor with features
// that do not contradict the device, else one for gfx9-4-generic. A compressed
// bundle is unpacked into *unpacked, which must live as long as *object is
// used. Errors: kNoBinaryForGpu when no entry fits, kInvalidImage when it is
// damaged.
int FindInBundle(const void* data, size_t size, std::string* unpacked,
                 const void** object, size_t* object_size);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_BUNDLE_H_
