// A relocatable AMDGPU object to a code object, by LLD in this process.
#ifndef INGOT_COMPILER_TARGET_LINK_H_
#define INGOT_COMPILER_TARGET_LINK_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot::target {

// INTERNAL with LLD's words when it refuses the object. RESOURCE_EXHAUSTED when
// the system gives no memory for its files, or too little: what it links must
// fit a pipe (/proc/sys/fs/pipe-max-size, 1 MiB by default). Touches no disk,
// but needs /proc, by which LLD opens the files. Not thread-safe: LLD keeps its
// state in globals.
absl::StatusOr<std::string> LinkCodeObject(absl::string_view object);

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_LINK_H_
