// Decoding of scalar instructions: SOP1, SOP2, SOPK, SOPC, SOPP and SMEM.
#include <algorithm>

#include "tests/emulator/decode_fields.h"

namespace ingot::emulator {

bool Decoder::Scalar(const Bits& b, Inst* i) const {
  const uint32_t w = b.w[0];
  const uint32_t top9 = w >> 23;
  Format format = Format::kSop2;
  uint32_t opcode = b.Get(29, 23);
  if (top9 == 0x17d) {
    format = Format::kSop1;
    opcode = b.Get(15, 8);
  } else if (top9 == 0x17e) {
    format = Format::kSopc;
    opcode = b.Get(22, 16);
  } else if (top9 == 0x17f) {
    format = Format::kSopp;
    opcode = b.Get(22, 16);
  } else if (w >> 28 == 0xb) {
    format = Format::kSopk;
    opcode = b.Get(27, 23);
  }
  if (!Find(format, opcode, i)) return false;
  const OpInfo& op = *i->op;
  i->imm = static_cast<int16_t>(w & 0xffff);
  i->dst = static_cast<uint16_t>(b.Get(22, 16));
  i->size = 4;
  const bool two = format == Format::kSop2 || format == Format::kSopc;
  const bool has_sources = two || format == Format::kSop1;
  const uint32_t code[2] = {b.Get(7, 0), b.Get(15, 8)};
  const auto is_literal = [&](int n) {
    return code[n] == kLiteralCode && op.src_kind[n] != SrcKind::kNone;
  };
  const bool literal = (has_sources && is_literal(0)) ||
                       (two && is_literal(1)) || (op.flags & kLiteralLast) != 0;
  if (literal && b.count < 2) return false;
  const uint32_t value = literal ? b.w[1] : 0;
  if (literal) i->size = 8;
  if ((op.flags & kLiteralLast) != 0)
    i->src[0] = {Operand::kConst, kLiteralCode, value};
  for (int n = 0; has_sources && n < (two ? 2 : 1); ++n) {
    if (op.src_kind[n] == SrcKind::kNone) continue;
    if (!Source(code[n], op.src_kind[n], value, &i->src[n])) return false;
    ReadsOperand(i, i->src[n], op.src_words[n]);
  }
  if (format == Format::kSopp) return true;
  if (op.dst_words > 0 && format != Format::kSopc &&
      (op.flags & kNoSdst) == 0) {
    Writes(i, kSgprSpace + i->dst, op.dst_words);
  }
  if ((op.flags & kReadsSdst) != 0)
    Reads(i, kSgprSpace + i->dst, std::max<uint32_t>(op.dst_words, 1));
  return true;
}

bool Decoder::ScalarMemory(const Bits& b, Inst* i) const {
  if (!Find(Format::kSmem, b.Get(25, 18), i)) return false;
  const OpInfo& op = *i->op;
  i->size = 8;
  i->dst = static_cast<uint16_t>(b.Get(12, 6));
  i->data = i->dst;
  i->sc0 = b.Get(16, 16) != 0;
  i->saddr = static_cast<uint16_t>(b.Get(5, 0) * 2);
  if (op.src_words[0] == 0) {  // no address: s_memtime, cache controls
    if (op.dst_words > 0) Writes(i, kSgprSpace + i->dst, op.dst_words);
    return true;
  }
  const uint32_t raw = b.Get(52, 32);
  i->src[0] = Operand{Operand::kConst, 0, 0};
  if (b.Get(17, 17) != 0) {
    i->imm = static_cast<int32_t>(raw << 11) >> 11;
    if (b.Get(14, 14) != 0) i->src[0] = Register(Operand::kSgpr, b.Get(63, 57));
  } else {
    i->src[0] = Register(Operand::kSgpr,
                         b.Get(14, 14) != 0 ? b.Get(63, 57) : raw & 0x7f);
  }
  ReadsOperand(i, i->src[0], 1);
  Reads(i, kSgprSpace + i->saddr, op.src_words[0]);
  if ((op.flags & (kStore | kAtomic)) != 0)
    Reads(i, kSgprSpace + i->data, op.src_words[1]);
  if (op.dst_words > 0 && ((op.flags & kAtomic) == 0 || i->sc0))
    Writes(i, kSgprSpace + i->dst, op.dst_words);
  return true;
}

}  // namespace ingot::emulator
