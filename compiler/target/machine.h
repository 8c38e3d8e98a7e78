// The AMDGPU target of LLVM as this process uses it.
#ifndef INGOT_COMPILER_TARGET_MACHINE_H_
#define INGOT_COMPILER_TARGET_MACHINE_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "llvm/Target/TargetMachine.h"
#include "proto/status.h"

namespace ingot::target {

inline constexpr char kTriple[] = "amdgcn-amd-amdhsa";

// Registers the target with LLVM. Idempotent.
void InitializeTarget();

// A canonical target id ("gfx950:sramecc+:xnack-") as processor and LLVM
// feature string ("gfx950", "+sramecc,-xnack"). A feature that is not named
// stays open, and the object then loads on devices with either setting.
struct TargetId {
  std::string processor;
  std::string features;
};
absl::StatusOr<TargetId> ParseTargetId(absl::string_view target);

// The machine for a canonical target id: made once, kept for the process.
absl::StatusOr<llvm::TargetMachine*> MachineFor(absl::string_view target);

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_MACHINE_H_
