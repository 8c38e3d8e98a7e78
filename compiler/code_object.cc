#include "compiler/code_object.h"

#include <cstring>
#include <limits>

#include "compiler/elf_view.h"
#include "compiler/msgpack.h"

namespace ingot {
namespace {

constexpr uint8_t kOsAbiHsa = 64;        // ELFOSABI_AMDGPU_HSA
constexpr size_t kDescriptorBytes = 64;  // the kernel descriptor, "<name>.kd"

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("code object: ", what));
}

// e_flags of code objects since version 4 (LLVM AMDGPUUsage, "ELF Code
// Object").
absl::StatusOr<std::string> TargetOf(uint32_t flags) {
  constexpr uint32_t kGfx950 = 0x4f;
  if ((flags & 0xff) != kGfx950) {
    return Damaged(absl::StrCat("processor ", absl::Hex(flags & 0xff),
                                " in e_flags, expected gfx950 (4f)"));
  }
  // Values of both two-bit fields: 0 unsupported, 1 any, 2 off, 3 on.
  static constexpr absl::string_view kSigns[] = {"", "", "-", "+"};
  const absl::string_view sramecc = kSigns[(flags >> 10) & 3];
  const absl::string_view xnack = kSigns[(flags >> 8) & 3];
  return absl::StrCat("gfx950", sramecc.empty() ? "" : ":sramecc", sramecc,
                      xnack.empty() ? "" : ":xnack", xnack);
}

uint32_t Narrow(uint64_t value, MsgReader* in, bool* fits) {
  if (!in->ok() || value > std::numeric_limits<uint32_t>::max()) *fits = false;
  return static_cast<uint32_t>(value);
}

CodeObjectArg ReadArg(MsgReader* in, bool* fits) {
  CodeObjectArg arg;
  const uint64_t fields = in->Map();
  for (uint64_t i = 0; i < fields && in->ok(); ++i) {
    const absl::string_view name = in->String();
    if (name == ".offset") {
      arg.offset = Narrow(in->Int(), in, fits);
    } else if (name == ".size") {
      arg.size = Narrow(in->Int(), in, fits);
    } else if (name == ".value_kind") {
      arg.kind = std::string(in->String());
    } else {
      in->Skip();
    }
  }
  return arg;
}

struct NumberField {
  absl::string_view name;
  uint32_t CodeObjectDescription::* member;
};

constexpr NumberField kNumberFields[] = {
    {".kernarg_segment_size", &CodeObjectDescription::kernarg_bytes},
    {".kernarg_segment_align", &CodeObjectDescription::kernarg_alignment},
    {".max_flat_workgroup_size", &CodeObjectDescription::max_workgroup},
    {".group_segment_fixed_size", &CodeObjectDescription::lds_bytes},
    {".private_segment_fixed_size", &CodeObjectDescription::scratch_bytes},
    {".vgpr_count", &CodeObjectDescription::vgprs},
    {".agpr_count", &CodeObjectDescription::agprs},
    {".sgpr_count", &CodeObjectDescription::sgprs},
    {".vgpr_spill_count", &CodeObjectDescription::vgpr_spills},
    {".sgpr_spill_count", &CodeObjectDescription::sgpr_spills},
    {".wavefront_size", &CodeObjectDescription::wavefront},
};

void ReadKernelField(absl::string_view name, MsgReader* in, bool* fits,
                     CodeObjectDescription* out) {
  for (const NumberField& field : kNumberFields) {
    if (name == field.name) {
      out->*field.member = Narrow(in->Int(), in, fits);
      return;
    }
  }
  if (name == ".name") {
    out->symbol = std::string(in->String());
  } else if (name == ".args") {
    const uint64_t count = in->Array();
    for (uint64_t i = 0; i < count && in->ok(); ++i) {
      out->args.push_back(ReadArg(in, fits));
    }
  } else if (name == ".reqd_workgroup_size") {
    if (in->Array() != 3) *fits = false;
    for (uint32_t& size : out->workgroup) size = Narrow(in->Int(), in, fits);
  } else {
    in->Skip();
  }
}

absl::Status ReadMetadata(absl::string_view note, CodeObjectDescription* out) {
  MsgReader in(note);
  bool fits = true;
  uint64_t kernels = 0;
  const uint64_t fields = in.Map();
  for (uint64_t i = 0; i < fields && in.ok(); ++i) {
    if (in.String() != "amdhsa.kernels") {
      in.Skip();
      continue;
    }
    kernels = in.Array();
    if (kernels != 1) break;
    const uint64_t kernel_fields = in.Map();
    for (uint64_t j = 0; j < kernel_fields && in.ok(); ++j) {
      ReadKernelField(in.String(), &in, &fits, out);
    }
  }
  if (!in.ok() || !fits) return Damaged("malformed metadata");
  if (kernels != 1) {
    return Damaged(absl::StrCat(kernels, " kernels, expected exactly one"));
  }
  return absl::OkStatus();
}

// The descriptor is what the hardware obeys, the note what loaders read: an
// object in which they differ is damaged.
absl::Status CheckDescriptor(absl::string_view descriptor,
                             const CodeObjectDescription& description) {
  if (descriptor.size() != kDescriptorBytes) {
    return Damaged(absl::StrCat("descriptor of ", descriptor.size(), " bytes"));
  }
  uint32_t words[3];
  std::memcpy(words, descriptor.data(), sizeof(words));
  if (words[0] != description.lds_bytes ||
      words[1] != description.scratch_bytes ||
      words[2] != description.kernarg_bytes) {
    return Damaged("descriptor and metadata differ in LDS, scratch or kernarg");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CodeObjectDescription> DescribeCodeObject(
    absl::string_view elf) {
  INGOT_ASSIGN_OR_RETURN(const ElfView view, ParseElf(elf));
  if (view.abi != kOsAbiHsa || view.abi_version < 2 || view.abi_version > 4) {
    return Damaged(absl::StrCat("OS ABI ", view.abi, " version ",
                                view.abi_version,
                                ", expected HSA code object 4 to 6"));
  }
  CodeObjectDescription out;
  out.elf_flags = view.flags;
  out.code_object_version = view.abi_version + 2;
  INGOT_ASSIGN_OR_RETURN(out.target, TargetOf(view.flags));
  INGOT_RETURN_IF_ERROR(ReadMetadata(view.metadata, &out));
  const std::string descriptor_name = absl::StrCat(out.symbol, ".kd");
  bool has_descriptor = false;
  for (const ElfSymbol& symbol : view.symbols) {
    if (symbol.name == descriptor_name) {
      has_descriptor = true;
      INGOT_RETURN_IF_ERROR(CheckDescriptor(view.Contents(symbol), out));
    } else if (symbol.name == out.symbol && symbol.is_function) {
      out.code_bytes = static_cast<uint32_t>(view.Contents(symbol).size());
    }
  }
  if (!has_descriptor || out.code_bytes == 0) {
    return Damaged(absl::StrCat("no code or descriptor of ", out.symbol));
  }
  return out;
}

}  // namespace ingot
