// Reads what an AMD code object says of itself (ELF header, kernel descriptor,
// NT_AMDGPU_METADATA note) and holds it against a launch contract. No LLVM: the
// daemon checks every object it publishes or reads back, and bytes may be
// damaged or hostile, so everything is bounds-checked.
#ifndef INGOT_COMPILER_CODE_OBJECT_H_
#define INGOT_COMPILER_CODE_OBJECT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/kernel_spec.h"
#include "proto/status.h"

namespace ingot {

struct CodeObjectArg {
  uint32_t offset = 0;
  uint32_t size = 0;
  std::string kind;  // .value_kind
};

struct CodeObjectDescription {
  std::string symbol;
  std::string target;  // canonical, from e_flags
  uint32_t elf_flags = 0;
  uint32_t code_object_version = 0;
  uint32_t kernarg_bytes = 0;
  uint32_t kernarg_alignment = 0;
  std::vector<CodeObjectArg> args;
  uint32_t max_workgroup = 0;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};  // required size, or zeros
  uint32_t lds_bytes = 0;
  uint32_t scratch_bytes = 0;
  uint32_t vgprs = 0;  // AccVGPRs included
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  uint32_t vgpr_spills = 0;
  uint32_t sgpr_spills = 0;
  uint32_t wavefront = 0;
  uint32_t code_bytes = 0;
};

// DATA_LOSS for what is no code object with exactly one kernel.
absl::StatusOr<CodeObjectDescription> DescribeCodeObject(absl::string_view elf);

// Whether `description` is what `spec` promises a client: symbol, target,
// argument offsets and sizes, workgroup, LDS, no scratch or spills unless
// allowed. FAILED_PRECONDITION naming the field, found and expected.
absl::Status CheckContract(const CodeObjectDescription& description,
                           const KernelSpec& spec);

struct Occupancy {
  int waves_per_simd = 0;
  std::string limited_by;  // vgprs, sgprs, lds, waves
};

// On gfx950 (CDNA4 ISA and LLVM AMDGPUUsage: 512 registers a lane, granule 8;
// 160 KiB of LDS, granule 1280 B; at most 8 waves a SIMD).
Occupancy OccupancyOf(const CodeObjectDescription& description,
                      uint32_t workgroup_items, uint32_t dynamic_lds_bytes);

}  // namespace ingot

#endif  // INGOT_COMPILER_CODE_OBJECT_H_
