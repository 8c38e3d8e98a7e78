// Holds what an object says of itself against what its recipe promises.
#include <algorithm>

#include "compiler/code_object.h"

namespace ingot {
namespace {

absl::Status Broken(absl::string_view field, absl::string_view found,
                    absl::string_view expected) {
  return absl::FailedPreconditionError(absl::StrCat(
      "launch contract: ", field, ": found ", found, ", expected ", expected));
}

absl::Status Expect(absl::string_view field, uint64_t found,
                    uint64_t expected) {
  if (found == expected) return absl::OkStatus();
  return Broken(field, absl::StrCat(found), absl::StrCat(expected));
}

absl::Status AtMost(absl::string_view field, uint64_t found, uint64_t most) {
  if (found <= most) return absl::OkStatus();
  return Broken(field, absl::StrCat(found), absl::StrCat("at most ", most));
}

bool IsPointer(KernelArg::Kind kind) {
  return kind == KernelArg::kOperand || kind == KernelArg::kWorkspace ||
         kind == KernelArg::kPeer;
}

absl::Status CheckArgs(const CodeObjectDescription& description,
                       const KernelSpec& spec) {
  INGOT_RETURN_IF_ERROR(
      Expect("arguments", description.args.size(), spec.args.size()));
  uint32_t end = 0;
  for (size_t i = 0; i < spec.args.size(); ++i) {
    const KernelArg& expected = spec.args[i];
    const CodeObjectArg& found = description.args[i];
    const std::string field = absl::StrCat("argument ", i, " ", expected.name);
    const uint32_t offset =
        (end + expected.size - 1) / expected.size * expected.size;
    INGOT_RETURN_IF_ERROR(
        Expect(absl::StrCat(field, " offset"), found.offset, offset));
    INGOT_RETURN_IF_ERROR(
        Expect(absl::StrCat(field, " size"), found.size, expected.size));
    const absl::string_view kind =
        IsPointer(expected.kind) ? "global_buffer" : "by_value";
    if (found.kind != kind) {
      return Broken(absl::StrCat(field, " kind"), found.kind, kind);
    }
    end = offset + expected.size;
  }
  // The segment may be padded to its alignment, never hold more.
  const uint32_t alignment = std::max(8u, description.kernarg_alignment);
  if (description.kernarg_bytes < end ||
      description.kernarg_bytes - end >= alignment) {
    return Broken("kernarg bytes", absl::StrCat(description.kernarg_bytes),
                  absl::StrCat(end, ", padded to at most ", alignment));
  }
  return absl::OkStatus();
}

absl::Status CheckWorkgroup(const CodeObjectDescription& description,
                            const KernelSpec& spec) {
  uint64_t items = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    items *= spec.workgroup[axis];
    if (description.workgroup[axis] == 0) continue;
    INGOT_RETURN_IF_ERROR(Expect(absl::StrCat("workgroup axis ", axis),
                                 description.workgroup[axis],
                                 spec.workgroup[axis]));
  }
  return AtMost("workgroup items", items, description.max_workgroup);
}

}  // namespace

absl::Status CheckContract(const CodeObjectDescription& description,
                           const KernelSpec& spec) {
  if (description.symbol != spec.symbol) {
    return Broken("symbol", description.symbol, spec.symbol);
  }
  if (description.target != spec.target) {
    return Broken("target", description.target, spec.target);
  }
  INGOT_RETURN_IF_ERROR(Expect("wavefront", description.wavefront, 64));
  INGOT_RETURN_IF_ERROR(CheckArgs(description, spec));
  INGOT_RETURN_IF_ERROR(CheckWorkgroup(description, spec));
  INGOT_RETURN_IF_ERROR(
      AtMost("LDS bytes", description.lds_bytes, spec.lds_bytes));
  if (spec.scratch_allowed) return absl::OkStatus();
  INGOT_RETURN_IF_ERROR(AtMost("scratch bytes", description.scratch_bytes, 0));
  INGOT_RETURN_IF_ERROR(AtMost("VGPR spills", description.vgpr_spills, 0));
  return AtMost("SGPR spills", description.sgpr_spills, 0);
}

}  // namespace ingot
