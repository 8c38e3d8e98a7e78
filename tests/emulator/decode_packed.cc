// Decoding of VOP3P: packed math, dot products and the matrix instructions.
#include "tests/emulator/decode_fields.h"

namespace ingot::emulator {

bool Decoder::Vector3p(const Bits& b, Inst* i) const {
  uint32_t opcode = b.Get(22, 16);
  if (opcode == 0x2c) {  // scales, then the MFMA they belong to
    if (b.count < 4 || b.w[2] >> 23 != 0x1a7) return false;
    if (!Find(Format::kVop3p, b.Get(86, 80), i) ||
        (i->op->flags & kScaled) == 0)
      return false;
    // ABID[0] says that the scales count.
    i->scaled = b.Bit(75);
    if (!i->scaled) return false;
    const uint32_t code[2] = {b.Get(40, 32), b.Get(49, 41)};
    for (int n = 0; n < 2; ++n) {
      if (!Source(code[n], SrcKind::kB32, 0, &i->scale[n])) return false;
      i->scale_sel[n] = static_cast<uint8_t>(b.Get(11 + n, 11 + n) |
                                             b.Get(59 + n, 59 + n) << 1);
      ReadsOperand(i, i->scale[n], 1);
    }
    i->size = 16;
    return Matrix(b, i, 64);
  }
  if (!Find(Format::kVop3p, opcode, i)) return false;
  i->size = 8;
  if (i->op->cls == OpClass::kMfma) return Matrix(b, i, 0);
  const OpInfo& op = *i->op;
  i->dst = static_cast<uint16_t>(b.Get(7, 0));
  i->abs = static_cast<uint8_t>(b.Get(10, 8));
  i->op_sel = static_cast<uint8_t>(b.Get(13, 11));
  i->op_sel_hi = static_cast<uint8_t>(b.Get(60, 59) | b.Get(14, 14) << 2);
  i->clamp = b.Get(15, 15) != 0;
  i->neg = static_cast<uint8_t>(b.Get(63, 61));
  i->plain = i->abs == 0 && i->neg == 0 && i->op_sel == 0 &&
             (i->op_sel_hi & 3) == 3 && !i->clamp;
  const uint32_t code[3] = {b.Get(40, 32), b.Get(49, 41), b.Get(58, 50)};
  for (int n = 0; n < 3; ++n) {
    if (op.src_kind[n] == SrcKind::kNone) continue;
    if (code[n] == kLiteralCode ||
        !Source(code[n], op.src_kind[n], 0, &i->src[n]))
      return false;
  }
  if (op.src_kind[2] != SrcKind::kNone)
    i->plain = i->plain && i->op_sel_hi == 7;
  if ((op.flags & kAccSource) != 0) {
    if (i->src[0].kind != Operand::kVgpr) return false;
    i->src[0].reg += kAccBase;
  }
  if ((op.flags & kAccDest) != 0) i->dst += kAccBase;
  VectorRanges(i);
  return true;
}

bool Decoder::Matrix(const Bits& b, Inst* i, int at) const {
  const OpInfo& op = *i->op;
  i->dst = static_cast<uint16_t>(b.Get(at + 7, at));
  i->cbsz = static_cast<uint8_t>(b.Get(at + 10, at + 8));
  i->abid = static_cast<uint8_t>(b.Get(at + 14, at + 11));
  i->blgp = static_cast<uint8_t>(b.Get(at + 63, at + 61));
  const uint32_t acc = b.Get(at + 60, at + 59),
                 acc_cd = b.Get(at + 15, at + 15);
  const uint32_t code[3] = {b.Get(at + 40, at + 32), b.Get(at + 49, at + 41),
                            b.Get(at + 58, at + 50)};
  uint32_t words[3] = {op.src_words[0], op.src_words[1], op.src_words[2]};
  if ((op.flags & kScaled) != 0) {
    // ABID[0] without scales before it.
    if (at == 0 && (i->abid & 1) != 0) return false;
    if (i->cbsz > 4 || i->blgp > 4) return false;
    words[0] = i->cbsz < 2 ? 8 : i->cbsz < 4 ? 6 : 4;
    words[1] = i->blgp < 2 ? 8 : i->blgp < 4 ? 6 : 4;
  }
  for (int n = 0; n < 3; ++n) {
    if (code[n] == kLiteralCode ||
        !Source(code[n], op.src_kind[n], 0, &i->src[n]))
      return false;
    const bool may_be_constant = n == 2 && (op.flags & kSparse) == 0;
    if (i->src[n].kind != Operand::kVgpr &&
        (!may_be_constant || i->src[n].kind != Operand::kConst)) {
      return false;
    }
    if (i->src[n].kind == Operand::kVgpr) {
      const bool is_acc = n < 2 ? (acc >> n & 1) != 0
                                : acc_cd != 0 && (op.flags & kSparse) == 0;
      if (is_acc) i->src[n].reg += kAccBase;
    }
    ReadsOperand(i, i->src[n], words[n]);
  }
  if (acc_cd != 0) i->dst += kAccBase;
  if ((op.flags & kSparse) != 0) Reads(i, i->dst, op.dst_words);
  Writes(i, i->dst, op.dst_words);
  return true;
}

}  // namespace ingot::emulator
