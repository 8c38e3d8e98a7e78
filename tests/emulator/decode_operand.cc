#include <algorithm>

#include "tests/emulator/decode_fields.h"

namespace ingot::emulator {
namespace {

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
    case SrcKind::kB16:
    case SrcKind::kPk16:
      return kF16[n];
    case SrcKind::kBf16:
      return kF32[n] >> 16;
    case SrcKind::kB64:
    case SrcKind::kI64:
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
    case SrcKind::kI64:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(literal)});
    case SrcKind::kPk32:
      return literal | uint64_t{literal} << 32;
    default:
      return literal;
  }
}

void AddRange(RegRange* list, uint8_t* count, int capacity, uint32_t first,
              uint32_t n) {
  if (n == 0 || *count >= capacity) return;
  list[(*count)++] = {static_cast<uint16_t>(first), static_cast<uint16_t>(n)};
}

}  // namespace

Operand Register(Operand::Kind kind, uint32_t reg) {
  Operand o;
  o.kind = kind;
  o.reg = static_cast<uint16_t>(reg);
  return o;
}

bool Source(uint32_t code, SrcKind kind, uint32_t literal, Operand* o) {
  *o = Operand();
  if (code >= 256) {
    *o = Register(Operand::kVgpr, code - 256);
    return true;
  }
  if (code < 128) {
    *o = Register(Operand::kSgpr, code);
    return code != 125;
  }
  o->kind = Operand::kConst;
  o->reg = static_cast<uint16_t>(code);
  if (code <= 192) {
    o->value = IntConstant(code - 128, kind);
  } else if (code <= 208) {
    o->value = IntConstant(192 - static_cast<int64_t>(code), kind);
  } else if (code >= 240 && code <= 248) {
    o->value = FloatConstant(code - 240, kind);
  } else if (code == kLiteralCode) {
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

namespace {

bool RangeExists(const RegRange& r) {
  if (r.count == 0) return false;
  const bool scalar = r.first >= kSgprSpace;
  const uint32_t first = scalar ? r.first - kSgprSpace : r.first;
  const uint32_t last = first + r.count - 1;
  if (scalar) {
    const uint32_t step = r.count == 1 ? 1 : r.count == 2 ? 2 : 4;
    return last < kSgprs && first % step == 0;
  }
  // A tuple lies in one of the two files.
  if (last >= kVgprs || first / kAccBase != last / kAccBase) return false;
  return r.count == 1 || first % 2 == 0;
}

}  // namespace

bool RegistersExist(const Inst& i) {
  for (int n = 0; n < i.reads_count; ++n) {
    if (!RangeExists(i.reads[n])) return false;
  }
  for (int n = 0; n < i.writes_count; ++n) {
    if (!RangeExists(i.writes[n])) return false;
  }
  return true;
}

}  // namespace ingot::emulator
