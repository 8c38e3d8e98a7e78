// The table that fingerprint.cmake writes when Ingot is built.
#ifndef INGOT_COMPILER_FINGERPRINT_TABLE_H_
#define INGOT_COMPILER_FINGERPRINT_TABLE_H_

#include <cstddef>

namespace ingot {

struct FingerprintEntry {
  const char* op;
  const char* hex;  // 64 digits
};

extern const FingerprintEntry kFingerprintTable[];
extern const size_t kFingerprintTableSize;
extern const char kCompilerVersion[];

}  // namespace ingot

#endif  // INGOT_COMPILER_FINGERPRINT_TABLE_H_
