// Decoding of VOP1, VOP2, VOPC (with DPP and SDWA) and VOP3.
#include "tests/emulator/decode_fields.h"

namespace ingot::emulator {
namespace {

uint8_t TwoBits(uint32_t word, int first, int second) {
  return static_cast<uint8_t>((word >> first & 1) | (word >> second & 1) << 1);
}

// The second word of a DPP instruction; returns the code of source 0.
uint32_t DppFields(uint32_t extra, Inst* i) {
  i->extra = Extra::kDpp;
  i->plain = false;
  i->dpp_ctrl = static_cast<uint16_t>(extra >> 8 & 0x1ff);
  i->bound_ctrl = (extra >> 19 & 1) != 0;
  i->neg = TwoBits(extra, 20, 22);
  i->abs = TwoBits(extra, 21, 23);
  i->bank_mask = static_cast<uint8_t>(extra >> 24 & 0xf);
  i->row_mask = static_cast<uint8_t>(extra >> 28);
  return 256 + (extra & 0xff);
}

// The second word of an SDWA instruction; returns the code of source 0.
uint32_t SdwaFields(uint32_t extra, bool compare, Inst* i) {
  i->extra = Extra::kSdwa;
  i->plain = false;
  i->src_sel[0] = static_cast<uint8_t>(extra >> 16 & 7);
  i->src_sel[1] = static_cast<uint8_t>(extra >> 24 & 7);
  i->src_sext = TwoBits(extra, 19, 27);
  i->neg = TwoBits(extra, 20, 28);
  i->abs = TwoBits(extra, 21, 29);
  if (compare) {
    if ((extra >> 15 & 1) != 0)
      i->sdst = static_cast<uint16_t>(extra >> 8 & 0x7f);
  } else {
    i->dst_sel = static_cast<uint8_t>(extra >> 8 & 7);
    i->dst_unused = static_cast<uint8_t>(extra >> 11 & 3);
    i->clamp = (extra >> 13 & 1) != 0;
    i->omod = static_cast<uint8_t>(extra >> 14 & 3);
  }
  return (extra & 0xff) + ((extra >> 23 & 1) != 0 ? 0 : 256);
}

// Whether `i` has AGPRs and swapped registers only where it may.
bool SpecialRegisters(Inst* i) {
  const uint32_t flags = i->op->flags;
  if ((flags & (kAccSource | kSwaps)) != 0 &&
      i->src[0].kind != Operand::kVgpr) {
    return false;
  }
  if ((flags & kAccSource) != 0) i->src[0].reg += kAccBase;
  if ((flags & kAccDest) != 0) i->dst += kAccBase;
  return true;
}

}  // namespace

bool Decoder::Vector12c(const Bits& b, Inst* i) const {
  Format format = Format::kVop2;
  uint32_t opcode = b.Get(30, 25);
  if (opcode == 0x3f) {
    format = Format::kVop1;
    opcode = b.Get(16, 9);
  } else if (opcode == 0x3e) {
    format = Format::kVopc;
    opcode = b.Get(24, 17);
  }
  if (!Find(format, opcode, i)) return false;
  const OpInfo& op = *i->op;
  i->size = 4;
  i->dst = static_cast<uint16_t>(b.Get(24, 17));
  i->sdst = kVcc;
  uint32_t code0 = b.Get(8, 0);
  const uint32_t vsrc1 = b.Get(16, 9);
  Operand src1 = Register(Operand::kVgpr, vsrc1);
  const bool middle = (op.flags & kLiteralMiddle) != 0,
             last = (op.flags & kLiteralLast) != 0;
  const bool extended = code0 == kLiteralCode || code0 == kDppCode ||
                        code0 == kSdwaCode || middle || last;
  if (extended && b.count < 2) return false;
  const uint32_t extra = extended ? b.w[1] : 0;
  if (extended) i->size = 8;
  if (code0 == kDppCode || code0 == kSdwaCode) {
    if (middle || last || (op.flags & kNoExtra) != 0) return false;
  }
  if (code0 == kDppCode) {
    if (format == Format::kVopc) return false;
    code0 = DppFields(extra, i);
    // 64-bit operations only broadcast inside rows.
    const bool wide = op.dst_words == 2 || op.src_words[0] == 2;
    if (wide && i->dpp_ctrl >> 4 != 0x15) return false;
  } else if (code0 == kSdwaCode) {
    const bool wide = op.src_words[0] == 2 || op.src_words[1] == 2;
    if (wide || (op.flags & kReadsDst) != 0) return false;
    code0 = SdwaFields(extra, format == Format::kVopc, i);
    if (code0 == kLiteralCode) return false;
    if ((extra >> 31) != 0 && format != Format::kVop1 &&
        (vsrc1 == kLiteralCode || !Source(vsrc1, op.src_kind[1], 0, &src1))) {
      return false;
    }
  }
  if (op.src_kind[0] != SrcKind::kNone &&
      !Source(code0, op.src_kind[0], extra, &i->src[0])) {
    return false;
  }
  if (format != Format::kVop1 && op.src_kind[1] != SrcKind::kNone)
    i->src[1] = src1;
  const Operand constant{Operand::kConst, kLiteralCode, extra};
  if (middle) {
    i->src[2] = i->src[1];
    i->src[1] = constant;
  } else if (last) {
    i->src[2] = constant;
  }
  if ((op.flags & kReadsDst) != 0) i->src[2] = Register(Operand::kVgpr, i->dst);
  if ((op.flags & kReadsVcc) != 0) i->src[2] = Register(Operand::kSgpr, kVcc);
  if (!SpecialRegisters(i)) return false;
  VectorRanges(i);
  return true;
}

bool Decoder::Vector3(const Bits& b, Inst* i) const {
  const uint32_t opcode = b.Get(25, 16);
  Format format = Format::kVop3;
  uint32_t native = opcode;
  if (opcode < 0x100) {
    format = Format::kVopc;
  } else if (opcode < 0x140) {
    format = Format::kVop2;
    native = opcode - 0x100;
  } else if (opcode < 0x1c0) {
    format = Format::kVop1;
    native = opcode - 0x140;
  }
  if (!Find(format, native, i)) return false;
  const OpInfo& op = *i->op;
  if ((op.flags & (kLiteralMiddle | kLiteralLast)) != 0) return false;
  i->size = 8;
  i->dst = static_cast<uint16_t>(b.Get(7, 0));
  i->clamp = b.Get(15, 15) != 0;
  if ((op.flags & (kWritesMask | kSdst)) != 0) {
    i->sdst = static_cast<uint16_t>(b.Get(14, 8));
  } else {
    i->abs = static_cast<uint8_t>(b.Get(10, 8));
    i->op_sel = static_cast<uint8_t>(b.Get(14, 11));
  }
  i->neg = static_cast<uint8_t>(b.Get(63, 61));
  i->omod = static_cast<uint8_t>(b.Get(60, 59));
  if ((op.flags & kCompare) != 0) {
    i->sdst = i->dst;
    i->dst = 0;
  }
  const int sources = format == Format::kVop1   ? 1
                      : format == Format::kVop3 ? 3
                                                : 2;
  // What an instruction has no source for modifies nothing.
  if (format != Format::kVop3) {
    i->neg &= static_cast<uint8_t>((1 << sources) - 1);
    i->abs &= static_cast<uint8_t>((1 << sources) - 1);
  }
  const uint32_t code[3] = {b.Get(40, 32), b.Get(49, 41), b.Get(58, 50)};
  for (int n = 0; n < sources; ++n) {
    if (op.src_kind[n] == SrcKind::kNone) continue;
    if (code[n] == kLiteralCode ||
        !Source(code[n], op.src_kind[n], 0, &i->src[n]))
      return false;
  }
  if ((op.flags & kReadsDst) != 0) i->src[2] = Register(Operand::kVgpr, i->dst);
  if ((op.flags & kReadsVcc) != 0 && format != Format::kVop3 &&
      !Source(code[2], SrcKind::kMask, 0, &i->src[2])) {
    return false;
  }
  if (!SpecialRegisters(i)) return false;
  i->plain =
      i->abs == 0 && i->neg == 0 && i->op_sel == 0 && i->omod == 0 && !i->clamp;
  VectorRanges(i);
  return true;
}

}  // namespace ingot::emulator
