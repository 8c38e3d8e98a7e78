#include "tests/emulator/decode.h"

#include <algorithm>
#include <cstdio>

namespace ingot::emulator {
namespace {

constexpr uint32_t kLiteral = 255, kDpp = 250, kSdwa = 249;

// Inline float constants 240..248: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi).
constexpr uint32_t kF32[] = {0x3f000000, 0xbf000000, 0x3f800000,
                             0xbf800000, 0x40000000, 0xc0000000,
                             0x40800000, 0xc0800000, 0x3e22f983};
constexpr uint16_t kF16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                             0xc000, 0x4400, 0xc400, 0x3118};
constexpr uint64_t kF64[] = {
    0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
    0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
    0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

uint64_t FloatConstant(uint32_t n, SrcKind kind) {
  switch (kind) {
    case SrcKind::kF16:
    case SrcKind::kPk16:
      return kF16[n];
    case SrcKind::kB64:
    case SrcKind::kF64:
      return kF64[n];
    case SrcKind::kPk32:
      return kF32[n] | uint64_t{kF32[n]} << 32;
    default:
      return kF32[n];
  }
}

uint64_t IntConstant(int64_t n, SrcKind kind) {
  if (kind == SrcKind::kPk32)
    return static_cast<uint32_t>(n) | static_cast<uint64_t>(n) << 32;
  return static_cast<uint64_t>(n);
}

uint64_t LiteralConstant(uint32_t literal, SrcKind kind) {
  switch (kind) {
    case SrcKind::kF64:
      return uint64_t{literal} << 32;
    case SrcKind::kPk32:
      return literal | uint64_t{literal} << 32;
    default:
      return literal;
  }
}

Operand Register(Operand::Kind kind, uint32_t reg) {
  Operand o;
  o.kind = kind;
  o.reg = static_cast<uint16_t>(reg);
  return o;
}

// An 8- or 9-bit source code. False when the code means nothing here.
bool Source(uint32_t code, SrcKind kind, uint32_t literal, Operand* o) {
  *o = Operand();
  if (code >= 256) {
    *o = Register(Operand::kVgpr, code - 256);
    return true;
  }
  if (code < 128) {
    *o = Register(Operand::kSgpr, code);
    return true;
  }
  o->kind = Operand::kConst;
  if (code <= 192) {
    o->value = IntConstant(code - 128, kind);
  } else if (code <= 208) {
    o->value = IntConstant(192 - static_cast<int64_t>(code), kind);
  } else if (code >= 240 && code <= 248) {
    o->value = FloatConstant(code - 240, kind);
  } else if (code == kLiteral) {
    o->value = LiteralConstant(literal, kind);
  } else if (code == 235 || code == 236) {
    o->value = kSharedAperture | (code == 236 ? 0xffffffffu : 0);
  } else if (code == 237 || code == 238) {
    o->value = kPrivateAperture | (code == 238 ? 0xffffffffu : 0);
  } else if (code == 251) {
    o->kind = Operand::kVccz;
  } else if (code == 252) {
    o->kind = Operand::kExecz;
  } else if (code == 253) {
    o->kind = Operand::kScc;
  } else {
    return false;
  }
  return true;
}

void AddRange(RegRange* list, uint8_t* count, int capacity, uint32_t first,
              uint32_t n) {
  if (n == 0 || *count >= capacity) return;
  const uint32_t space = first >= kSgprSpace ? kSgprSpace + kSgprs : kVgprs;
  n = std::min(n, space - std::min(space, first));
  list[(*count)++] = {static_cast<uint16_t>(first), static_cast<uint16_t>(n)};
}

void Reads(Inst* i, uint32_t first, uint32_t n) {
  AddRange(i->reads, &i->reads_count, 8, first, n);
}
void Writes(Inst* i, uint32_t first, uint32_t n) {
  AddRange(i->writes, &i->writes_count, 3, first, n);
}

void ReadsOperand(Inst* i, const Operand& o, uint32_t words) {
  if (o.kind == Operand::kVgpr) Reads(i, o.reg, words);
  if (o.kind == Operand::kSgpr) Reads(i, kSgprSpace + o.reg, words);
}

void VectorRanges(Inst* i) {
  const OpInfo& op = *i->op;
  for (int n = 0; n < 3; ++n)
    ReadsOperand(i, i->src[n], std::max<uint32_t>(op.src_words[n], 1));
  if ((op.flags & kCompare) != 0) {
    Writes(i, kSgprSpace + i->sdst, 2);
    return;
  }
  if ((op.flags & kWritesSgpr) != 0) {
    Writes(i, kSgprSpace + i->dst, 1);
  } else {
    Writes(i, i->dst, op.dst_words);
  }
  if ((op.flags & kWritesMask) != 0) Writes(i, kSgprSpace + i->sdst, 2);
  if ((op.flags & kReadsOld) != 0) Reads(i, i->dst, op.dst_words);
  if ((op.flags & kSwaps) != 0) {
    Reads(i, i->dst, 1);
    Writes(i, i->src[0].reg, 1);
  }
}

// True when every register a source or the destination names exists.
bool RegistersExist(const Inst& i) {
  auto inside = [](const RegRange& r, uint32_t want) {
    return r.count >= want &&
           (r.first < kSgprSpace || r.first + r.count <= kSgprSpace + kSgprs);
  };
  for (int n = 0; n < i.reads_count; ++n) {
    if (!inside(i.reads[n], 1)) return false;
  }
  for (int n = 0; n < i.writes_count; ++n) {
    if (!inside(i.writes[n], 1)) return false;
  }
  for (int n = 0; n < 3; ++n) {
    const Operand& o = i.src[n];
    const uint32_t words = std::max<uint32_t>(i.op->src_words[n], 1);
    if (o.kind == Operand::kVgpr && o.reg + words > kVgprs) return false;
    if (o.kind == Operand::kSgpr && o.reg + words > kSgprs) return false;
  }
  return i.dst + uint32_t{i.op->dst_words} <= kVgprs;
}

}  // namespace

struct Decoder::Bits {
  const uint32_t* w;
  size_t count;
  uint32_t Get(int hi, int lo) const {
    return w[lo / 32] >> (lo % 32) & (~0u >> (31 - (hi - lo)));
  }
};

Decoder::Decoder(const InstructionSet& set) {
  for (int f = 0; f < static_cast<int>(Format::kCount); ++f) {
    by_opcode_[f].resize(1024, nullptr);
    for (int n = 0; n < set.table[f].count; ++n) {
      const OpInfo& op = set.table[f].ops[n];
      by_opcode_[f][op.opcode] = &op;
    }
  }
  for (const InstructionSet::More& more : set.more) {
    for (int n = 0; n < more.table.count; ++n) {
      const OpInfo& op = more.table.ops[n];
      by_opcode_[static_cast<int>(more.format)][op.opcode] = &op;
    }
  }
}

bool Decoder::Find(Format format, uint32_t opcode, Inst* i) const {
  const OpInfo* op = by_opcode_[static_cast<int>(format)][opcode];
  if (op == nullptr) return false;
  i->op = op;
  i->run = op->run;
  return true;
}

bool Decoder::Decode(const uint32_t* words, size_t count, Inst* out) const {
  *out = Inst();
  if (count == 0) return false;
  const Bits b{words, count};
  const uint32_t w = words[0];
  bool ok = false;
  if (w >> 31 == 0) {
    ok = Vector12c(b, out);
  } else if (w >> 30 == 2) {
    ok = Scalar(b, out);
  } else if (w >> 26 == 0x30) {
    ok = count >= 2 && ScalarMemory(b, out);
  } else if (w >> 23 == 0x1a7) {
    ok = count >= 2 && Vector3p(b, out);
  } else if (w >> 26 == 0x34) {
    ok = count >= 2 && Vector3(b, out);
  } else if (w >> 26 == 0x36) {
    ok = count >= 2 && Ds(b, out);
  } else if (w >> 26 == 0x37) {
    ok = count >= 2 && FlatLike(b, out);
  } else if (w >> 26 == 0x38) {
    ok = count >= 2 && Mubuf(b, out);
  }
  if (!ok || out->size / 4u > count || !RegistersExist(*out)) return false;
  for (int n = 0; n < out->size / 4; ++n) out->words[n] = words[n];
  return true;
}

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
  const bool literal = (has_sources && code[0] == kLiteral &&
                        op.src_kind[0] != SrcKind::kNone) ||
                       (two && code[1] == kLiteral) ||
                       (op.flags & kLiteralLast) != 0;
  if (literal && b.count < 2) return false;
  const uint32_t value = literal ? b.w[1] : 0;
  if (literal) i->size = 8;
  if ((op.flags & kLiteralLast) != 0) i->src[0] = {Operand::kConst, 0, value};
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
  if ((op.flags & kStore) != 0) {
    Reads(i, kSgprSpace + i->data, op.src_words[1]);
  } else if (op.dst_words > 0) {
    Writes(i, kSgprSpace + i->dst, op.dst_words);
  }
  return true;
}

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
  const bool extended =
      code0 == kLiteral || code0 == kDpp || code0 == kSdwa || middle || last;
  if (extended && b.count < 2) return false;
  const uint32_t extra = extended ? b.w[1] : 0;
  if (extended) i->size = 8;
  if (code0 == kDpp) {
    i->extra = Extra::kDpp;
    i->plain = false;
    code0 = 256 + (extra & 0xff);
    i->dpp_ctrl = static_cast<uint16_t>(extra >> 8 & 0x1ff);
    i->bound_ctrl = (extra >> 19 & 1) != 0;
    i->neg = static_cast<uint8_t>((extra >> 20 & 1) | (extra >> 22 & 1) << 1);
    i->abs = static_cast<uint8_t>((extra >> 21 & 1) | (extra >> 23 & 1) << 1);
    i->bank_mask = static_cast<uint8_t>(extra >> 24 & 0xf);
    i->row_mask = static_cast<uint8_t>(extra >> 28);
  } else if (code0 == kSdwa) {
    i->extra = Extra::kSdwa;
    i->plain = false;
    code0 = (extra & 0xff) + ((extra >> 23 & 1) != 0 ? 0 : 256);
    if ((extra >> 31) != 0 && !Source(vsrc1, SrcKind::kB32, 0, &src1))
      return false;
    i->src_sel[0] = static_cast<uint8_t>(extra >> 16 & 7);
    i->src_sel[1] = static_cast<uint8_t>(extra >> 24 & 7);
    i->src_sext =
        static_cast<uint8_t>((extra >> 19 & 1) | (extra >> 27 & 1) << 1);
    i->neg = static_cast<uint8_t>((extra >> 20 & 1) | (extra >> 28 & 1) << 1);
    i->abs = static_cast<uint8_t>((extra >> 21 & 1) | (extra >> 29 & 1) << 1);
    if (format == Format::kVopc) {
      if ((extra >> 15 & 1) != 0)
        i->sdst = static_cast<uint16_t>(extra >> 8 & 0x7f);
    } else {
      i->dst_sel = static_cast<uint8_t>(extra >> 8 & 7);
      i->dst_unused = static_cast<uint8_t>(extra >> 11 & 3);
      i->clamp = (extra >> 13 & 1) != 0;
      i->omod = static_cast<uint8_t>(extra >> 14 & 3);
    }
  }
  if (op.src_kind[0] != SrcKind::kNone &&
      !Source(code0, op.src_kind[0], extra, &i->src[0])) {
    return false;
  }
  if (format != Format::kVop1 && op.src_kind[1] != SrcKind::kNone)
    i->src[1] = src1;
  const Operand constant{Operand::kConst, 0, extra};
  if (middle) {
    i->src[2] = i->src[1];
    i->src[1] = constant;
  } else if (last) {
    i->src[2] = constant;
  }
  if ((op.flags & kReadsDst) != 0) i->src[2] = Register(Operand::kVgpr, i->dst);
  if ((op.flags & kReadsVcc) != 0) i->src[2] = Register(Operand::kSgpr, kVcc);
  if ((op.flags & kAccSource) != 0) i->src[0].reg += kAccBase;
  if ((op.flags & kAccDest) != 0) i->dst += kAccBase;
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
  const uint32_t code[3] = {b.Get(40, 32), b.Get(49, 41), b.Get(58, 50)};
  for (int n = 0; n < sources; ++n) {
    if (op.src_kind[n] == SrcKind::kNone) continue;
    if (code[n] == kLiteral || !Source(code[n], op.src_kind[n], 0, &i->src[n]))
      return false;
  }
  if ((op.flags & kReadsDst) != 0) i->src[2] = Register(Operand::kVgpr, i->dst);
  if ((op.flags & kReadsVcc) != 0 && format != Format::kVop3 &&
      !Source(code[2], SrcKind::kMask, 0, &i->src[2])) {
    return false;
  }
  i->plain =
      i->abs == 0 && i->neg == 0 && i->op_sel == 0 && i->omod == 0 && !i->clamp;
  VectorRanges(i);
  return true;
}

