// What the fuzzers of the service feed with arbitrary bytes: everything that
// comes from outside the daemon or from its disk. Each returns, whatever it
// gets; it aborts when a promise is broken that no sanitizer sees.
#ifndef INGOT_TESTS_FUZZ_TARGETS_H_
#define INGOT_TESTS_FUZZ_TARGETS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace ingot::fuzz {

// A GetKernelRequest: looked at in place, parsed, its spec canonicalised by
// daemon and client, planned.
void RequestBytes(const uint8_t* data, size_t size);
// What the store keeps: values of its tables, a record, a key's encoding; a
// record's size, the record and an object.
void RecordBytes(const uint8_t* data, size_t size);
// A configuration file.
void ConfigBytes(const uint8_t* data, size_t size);
// A bundle: opened, then every part of it read.
void BundleBytes(const uint8_t* data, size_t size);

// The name is also that of the corpus in tests/data/fuzz/service.
struct Target {
  const char* name;
  void (*run)(const uint8_t* data, size_t size);
};
inline constexpr Target kTargets[] = {
    {"request", &RequestBytes},
    {"record", &RecordBytes},
    {"config", &ConfigBytes},
    {"bundle", &BundleBytes},
};

// Says where and aborts, so that the fuzzer keeps the input.
inline void Expect(bool promise, const std::source_location& where =
                                     std::source_location::current()) {
  if (promise) return;
  std::fprintf(stderr, "%s:%u: a promise is broken\n", where.file_name(),
               static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_TARGETS_H_
