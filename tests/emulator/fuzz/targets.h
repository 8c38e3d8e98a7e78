// What the fuzzers feed with arbitrary bytes. Each returns, whatever it gets;
// it aborts when the emulator breaks a promise that no sanitizer sees.
#ifndef TESTS_EMULATOR_FUZZ_TARGETS_H_
#define TESTS_EMULATOR_FUZZ_TARGETS_H_

#include <cstddef>
#include <cstdint>

namespace ingot::emulator::fuzz {

// A whole file: load it; if it loads, run each of its kernels for a while.
void CodeObjectBytes(const uint8_t* data, size_t size);
// A metadata note.
void MetadataBytes(const uint8_t* data, size_t size);
// Encoding words, decoded at every place with every number of words left.
void InstructionWords(const uint8_t* data, size_t size);
// Four bytes of geometry, then the words of a kernel: run it.
void KernelWords(const uint8_t* data, size_t size);

// The name is also that of the folder of tests/data/fuzz/emulator.
struct Target {
  const char* name;
  void (*run)(const uint8_t* data, size_t size);
};
inline constexpr Target kTargets[] = {
    {"code_object", &CodeObjectBytes},
    {"metadata", &MetadataBytes},
    {"instructions", &InstructionWords},
    {"kernel", &KernelWords},
};

}  // namespace ingot::emulator::fuzz

#endif  // TESTS_EMULATOR_FUZZ_TARGETS_H_
