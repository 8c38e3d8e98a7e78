// Operands of gemm inside a kernel.
#ifndef INGOT_COMPILER_OPS_GEMM_BODY_OPERAND_H_
#define INGOT_COMPILER_OPS_GEMM_BODY_OPERAND_H_

#include "absl/strings/string_view.h"
#include "compiler/tile/builder.h"

namespace ingot {

// Where the operand begins for the workgroup: in a batch, each z of the grid
// has a matrix of its own.
tile::Value GemmOperand(tile::Builder& builder, absl::string_view name,
                        tile::Type elem);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_BODY_OPERAND_H_
