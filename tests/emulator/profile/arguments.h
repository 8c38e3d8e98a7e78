// Kernel arguments from a command line or a file, and the memory they point to.
#ifndef TESTS_EMULATOR_PROFILE_ARGUMENTS_H_
#define TESTS_EMULATOR_PROFILE_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/profile/profile.h"

namespace ingot::profile {

// For --help; every form is `TYPE:VALUE`.
inline constexpr char kArgumentForms[] =
    "i8|i16|i32|i64|u8|u16|u32|u64:INTEGER, f16|bf16|f32|f64:NUMBER, "
    "hex:BYTES as they lie in memory, or ptr:SIZE[:FILL] for fresh memory of "
    "SIZE bytes (K, M, G: times 1024). FILL: zero (default), random-bf16, "
    "random-f16, random-f32 (normal), iota-i32 (0, 1, 2, ...) or file=PATH";

struct Argument {
  std::string value;   // its bytes; empty: a pointer
  uint64_t bytes = 0;  // of the memory pointed to
  std::string fill;
  uint64_t offset = 0;  // of the pointer in that memory
  bool pointer() const { return value.empty(); }
};

// INVALID_ARGUMENT naming what was found and what is allowed.
absl::StatusOr<Argument> ParseArgument(absl::string_view text);

// A JSON array of objects: {"type": "ptr", "bytes": 4096, "fill": "zero",
// "offset": 16} or {"type": "i32", "value": 5}. Integers beyond 2^53 are
// written as strings.
absl::StatusOr<std::vector<Argument>> ParseArgumentsJson(
    const std::string& text);

// Fills memory as an argument's FILL says.
absl::Status Fill(absl::string_view fill, void* memory, uint64_t bytes);

// The kernarg segment, by the kernel's metadata or, where it has none, each
// value aligned to its size. Allocates from `device`.
absl::StatusOr<std::string> LayOut(const std::vector<Argument>& arguments,
                                   const emulator::KernelInfo& kernel,
                                   emulator::Device& device);

// The allocations that pointers in a kernarg segment lead to, named by the
// pointer's offset in it.
std::vector<Buffer> BuffersOf(const emulator::MemoryMap& memory,
                              absl::string_view kernarg);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_ARGUMENTS_H_
