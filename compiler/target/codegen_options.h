// The codegen options of a kernel spec, which its op's plan chooses and its key
// contains:
//
//   opt          "none", "light" (default) or "full": how much of LLVM's middle
//   end reorder      0: instructions keep the order of the body, both machine
//                schedulers are off; 1 (default): LLVM may reorder them
//   agpr_alloc   AccVGPRs that instructions may use; 0 leaves all registers to
//                VGPRs. Absent: LLVM's choice
//   waves_per_eu "min,max" waves a SIMD
//   schedule     strategy of the machine scheduler; absent: LLVM's default
//   preload      how many leading arguments arrive in SGPRs; 0 by default
#ifndef INGOT_COMPILER_TARGET_CODEGEN_OPTIONS_H_
#define INGOT_COMPILER_TARGET_CODEGEN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/kernel_spec.h"
#include "proto/status.h"

namespace ingot::target {

// A body that emits its hot loop in final order wants none of the middle end;
// one that leans on the optimiser wants all.
enum class Optimization { kNone, kLight, kFull };

struct CodegenOptions {
  Optimization optimization = Optimization::kLight;
  bool reorder = true;
  std::optional<int64_t> agpr_alloc;
  std::string waves_per_eu;  // empty: absent
  std::string schedule;      // empty: absent
  int64_t preload = 0;
};

// INVALID_ARGUMENT naming what is unknown or out of range: LLVM would ignore it
// in silence.
absl::StatusOr<CodegenOptions> ReadCodegenOptions(const KernelSpec& spec);

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_CODEGEN_OPTIONS_H_
