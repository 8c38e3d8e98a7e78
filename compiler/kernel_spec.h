// A kernel exactly as it will be compiled: what is baked into the code and the
// contract by which it is launched. Its encoding is what the key is the SHA-256
// of, what the worker is sent, and what is stored beside the object.
#ifndef INGOT_COMPILER_KERNEL_SPEC_H_
#define INGOT_COMPILER_KERNEL_SPEC_H_

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/expr.h"
#include "proto/status.h"

namespace ingot {

// An argument of the launch contract, in kernarg order; each lies at the next
// offset that its size divides.
struct KernelArg {
  // Stored: never renumber. The numbers are those of plan.proto.
  enum Kind : int {
    kOperand = 0,
    kInteger = 1,
    kScalar = 2,
    kWorkspace = 3,
    kEpoch = 4,
    kPeer = 5,
  };
  std::string name;  // what the body calls it: "a", "lda", "alpha"
  Kind kind = kOperand;
  int index = 0;      // operand, scalar or peer index
  uint32_t size = 8;  // 4 or 8 bytes
  Expr offset;        // kOperand, kWorkspace: bytes added; kInteger: the value
};

using ParamValue = std::variant<int64_t, std::string>;

struct Param {
  std::string name;
  ParamValue value;
};

struct KernelSpec {
  std::string op;  // whose body builds it
  std::string
      symbol;  // the entry point, readable: "ingot_gemm_bf16_nt_128x128x64"
  std::string target;  // canonical
  std::string fingerprint;
  std::vector<Param>
      params;  // baked: dims, dtypes, attributes, tile; sorted by name
  std::vector<Param> codegen;  // options of the code generator; sorted by name
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  std::array<Expr, 3> grid;  // workgroups
  uint32_t lds_bytes = 0;    // static LDS that the body may use at most
  uint32_t dynamic_lds_bytes = 0;
  bool cooperative = false;
  bool scratch_allowed =
      false;  // spills and scratch refuse the kernel unless set
  std::vector<KernelArg> args;

  // The value of a baked parameter. The plan and the body of an op agree on the
  // names; a missing one is a bug in the op, so it is INTERNAL in Get*.
  absl::StatusOr<int64_t> GetInt(absl::string_view name) const;
  absl::StatusOr<std::string> GetString(absl::string_view name) const;
};

// Self-describing, length-prefixed; every field of KernelSpec is in it.
std::string EncodeKernelSpec(const KernelSpec& spec);
// INVALID_ARGUMENT for what EncodeKernelSpec cannot have written.
absl::StatusOr<KernelSpec> DecodeKernelSpec(absl::string_view encoding);

// SHA-256, 32 bytes.
std::string KernelKey(absl::string_view encoding);

}  // namespace ingot

#endif  // INGOT_COMPILER_KERNEL_SPEC_H_
