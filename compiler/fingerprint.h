// Identity of the code that compiles an op: SHA-256 over its body, tile/,
// passes/, target/, the flags they are compiled with, and LLVM, MLIR and LLD as
// archives. Computed when Ingot is built, so a daemon knows it with no worker.
#ifndef INGOT_COMPILER_FINGERPRINT_H_
#define INGOT_COMPILER_FINGERPRINT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot {

// 32 bytes. UNIMPLEMENTED for an op that this build does not have.
absl::StatusOr<std::string> OpFingerprint(absl::string_view op);

// "LLVM 22.1.8"
absl::string_view CompilerVersion();

}  // namespace ingot

#endif  // INGOT_COMPILER_FINGERPRINT_H_
