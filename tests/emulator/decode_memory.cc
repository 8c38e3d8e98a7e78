// Decoding of DS, MUBUF, MTBUF, FLAT, GLOBAL and SCRATCH.
#include "tests/emulator/decode_fields.h"

namespace ingot::emulator {

bool Decoder::Ds(const Bits& b, Inst* i) const {
  if (!Find(Format::kDs, b.Get(24, 17), i)) return false;
  const OpInfo& op = *i->op;
  if (b.Bit(16)) return false;  // GDS: this processor has none
  i->size = 8;
  i->imm = static_cast<int32_t>(b.Get(15, 0));
  i->acc = b.Bit(25);
  const uint32_t base = i->acc ? kAccBase : 0;
  i->src[0] = Register(Operand::kVgpr, b.Get(39, 32));
  i->data = static_cast<uint16_t>(b.Get(47, 40) + base);
  i->data1 = static_cast<uint16_t>(b.Get(55, 48) + base);
  i->dst = static_cast<uint16_t>(b.Get(63, 56) + base);
  if ((op.flags & kNoAddress) == 0) Reads(i, i->src[0].reg, 1);
  Reads(i, i->data, op.src_words[1]);
  if ((op.flags & kTwoData) != 0) Reads(i, i->data1, op.src_words[1]);
  if ((op.flags & kReturns) != 0) Writes(i, i->dst, op.dst_words);
  if ((op.flags & kPreservesHigh) != 0) Reads(i, i->dst, 1);
  if ((op.flags & kReturns) == 0) i->dst = 0;
  return true;
}

namespace {

// What MUBUF and MTBUF share: the address, the resource and the data.
bool BufferOperands(const Decoder::Bits& b, Inst* i) {
  const OpInfo& op = *i->op;
  i->size = 8;
  i->imm = static_cast<int32_t>(b.Get(11, 0));
  i->offen = b.Bit(12);
  i->idxen = b.Bit(13);
  i->sc0 = b.Bit(14);
  if (op.bytes == 0) return true;  // cache control
  i->acc = b.Bit(55);
  i->src[0] = Register(Operand::kVgpr, b.Get(39, 32));
  i->data = static_cast<uint16_t>(b.Get(47, 40) + (i->acc ? kAccBase : 0));
  i->dst = i->data;
  i->saddr = static_cast<uint16_t>(b.Get(52, 48) * 4);
  if (b.Get(63, 56) == kLiteralCode ||
      !Source(b.Get(63, 56), SrcKind::kB32, 0, &i->src[1])) {
    return false;
  }
  Reads(i, i->src[0].reg, uint32_t{i->offen} + uint32_t{i->idxen});
  Reads(i, kSgprSpace + i->saddr, 4);
  ReadsOperand(i, i->src[1], 1);
  if ((op.flags & kLdsDest) != 0) {
    Reads(i, kSgprSpace + kM0, 1);
    i->dst = 0;
    return true;
  }
  if ((op.flags & (kStore | kAtomic)) != 0) Reads(i, i->data, op.src_words[1]);
  if ((op.flags & kLoad) != 0 || ((op.flags & kAtomic) != 0 && i->sc0))
    Writes(i, i->dst, op.dst_words);
  if ((op.flags & kPreservesHigh) != 0) Reads(i, i->dst, op.dst_words);
  return true;
}

}  // namespace

bool Decoder::Mubuf(const Bits& b, Inst* i) const {
  // The form with LDS as its target is its own opcode line, shifted by 0x80.
  const uint32_t lds = b.Bit(16) ? 0x80 : 0;
  if (!Find(Format::kMubuf, b.Get(24, 18) | lds, i)) return false;
  i->sc1 = b.Bit(15);
  i->nt = b.Bit(17);
  return BufferOperands(b, i);
}

bool Decoder::Mtbuf(const Bits& b, Inst* i) const {
  if (!Find(Format::kMtbuf, b.Get(18, 15), i)) return false;
  i->dfmt = static_cast<uint8_t>(b.Get(22, 19));
  i->nfmt = static_cast<uint8_t>(b.Get(25, 23));
  i->sc1 = b.Bit(53);
  i->nt = b.Bit(54);
  return BufferOperands(b, i);
}

bool Decoder::FlatLike(const Bits& b, Inst* i) const {
  const uint32_t segment = b.Get(15, 14);
  if (segment == 3) return false;
  const Format format = segment == 0   ? Format::kFlat
                        : segment == 1 ? Format::kScratch
                                       : Format::kGlobal;
  if (!Find(format, b.Get(24, 18), i)) return false;
  const OpInfo& op = *i->op;
  i->size = 8;
  i->imm = static_cast<int32_t>(b.Get(12, 0) << 19) >> 19;
  if (format == Format::kFlat) i->imm = static_cast<int32_t>(b.Get(11, 0));
  i->sve = b.Bit(13);
  i->sc0 = b.Bit(16);
  i->nt = b.Bit(17);
  i->sc1 = b.Bit(25);
  i->acc = b.Bit(55);
  const uint32_t base = i->acc ? kAccBase : 0;
  i->src[0] = Register(Operand::kVgpr, b.Get(39, 32));
  i->data = static_cast<uint16_t>(b.Get(47, 40) + base);
  i->dst = static_cast<uint16_t>(b.Get(63, 56) + base);
  i->saddr =
      format == Format::kFlat ? kNoSaddr : static_cast<uint16_t>(b.Get(54, 48));
  const bool has_saddr = i->saddr != kNoSaddr;
  if (format == Format::kScratch) {
    if (i->sve) Reads(i, i->src[0].reg, 1);
    if (has_saddr) Reads(i, kSgprSpace + i->saddr, 1);
  } else {
    Reads(i, i->src[0].reg, has_saddr ? 1 : 2);
    if (has_saddr) Reads(i, kSgprSpace + i->saddr, 2);
  }
  if ((op.flags & kLdsDest) != 0) {
    Reads(i, kSgprSpace + kM0, 1);
    i->dst = 0;
    return true;
  }
  if ((op.flags & (kStore | kAtomic)) != 0) Reads(i, i->data, op.src_words[1]);
  const bool writes =
      (op.flags & kLoad) != 0 || ((op.flags & kAtomic) != 0 && i->sc0);
  if (writes) Writes(i, i->dst, op.dst_words);
  if (!writes) i->dst = 0;
  if ((op.flags & kPreservesHigh) != 0) Reads(i, i->dst, 1);
  return true;
}

}  // namespace ingot::emulator
