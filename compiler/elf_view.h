// A bounds-checked view of the parts of an ELF64 file that a code object is
// judged by. Nothing is copied; the view lives as long as the bytes.
#ifndef INGOT_COMPILER_ELF_VIEW_H_
#define INGOT_COMPILER_ELF_VIEW_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot {

struct ElfSymbol {
  absl::string_view name;
  uint64_t address = 0;
  uint64_t size = 0;
  bool is_function = false;
};

struct ElfView {
  absl::string_view bytes;
  uint8_t abi = 0;                 // EI_OSABI
  uint8_t abi_version = 0;         // EI_ABIVERSION
  uint32_t flags = 0;              // e_flags
  absl::string_view metadata;      // desc of the NT_AMDGPU_METADATA note
  std::vector<ElfSymbol> symbols;  // .dynsym, defined ones

  // The file bytes of a symbol's range, by the loadable segments; empty when
  // they are not in the file.
  absl::string_view Contents(const ElfSymbol& symbol) const;
};

// DATA_LOSS for what is no little-endian ELF64 shared object for AMDGPU with
// one metadata note and a dynamic symbol table inside the bytes.
absl::StatusOr<ElfView> ParseElf(absl::string_view bytes);

}  // namespace ingot

#endif  // INGOT_COMPILER_ELF_VIEW_H_
