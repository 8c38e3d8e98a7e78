#include "tests/emulator/profile/facts.h"

#include <charconv>

namespace ingot::profile {
namespace {

using emulator::Inst;
using emulator::OpClass;

Class ClassOf(const Inst& inst, std::string_view name) {
  switch (inst.op->cls) {
    case OpClass::kMfma:
      return Class::kMfma;
    case OpClass::kValu:
      return name == "v_nop" ? Class::kNop : Class::kValu;
    case OpClass::kTrans:
      return Class::kTrans;
    case OpClass::kSmem:
      return Class::kSmem;
    case OpClass::kLds:
      return Class::kLds;
    case OpClass::kVmem:
      return Class::kVmem;
    case OpClass::kLdsDma:
      return Class::kLdsDma;
    case OpClass::kBranch:
      return Class::kBranch;
    case OpClass::kWait:
      return Class::kWait;
    case OpClass::kBarrier:
      return Class::kBarrier;
    case OpClass::kSalu:
    case OpClass::kCount:
      break;
  }
  return name == "s_nop" ? Class::kNop : Class::kSalu;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Float operations of one lane: an fma counts two.
double LaneFlops(std::string_view name) {
  const bool packed = name.starts_with("v_pk_");
  const std::string_view op = name.substr(packed ? 5 : 2);
  const double lanes = packed ? 2 : 1;
  if (op.starts_with("dot2") && Has(op, "_f")) return 4;
  for (const char* fused : {"fma_", "fmac_", "mad_", "mac_", "fmamk_", "fmaak_",
                            "madmk_", "madak_"}) {
    if (op.starts_with(fused) && (Has(op, "_f") || Has(op, "mix"))) {
      return 2 * lanes;
    }
  }
  for (const char* one : {"add_f", "sub_f", "subrev_f", "mul_f"}) {
    if (op.starts_with(one)) return lanes;
  }
  return 0;
}

// Reads digits from the front of *text.
bool TakeNumber(std::string_view* text, int* value) {
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, *value);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  return true;
}

bool Take(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::optional<MatrixType> TypeOf(std::string_view suffix) {
  if (suffix == "f16" || suffix == "bf16") return MatrixType::kF16;
  if (suffix == "i8") return MatrixType::kI8;
  if (suffix == "f32") return MatrixType::kF32;
  if (suffix == "f64") return MatrixType::kF64;
  if (suffix == "f8f6f4") return MatrixType::kF8f6f4;
  if (suffix.starts_with("fp8_") || suffix.starts_with("bf8_")) {
    return MatrixType::kF8;
  }
  return std::nullopt;
}

// 6 for the smaller ones of f8f6f4.
int BitsOf(const MatrixShape& shape) {
  switch (shape.type) {
    case MatrixType::kF16:
      return 16;
    case MatrixType::kF8:
    case MatrixType::kI8:
      return 8;
    case MatrixType::kF8f6f4:
      return shape.eight_bit ? 8 : 6;
    case MatrixType::kF32:
      return 32;
    case MatrixType::kF64:
      return 64;
  }
  return 0;
}

void AddMatrix(const Inst& inst, std::string_view name, Facts* facts) {
  std::optional<MatrixShape> shape = ParseMatrix(name);
  if (!shape) return;
  shape->eight_bit = inst.cbsz <= 1 || inst.blgp <= 1;  // fp8 or bf8
  facts->clocks = MatrixPasses(*shape) * kPassClocks;
  facts->matrix_bits = BitsOf(*shape);
  facts->flops = MatrixFlops(*shape);
}

}  // namespace

const char* NameOf(Class c) {
  static constexpr const char* kNames[kClasses] = {
      "mfma", "valu",    "trans",  "salu", "smem",    "lds",
      "vmem", "lds_dma", "branch", "wait", "barrier", "nop"};
  return kNames[static_cast<int>(c)];
}

Facts FactsOf(const Inst& inst) {
  const std::string_view name = inst.op->name;
  Facts facts;
  facts.cls = ClassOf(inst, name);
  switch (facts.cls) {
    case Class::kMfma:
      AddMatrix(inst, name, &facts);
      break;
    case Class::kValu:
    case Class::kTrans:
      facts.clocks = facts.cls == Class::kTrans ? kTransClocks : kValuClocks;
      facts.flops = facts.cls == Class::kTrans ? 1 : LaneFlops(name);
      facts.by_lane = true;
      break;
    case Class::kSalu:
      facts.clocks = kSaluClocks;
      break;
    case Class::kNop:
      if (name == "s_nop") facts.slots = (inst.imm & 15) + 1;
      break;
    default:
      break;
  }
  facts.acc_move = name.starts_with("v_accvgpr_");
  facts.exchanges = name.starts_with("ds_swizzle") ||
                    name.starts_with("ds_permute") ||
                    name.starts_with("ds_bpermute");
  facts.calls = name.starts_with("s_swappc") || name.starts_with("s_call_");
  facts.ends = name.starts_with("s_endpgm");
  facts.goes_on =
      !facts.ends && name != "s_branch" && !name.starts_with("s_setpc");
  return facts;
}

std::optional<MatrixShape> ParseMatrix(std::string_view name) {
  MatrixShape shape;
  shape.sparse = Take(&name, "v_smfmac_");
  if (!shape.sparse && !Take(&name, "v_mfma_")) return std::nullopt;
  if (!Take(&name, "f32_") && !Take(&name, "i32_") && !Take(&name, "f64_")) {
    return std::nullopt;
  }
  if (!TakeNumber(&name, &shape.m) || !Take(&name, "x") ||
      !TakeNumber(&name, &shape.n) || !Take(&name, "x") ||
      !TakeNumber(&name, &shape.k) || !Take(&name, "_")) {
    return std::nullopt;
  }
  std::string_view blocks = name;
  int count = 0;
  if (TakeNumber(&blocks, &count) && Take(&blocks, "b_")) {
    shape.blocks = count;
    name = blocks;
  }
  const std::optional<MatrixType> type = TypeOf(name);
  if (!type) return std::nullopt;
  shape.type = *type;
  return shape;
}

Waits WaitsOf(const Inst& inst) {
  if (std::string_view(inst.op->name) != "s_waitcnt") return {};
  const int imm = inst.imm & 0xffff;
  return {.vm = (imm & 15) | imm >> 14 << 4,
          .exp = imm >> 4 & 7,
          .lgkm = imm >> 8 & 15};
}

std::string WaitText(const Inst& inst) {
  if (std::string_view(inst.op->name) != "s_waitcnt") return inst.op->name;
  const Waits waits = WaitsOf(inst);
  std::string text;
  const auto add = [&text](const char* counter, int left, int most) {
    if (left == most) return;
    if (!text.empty()) text += ' ';
    text += counter + ('(' + std::to_string(left) + ')');
  };
  add("vmcnt", waits.vm, kMostVm);
  add("expcnt", waits.exp, kMostExp);
  add("lgkmcnt", waits.lgkm, kMostLgkm);
  return text.empty() ? "-" : text;
}

}  // namespace ingot::profile