bool Decoder::Vector3p(const Bits& b, Inst* i) const {
  uint32_t opcode = b.Get(22, 16);
  if (opcode == 0x2c) {  // scales, then the MFMA they belong to
    if (b.count < 4 || b.w[2] >> 23 != 0x1a7) return false;
    if (!Find(Format::kVop3p, b.Get(86, 80), i) ||
        (i->op->flags & kScaled) == 0)
      return false;
    i->scaled = true;
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
    if (code[n] == kLiteral || !Source(code[n], op.src_kind[n], 0, &i->src[n]))
      return false;
  }
  if (op.src_kind[2] != SrcKind::kNone)
    i->plain = i->plain && i->op_sel_hi == 7;
  if ((op.flags & kAccSource) != 0) i->src[0].reg += kAccBase;
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
    if (i->cbsz > 4 || i->blgp > 4) return false;
    words[0] = i->cbsz < 2 ? 8 : i->cbsz < 4 ? 6 : 4;
    words[1] = i->blgp < 2 ? 8 : i->blgp < 4 ? 6 : 4;
  }
  for (int n = 0; n < 3; ++n) {
    if (code[n] == kLiteral || !Source(code[n], op.src_kind[n], 0, &i->src[n]))
      return false;
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

bool Decoder::Ds(const Bits& b, Inst* i) const {
  if (!Find(Format::kDs, b.Get(24, 17), i)) return false;
  const OpInfo& op = *i->op;
  i->size = 8;
  i->imm = static_cast<int32_t>(b.Get(15, 0));
  i->acc = b.Get(25, 25) != 0;
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
  if (i->data + uint32_t{op.src_words[1]} > kVgprs) return false;
  if ((op.flags & kReturns) == 0) i->dst = 0;
  return true;
}

bool Decoder::Mubuf(const Bits& b, Inst* i) const {
  if (!Find(Format::kMubuf, b.Get(24, 18), i)) return false;
  const OpInfo& op = *i->op;
  i->size = 8;
  i->imm = static_cast<int32_t>(b.Get(11, 0));
  i->offen = b.Get(12, 12) != 0;
  i->idxen = b.Get(13, 13) != 0;
  i->sc0 = b.Get(14, 14) != 0;
  i->sc1 = b.Get(15, 15) != 0;
  i->nt = b.Get(17, 17) != 0;
  if (op.bytes == 0) return true;  // cache control
  const bool lds = b.Get(16, 16) != 0;
  if (lds != ((op.flags & kLdsDest) != 0)) {
    // The form with LDS as its target is its own opcode line, shifted by 0x80.
    if (!lds || !Find(Format::kMubuf, b.Get(24, 18) | 0x80, i)) return false;
  }
  i->acc = b.Get(55, 55) != 0;
  i->src[0] = Register(Operand::kVgpr, b.Get(39, 32));
  i->data = static_cast<uint16_t>(b.Get(47, 40) + (i->acc ? kAccBase : 0));
  i->dst = i->data;
  i->saddr = static_cast<uint16_t>(b.Get(52, 48) * 4);
  if (!Source(b.Get(63, 56), SrcKind::kB32, 0, &i->src[1])) return false;
  Reads(i, i->src[0].reg, uint32_t{i->offen} + uint32_t{i->idxen});
  Reads(i, kSgprSpace + i->saddr, 4);
  ReadsOperand(i, i->src[1], 1);
  const uint32_t flags = i->op->flags;
  if ((flags & kLdsDest) != 0) {
    Reads(i, kSgprSpace + kM0, 1);
    i->dst = 0;
    return true;
  }
  if ((flags & (kStore | kAtomic)) != 0) Reads(i, i->data, i->op->src_words[1]);
  if ((flags & kLoad) != 0 || ((flags & kAtomic) != 0 && i->sc0))
    Writes(i, i->dst, i->op->dst_words);
  if ((flags & kPreservesHigh) != 0) Reads(i, i->dst, 1);
  return i->data + uint32_t{i->op->src_words[1]} <= kVgprs &&
         i->saddr + 4 <= kSgprs;
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
  i->sve = b.Get(13, 13) != 0;
  i->sc0 = b.Get(16, 16) != 0;
  i->nt = b.Get(17, 17) != 0;
  i->sc1 = b.Get(25, 25) != 0;
  i->acc = b.Get(55, 55) != 0;
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
    if (!has_saddr && i->src[0].reg + 2 > kVgprs) return false;
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
  return i->data + uint32_t{op.src_words[1]} <= kVgprs;
}

std::string Describe(const Inst& inst) {
  std::string text = inst.op != nullptr ? inst.op->name : "unknown instruction";
  text += " (";
  for (int n = 0; n < inst.size / 4; ++n) {
    char word[16];
    std::snprintf(word, sizeof(word), "%s%08x", n == 0 ? "" : " ",
                  inst.words[n]);
    text += word;
  }
  return text + ")";
}

}  // namespace ingot::emulator
