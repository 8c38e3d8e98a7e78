#include "compiler/ops/body.h"

namespace ingot {

BodyFunction FindBody(absl::string_view op) {
#define INGOT_OP(name) \
  if (op == #name) return &Build_##name;
#include "compiler/ops/ops.def"
#undef INGOT_OP
  return nullptr;
}

}  // namespace ingot
