// How the code half finds the body of an op: every name of ops.def has one
// function, in ops/<name>_body.cc, that writes its kernels with the tile
// builder.
#ifndef INGOT_COMPILER_OPS_BODY_H_
#define INGOT_COMPILER_OPS_BODY_H_

#include "absl/strings/string_view.h"
#include "compiler/kernel_spec.h"
#include "compiler/tile/builder.h"
#include "proto/status.h"

namespace ingot {

// Writes the kernel that `spec` describes into `builder`, whose arguments are
// those of the spec; the return is written by the pipeline. FAILED_PRECONDITION
// for what cannot fit the target, INTERNAL for parameters that the op's plan
// cannot have written.
using BodyFunction = absl::Status (*)(tile::Builder& builder,
                                      const KernelSpec& spec);

// Build_<op> is defined in ops/<op>_body.cc.
#define INGOT_OP(op) \
  absl::Status Build_##op(tile::Builder& builder, const KernelSpec& spec);
#include "compiler/ops/ops.def"
#undef INGOT_OP

// nullptr for an op that this build does not have.
BodyFunction FindBody(absl::string_view op);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_BODY_H_
