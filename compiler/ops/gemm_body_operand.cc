#include "compiler/ops/gemm_body_operand.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace ingot {

tile::Value GemmOperand(tile::Builder& b, absl::string_view name,
                        tile::Type elem) {
  const tile::Value base = b.Arg(name);
  const std::string stride = absl::StrCat("batch_", name);
  if (!b.HasArg(stride)) return base;
  return Offset(base,
                Convert(b.BlockZ(), tile::kI64) * b.Arg(stride) * elem.Bytes());
}

}  // namespace ingot
