#include "compiler/ops/op.h"

namespace ingot {

// Each op's plan source defines `extern constinit const OpDef k_op_<name>`.
#define INGOT_OP(name) extern const OpDef k_op_##name;
#include "compiler/ops/ops.def"
#undef INGOT_OP

namespace {

constexpr const OpDef* kOps[] = {
#define INGOT_OP(name) &k_op_##name,
#include "compiler/ops/ops.def"
#undef INGOT_OP
};

}  // namespace

absl::Span<const OpDef* const> AllOps() { return kOps; }

const OpDef* FindOp(absl::string_view name) {
  for (const OpDef* op : kOps) {
    if (name == op->name) return op;
  }
  return nullptr;
}

}  // namespace ingot
