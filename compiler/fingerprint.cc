#include "compiler/fingerprint.h"

#include "absl/strings/escaping.h"
#include "compiler/fingerprint_table.h"

namespace ingot {

absl::StatusOr<std::string> OpFingerprint(absl::string_view op) {
  for (size_t i = 0; i < kFingerprintTableSize; ++i) {
    if (op == kFingerprintTable[i].op) {
      return absl::HexStringToBytes(kFingerprintTable[i].hex);
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("op: \"", op, "\" is not known to this build"));
}

absl::string_view CompilerVersion() { return kCompilerVersion; }

}  // namespace ingot
