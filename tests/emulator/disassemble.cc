#include "tests/emulator/disassemble.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace ingot::emulator {
namespace {

[[gnu::format(printf, 1, 2)]] std::string Text(const char* format, ...) {
  char text[64];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

std::string Range(const char* file, uint32_t first, uint32_t count) {
  if (count <= 1) return Text("%s%u", file, first);
  return Text("%s[%u:%u]", file, first, first + count - 1);
}

std::string Vgprs(uint32_t first, uint32_t count) {
  return first < kAccBase ? Range("v", first, count)
                          : Range("a", first - kAccBase, count);
}

std::string Sgprs(uint32_t first, uint32_t count) {
  static constexpr struct {
    uint32_t number;
    const char* name;
  } kPairs[] = {{kFlatScratch, "flat_scratch"},
                {104, "xnack_mask"},
                {kVcc, "vcc"},
                {kExec, "exec"}};
  for (const auto& p : kPairs) {
    if (first != p.number && first != p.number + 1) continue;
    if (count == 2) return p.name;
    if (count <= 1)
      return std::string(p.name) + (first == p.number ? "_lo" : "_hi");
  }
  if (first == kM0) return "m0";
  if (first >= 108 && first < 124) return Range("ttmp", first - 108, count);
  return Range("s", first, count);
}

std::string Constant(const Operand& o, SrcKind kind) {
  static constexpr const char* kFloats[] = {
      "0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"};
  const int code = o.reg;
  if (code <= 192) return Text("%d", code - 128);
  if (code <= 208) return Text("%d", 192 - code);
  if (code == 235) return "src_shared_base";
  if (code == 236) return "src_shared_limit";
  if (code == 237) return "src_private_base";
  if (code == 238) return "src_private_limit";
  if (code >= 240 && code <= 248 && kind != SrcKind::kB16)
    return kFloats[code - 240];
  uint64_t value = o.value;
  if (kind == SrcKind::kF64) value >>= 32;
  if (kind == SrcKind::kF16 || kind == SrcKind::kB16) value &= 0xffff;
  return Text("0x%x", static_cast<uint32_t>(value));
}

std::string Source(const Operand& o, SrcKind kind, uint32_t words) {
  switch (o.kind) {
    case Operand::kVgpr:
      return Vgprs(o.reg, words);
    case Operand::kSgpr:
      return Sgprs(o.reg, words);
    case Operand::kConst:
      return Constant(o, kind);
    case Operand::kVccz:
      return "src_vccz";
    case Operand::kExecz:
      return "src_execz";
    case Operand::kScc:
      return "src_scc";
    default:
      return "off";
  }
}

// Operands and modifiers as they are collected.
struct Line {
  std::string operands, modifiers;
  void Add(const std::string& operand) {
    operands += (operands.empty() ? " " : ", ") + operand;
  }
  void Modify(const std::string& modifier) { modifiers += " " + modifier; }
  void If(bool on, const char* modifier) {
    if (on) Modify(modifier);
  }
  // "op_sel:[0,1]" where the bits differ from what is usual.
  void Bits(const char* name, uint32_t bits, int count, uint32_t usual = 0) {
    bits &= (1u << count) - 1;
    if (bits == (usual & ((1u << count) - 1))) return;
    std::string list;
    for (int n = 0; n < count; ++n)
      list += Text("%s%u", n == 0 ? "" : ",", bits >> n & 1);
    Modify(std::string(name) + ":[" + list + "]");
  }
};

int SourceCount(const OpInfo& op) {
  int n = 0;
  while (n < 3 && op.src_kind[n] != SrcKind::kNone) ++n;
  return n;
}

// ---- Scalar ----

void Scalar(const Inst& i, Format format, Line* line) {
  const OpInfo& op = *i.op;
  if (format == Format::kSopp) {
    line->Add(Text("%d", i.imm & 0xffff));
    return;
  }
  const bool sdst =
      format != Format::kSopc &&
      ((op.flags & kNoSdst) == 0 ? op.dst_words > 0 : format == Format::kSopk);
  if (sdst) line->Add(Sgprs(i.dst, op.dst_words));
  if (format == Format::kSopk) line->Add(Text("%d", i.imm & 0xffff));
  for (int n = 0; n < 2; ++n) {
    if (i.src[n].kind != Operand::kNone)
      line->Add(Source(i.src[n], op.src_kind[n], op.src_words[n]));
  }
}

void ScalarMemory(const Inst& i, Line* line) {
  const OpInfo& op = *i.op;
  const uint32_t data = op.src_words[1] > 0 ? op.src_words[1] : op.dst_words;
  if (data > 0) line->Add(Sgprs(i.dst, data));
  if (op.src_words[0] == 0) return;
  line->Add(Sgprs(i.saddr, op.src_words[0]));
  if (i.src[0].kind == Operand::kSgpr) line->Add(Sgprs(i.src[0].reg, 1));
  if (i.src[0].kind != Operand::kSgpr || i.imm != 0) {
    const std::string offset = Text("0x%x", static_cast<uint32_t>(i.imm));
    if (std::string_view(op.name).starts_with("s_dcache_discard")) {
      line->Add(offset);
    } else {
      line->Modify("offset:" + offset);
    }
  }
  line->If(i.sc0, "glc");
}

// ---- Vector ----

// Integers ignore the signs that floats take.
bool TakesSigns(SrcKind k) {
  return k == SrcKind::kF32 || k == SrcKind::kF16 || k == SrcKind::kF64 ||
         k == SrcKind::kBf16 || k == SrcKind::kPk16 || k == SrcKind::kVgprs;
}

std::string Modified(const Inst& i, int n, const std::string& source) {
  std::string s = source;
  if (i.extra == Extra::kSdwa && (i.src_sext >> n & 1) != 0)
    s = "sext(" + s + ")";
  if (!TakesSigns(i.op->src_kind[n])) return s;
  if ((i.abs >> n & 1) != 0) s = "|" + s + "|";
  if ((i.neg >> n & 1) != 0) s = "-" + s;
  return s;
}

const char* SdwaName(int sel) {
  static constexpr const char* kNames[] = {
      "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"};
  return kNames[sel];
}

void SdwaModifiers(const Inst& i, Line* line) {
  static constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT",
                                            "UNUSED_PRESERVE", "?"};
  if ((i.op->flags & kCompare) == 0) {
    line->Modify(std::string("dst_sel:") + SdwaName(i.dst_sel));
    line->Modify(std::string("dst_unused:") + kUnused[i.dst_unused]);
  }
  line->Modify(std::string("src0_sel:") + SdwaName(i.src_sel[0]));
  if (i.src[1].kind != Operand::kNone)
    line->Modify(std::string("src1_sel:") + SdwaName(i.src_sel[1]));
}

std::string DppControl(uint32_t c) {
  const uint32_t n = c & 15;
  if (c < 0x100)
    return Text("quad_perm:[%u,%u,%u,%u]", c & 3, c >> 2 & 3, c >> 4 & 3,
                c >> 6 & 3);
  switch (c >> 4) {
    case 0x10:
      return Text("row_shl:%u", n);
    case 0x11:
      return Text("row_shr:%u", n);
    case 0x12:
      return Text("row_ror:%u", n);
    case 0x15:
      return Text("row_newbcast:%u", n);
  }
  switch (c) {
    case 0x130:
      return "wave_shl:1";
    case 0x134:
      return "wave_rol:1";
    case 0x138:
      return "wave_shr:1";
    case 0x13c:
      return "wave_ror:1";
    case 0x140:
      return "row_mirror";
    case 0x141:
      return "row_half_mirror";
    case 0x142:
      return "row_bcast:15";
    case 0x143:
      return "row_bcast:31";
  }
  return Text("dpp_ctrl:0x%x", c);
}

void VectorResult(const Inst& i, Line* line) {
  const OpInfo& op = *i.op;
  if ((op.flags & kCompare) != 0) {
    line->Add(Sgprs(i.sdst, 2));
    return;
  }
  if ((op.flags & kWritesSgpr) != 0) {
    line->Add(Sgprs(i.dst, 1));
  } else if (op.dst_words > 0) {
    line->Add(Vgprs(i.dst, op.dst_words));
  }
  if ((op.flags & kWritesMask) != 0) line->Add(Sgprs(i.sdst, 2));
}

void Vector(const Inst& i, Line* line) {
  const OpInfo& op = *i.op;
  VectorResult(i, line);
  const bool table =
      op.src_kind[2] != SrcKind::kNone && (op.flags & kTruthTable) != 0;
  for (int n = 0; n < 3; ++n) {
    const bool implied = n == 2 && (op.flags & kReadsDst) != 0;
    if (i.src[n].kind == Operand::kNone || implied) continue;
    const std::string s = Source(i.src[n], op.src_kind[n],
                                 std::max<uint32_t>(op.src_words[n], 1));
    line->Add(table ? s : Modified(i, n, s));
  }
  if (table) {
    line->Bits("op_sel", i.op_sel, 4);
    line->Modify(Text("bitop3:0x%x",
                      uint32_t{i.omod} << 6 | uint32_t{i.abs} << 3 | i.neg));
    return;
  }
  if ((op.flags & kSwaps) != 0) {
    line->If((i.op_sel & 2) != 0, "bound_ctrl:1");
    line->If((i.op_sel & 1) != 0, "fi:1");
  } else {
    line->Bits("op_sel", i.op_sel, 4);
  }
  line->If(i.clamp, "clamp");
  static constexpr const char* kOmod[] = {"", "mul:2", "mul:4", "div:2"};
  line->If(i.omod != 0, kOmod[i.omod]);
  if (i.extra == Extra::kSdwa) SdwaModifiers(i, line);
  if (i.extra == Extra::kDpp) {
    line->Modify(DppControl(i.dpp_ctrl));
    line->Modify(Text("row_mask:0x%x", i.row_mask));
    line->Modify(Text("bank_mask:0x%x", i.bank_mask));
    line->If(i.bound_ctrl, "bound_ctrl:1");
  }
}

void Packed(const Inst& i, Line* line) {
  const OpInfo& op = *i.op;
  VectorResult(i, line);
  const int count = SourceCount(op);
  // v_fma_mix takes signs as VOP3 does.
  const bool mix = op.src_kind[0] == SrcKind::kF32;
  for (int n = 0; n < count; ++n) {
    const std::string s = Source(i.src[n], op.src_kind[n],
                                 std::max<uint32_t>(op.src_words[n], 1));
    line->Add(mix ? Modified(i, n, s) : s);
  }
  line->Bits("op_sel", i.op_sel, count);
  line->Bits("op_sel_hi", i.op_sel_hi, count, mix ? 0 : 7);
  line->Bits("neg_lo", mix ? 0 : i.neg, count);
  line->Bits("neg_hi", mix ? 0 : i.abs, count);
  line->If(i.clamp, "clamp");
}

void Matrix(const Inst& i, Line* line) {
  static constexpr uint32_t kWords[] = {8, 8, 6, 6, 4};
  const OpInfo& op = *i.op;
  const bool formats = (op.flags & kScaled) != 0;
  line->Add(Vgprs(i.dst, op.dst_words));
  line->Add(Source(i.src[0], op.src_kind[0],
                   formats ? kWords[i.cbsz] : op.src_words[0]));
  line->Add(Source(i.src[1], op.src_kind[1],
                   formats ? kWords[i.blgp] : op.src_words[1]));
  line->Add(Source(i.src[2], op.src_kind[2], op.src_words[2]));
  if (i.scaled) {
    line->Add(Source(i.scale[0], SrcKind::kB32, 1));
    line->Add(Source(i.scale[1], SrcKind::kB32, 1));
    line->Bits("op_sel", (i.scale_sel[0] & 1) | (i.scale_sel[1] & 1) << 1, 3);
    line->Bits("op_sel_hi", i.scale_sel[0] >> 1 | i.scale_sel[1] >> 1 << 1, 3,
               7);
  }
  if (i.cbsz != 0) line->Modify(Text("cbsz:%u", i.cbsz));
  if (i.abid != 0 && !formats) line->Modify(Text("abid:%u", i.abid));
  if (op.src_kind[0] == SrcKind::kF64) {
    line->Bits("neg", i.blgp, 3);
  } else if (i.blgp != 0) {
    line->Modify(Text("blgp:%u", i.blgp));
  }
}

// ---- Memory ----

void Lds(const Inst& i, Line* line) {
  const OpInfo& op = *i.op;
  if ((op.flags & kReturns) != 0) line->Add(Vgprs(i.dst, op.dst_words));
  if ((op.flags & kNoAddress) == 0) line->Add(Vgprs(i.src[0].reg, 1));
  if (op.src_words[1] > 0) line->Add(Vgprs(i.data, op.src_words[1]));
  if ((op.flags & kTwoData) != 0) line->Add(Vgprs(i.data1, op.src_words[1]));
  if ((op.flags & kTwoAddress) != 0) {
    if ((i.imm & 0xff) != 0) line->Modify(Text("offset0:%d", i.imm & 0xff));
    if (i.imm >> 8 != 0) line->Modify(Text("offset1:%d", i.imm >> 8));
  } else if (i.imm != 0) {
    line->Modify(Text("offset:%d", i.imm));
  }
}

void Scope(const Inst& i, Line* line) {
  line->If(i.sc0, "sc0");
  line->If(i.nt, "nt");
  line->If(i.sc1, "sc1");
}

void Buffer(const Inst& i, Line* line) {
  const OpInfo& op = *i.op;
  if (op.bytes != 0) {
    if ((op.flags & kLdsDest) == 0)
      line->Add(
          Vgprs(i.data, op.src_words[1] > 0 ? op.src_words[1] : op.dst_words));
    const uint32_t address = uint32_t{i.offen} + uint32_t{i.idxen};
    line->Add(address == 0 ? "off" : Vgprs(i.src[0].reg, address));
    line->Add(Sgprs(i.saddr, 4));
    line->Add(Source(i.src[1], SrcKind::kB32, 1));
  }
  if (op.bytes != 0) {
    line->If(i.idxen, "idxen");
    line->If(i.offen, "offen");
    if (i.imm != 0) line->Modify(Text("offset:%d", i.imm));
  }
  Scope(i, line);
}

void FlatLike(const Inst& i, Format format, Line* line) {
  const OpInfo& op = *i.op;
  const bool saddr = i.saddr != kNoSaddr;
  const bool returns =
      (op.flags & kLoad) != 0 || ((op.flags & kAtomic) != 0 && i.sc0);
  if (returns) line->Add(Vgprs(i.dst, op.dst_words));
  if (format == Format::kScratch) {
    line->Add(i.sve ? Vgprs(i.src[0].reg, 1) : "off");
  } else {
    line->Add(Vgprs(i.src[0].reg, saddr ? 1 : 2));
  }
  if (op.src_words[1] > 0) line->Add(Vgprs(i.data, op.src_words[1]));
  if (format != Format::kFlat)
    line->Add(saddr ? Sgprs(i.saddr, format == Format::kScratch ? 1 : 2)
                    : "off");
  if (i.imm != 0) line->Modify(Text("offset:%d", i.imm));
  Scope(i, line);
}

}  // namespace

std::string Disassemble(const Inst& inst) {
  if (inst.op == nullptr) return "unknown instruction";
  Line line;
  switch (inst.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopk:
    case Format::kSopc:
    case Format::kSopp:
      Scalar(inst, inst.format, &line);
      break;
    case Format::kSmem:
      ScalarMemory(inst, &line);
      break;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
    case Format::kVop3:
      Vector(inst, &line);
      break;
    case Format::kVop3p:
      if (inst.op->cls == OpClass::kMfma) {
        Matrix(inst, &line);
      } else {
        Packed(inst, &line);
      }
      break;
    case Format::kDs:
      Lds(inst, &line);
      break;
    case Format::kMubuf:
    case Format::kMtbuf:
      Buffer(inst, &line);
      break;
    default:
      FlatLike(inst, inst.format, &line);
      break;
  }
  // "buffer_load_dword lds" is a name and a modifier.
  std::string name = inst.op->name;
  const size_t space = name.find(' ');
  if (space != std::string::npos) {
    line.Modify(name.substr(space + 1));
    name.resize(space);
  }
  if (inst.scaled) name.insert(7, "scale_");  // after "v_mfma_"
  return name + line.operands + line.modifiers;
}

}  // namespace ingot::emulator
