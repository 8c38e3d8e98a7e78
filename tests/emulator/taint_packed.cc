// Undefined bits through instructions whose result has several parts, and
// through exchanges between lanes.
#include <string_view>

#include "tests/emulator/lane_order.h"
#include "tests/emulator/taint_check.h"

namespace ingot::emulator::taint {
namespace {

// Dword `word` of a source in one lane.
Bits Word(const Step& s, int n, int word, int lane) {
  const Operand& o = s.inst.src[n];
  if (o.kind == Operand::kVgpr) {
    return {s.wave.v[o.reg + word][lane], s.regs.Get(o.reg + word, lane)};
  }
  const Bits wide = s.Scalar(o, 32 * (word + 1));
  return Field(wide, 32 * word, 32);
}

bool Used(const Step& s, int n) { return s.inst.src[n].kind != Operand::kNone; }

// Results of up to 32 dwords a lane, written when all lanes are known.
class Results {
 public:
  explicit Results(const Step& s) : s_(s) {}
  uint32_t& At(int word, int lane) { return undef_[word][lane]; }
  void Write(int words) {
    for (int n = 0; n < words; ++n) {
      for (uint64_t todo = s_.exec(); todo != 0; todo &= todo - 1) {
        const int l = __builtin_ctzll(todo);
        s_.regs.Set(s_.inst.dst + n, l, undef_[n][l]);
      }
    }
  }

 private:
  const Step& s_;
  uint32_t undef_[32][kLanes] = {};
};

// ---- VOP3P ----

uint32_t PackedHalves(const Step& s, int lane) {
  const Inst& i = s.inst;
  Bits out;
  for (int high = 0; high < 2; ++high) {
    Lane l;
    l.inst = &i;
    l.lane = lane;
    l.width = 16;
    const uint8_t select = high != 0 ? i.op_sel_hi : i.op_sel;
    for (int n = 0; n < 3; ++n) {
      if (Used(s, n))
        l.s[n] = Field(Word(s, n, 0, lane), 16 * (select >> n & 1), 16);
    }
    Bits half = s.plan.rule->lane(l);
    if (i.clamp && half.undef != 0) half = Anything(0, 16);
    out = Insert(out, 16 * high, half, 16);
  }
  return static_cast<uint32_t>(out.undef);
}

// One register of a pair.
uint32_t PackedWord(const Step& s, int high, int lane) {
  const Inst& i = s.inst;
  if (s.plan.rule->how == How::kPackedMove) {
    const int upper = i.op_sel >> high & 1;
    return static_cast<uint32_t>(Word(s, high, upper, lane).undef);
  }
  const uint8_t select = high != 0 ? i.op_sel_hi : i.op_sel;
  uint64_t undef = 0;
  for (int n = 0; n < 3; ++n) {
    if (Used(s, n)) undef |= Word(s, n, select >> n & 1, lane).undef;
  }
  return undef != 0 ? ~0u : 0;
}

uint32_t Mixed(const Step& s, int lane) {
  const Inst& i = s.inst;
  uint64_t undef = 0;
  for (int n = 0; n < 3; ++n) {
    const Bits word = Word(s, n, 0, lane);
    const bool half = (i.op_sel_hi >> n & 1) != 0;
    undef |=
        half ? Field(word, 16 * (i.op_sel >> n & 1), 16).undef : word.undef;
  }
  const uint32_t old = s.regs.Get(i.dst, lane);
  const std::string_view name = i.op->name;
  const uint32_t all = undef != 0 ? 0xffff : 0;
  if (name == "v_fma_mixlo_f16") return (old & 0xffff0000) | all;
  if (name == "v_fma_mixhi_f16") return (old & 0xffff) | all << 16;
  return all << 16 | all;
}

// ---- Conversions of packed elements ----

// Undefined bits [at, at + bits) of a source tuple.
uint64_t TupleField(const Step& s, int n, int at, int bits, int lane) {
  if (s.inst.src[n].kind != Operand::kVgpr) return Word(s, n, 0, lane).undef;
  uint64_t two = Word(s, n, at / 32, lane).undef;
  if (at % 32 + bits > 32) two |= Word(s, n, at / 32 + 1, lane).undef << 32;
  return two >> (at % 32) & Mask(bits);
}

int PartOf(int part_bits, int halves, int bytes) {
  return part_bits == 16 ? 16 * halves : 8 * bytes;
}

// Undefined bits that spoil every element: the scale's exponent, the random
// number, the shift amount.
bool AllSpoilt(const Step& s, int lane) {
  const Elements& e = s.plan.rule->elements;
  uint64_t undef = 0;
  if (e.seed) undef |= Word(s, 1, 0, lane).undef;
  if (e.amount) undef |= Word(s, 2, 0, lane).undef & 31;
  if (e.scale) {
    const int scale = e.two_sources || e.seed ? 2 : 1;
    undef |= Word(s, scale, 0, lane).undef & 0x7f800000;
  }
  return undef != 0;
}

void ConvertElements(const Step& s, int lane, Results* results) {
  const Elements& e = s.plan.rule->elements;
  const Inst& i = s.inst;
  const int from = e.from_selected ? PartOf(e.count * e.from_bits, i.op_sel & 1,
                                            i.op_sel & 3)
                                   : 0;
  int to = e.to_selected ? PartOf(e.count * e.to_bits, i.op_sel >> 3 & 1,
                                  i.op_sel >> 2 & 3)
                         : 0;
  if (e.to_counted) {
    const Bits byte = Low(Word(s, 1, 0, lane), 2);
    if (byte.undef != 0) {
      results->At(0, lane) = ~0u;
      return;
    }
    to = static_cast<int>(8 * byte.value);
  }
  if (e.to_selected || e.to_counted)
    results->At(0, lane) = s.regs.Get(i.dst, lane);
  const bool spoilt = AllSpoilt(s, lane);
  for (int n = 0; n < e.count; ++n) {
    const int source = e.two_sources ? n % 2 : 0;
    const int element = e.two_sources ? n / 2 : n;
    const bool undef =
        spoilt || TupleField(s, source, from + element * e.from_bits,
                             e.from_bits, lane) != 0;
    const int at = to + n * e.to_bits;
    const uint64_t mask = Mask(e.to_bits) << (at % 32);
    for (int part = 0; part < 2; ++part) {
      const uint32_t bits = static_cast<uint32_t>(mask >> (32 * part));
      if (bits == 0) continue;
      uint32_t& word = results->At(at / 32 + part, lane);
      word = undef ? word | bits : word & ~bits;
    }
  }
}

// ---- Everything of a lane into everything ----

void MixLanes(const Step& s) {
  uint64_t lanes = 0;
  for (int n = 0; n < s.plan.reads_count; ++n) {
    const RegRange& range = s.plan.reads[n];
    for (int r = range.first; r < range.first + range.count; ++r) {
      if (!s.regs.Any(r)) continue;
      lanes |= r < kSgprSpace ? s.regs.Lanes(r) : ~uint64_t{0};
    }
  }
  lanes &= s.exec();
  for (int n = 0; n < s.plan.writes_count; ++n) {
    const RegRange& range = s.plan.writes[n];
    for (int r = range.first; r < range.first + range.count; ++r) {
      if (r < kSgprSpace) {
        s.regs.Clear(r, s.exec() & ~lanes);
        s.regs.Fill(r, lanes);
      } else if (r < kScc) {
        s.regs.SetScalar(r - kSgprSpace, lanes != 0 ? ~0u : 0);
      }
    }
  }
}

// ---- Lanes ----

void ReadLane(const Step& s, bool first) {
  const Inst& i = s.inst;
  const uint64_t exec = s.exec();
  int lane = exec == 0 ? 0 : __builtin_ctzll(exec);
  Bits select;
  if (!first) {
    select = Low(s.Scalar(i.src[1], 32), 6);
    lane = static_cast<int>(select.value);
  }
  uint32_t undef = i.src[0].kind == Operand::kVgpr
                       ? s.regs.Get(i.src[0].reg, lane)
                       : static_cast<uint32_t>(s.Scalar(i.src[0], 32).undef);
  if (select.undef != 0) undef = ~0u;
  s.regs.SetScalar(i.dst, undef);
}

void WriteLane(const Step& s) {
  const Inst& i = s.inst;
  const Bits select = Low(s.Scalar(i.src[1], 32), 6);
  if (select.undef != 0) {
    s.Report(FaultKind::kUndefinedAddress, -1, 0, kSgprSpace + i.src[1].reg,
             "the lane to write");
    return;
  }
  s.regs.Set(i.dst, static_cast<int>(select.value),
             static_cast<uint32_t>(s.Scalar(i.src[0], 32).undef));
}

void WriteBoth(const Step& s, const uint32_t* d, const uint32_t* from) {
  for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    s.regs.Set(s.inst.dst, l, d[l]);
    s.regs.Set(s.inst.src[0].reg, l, from[l]);
  }
}

void Swap(const Step& s) {
  uint32_t a[kLanes], b[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    a[l] = s.regs.Get(s.inst.src[0].reg, l);
    b[l] = s.regs.Get(s.inst.dst, l);
  }
  WriteBoth(s, a, b);
}

// `row` lanes at a time: odd rows of vdst trade places with even rows of src0.
void PermlaneSwap(const Step& s, int row) {
  const int d = s.inst.dst, other = s.inst.src[0].reg;
  uint32_t a[kLanes], b[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    a[l] = s.regs.Get(d, l);
    b[l] = s.regs.Get(other, l);
    const bool odd = (l / row & 1) != 0;
    const int from = odd ? l - row : l + row;
    const Received received = ReceivedFrom(s.inst, s.exec(), from);
    if (received == Received::kNothing) continue;
    (odd ? a : b)[l] =
        received == Received::kValue ? s.regs.Get(odd ? other : d, from) : 0;
  }
  WriteBoth(s, a, b);
}

}  // namespace

void Packed(const Step& s) {
  const How how = s.plan.rule->how;
  if (how == How::kTuple) return MixLanes(s);
  Results results(s);
  for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    if (how == How::kPacked16) {
      results.At(0, l) = PackedHalves(s, l);
    } else if (how == How::kMix) {
      results.At(0, l) = Mixed(s, l);
    } else if (how == How::kElements) {
      ConvertElements(s, l, &results);
    } else {
      for (int high = 0; high < 2; ++high)
        results.At(high, l) = PackedWord(s, high, l);
    }
  }
  results.Write(s.inst.op->dst_words);
}

void Exchange(const Step& s) {
  switch (s.plan.rule->how) {
    case How::kReadFirstLane:
      return ReadLane(s, true);
    case How::kReadLane:
      return ReadLane(s, false);
    case How::kWriteLane:
      return WriteLane(s);
    case How::kPermlaneSwap:
      return PermlaneSwap(
          s, std::string_view(s.inst.op->name) == "v_permlane16_swap_b32" ? 16
                                                                          : 32);
    default:
      return Swap(s);
  }
}

void LdsLanes(const Step& s) {
  const Inst& i = s.inst;
  const std::string_view name = i.op->name;
  const uint64_t exec = s.exec();
  const int address = i.src[0].reg;
  uint32_t out[kLanes] = {};
  bool anywhere = false;
  const auto lane_of = [&](int l) {
    return static_cast<int>(
        (s.wave.v[address][l] + static_cast<uint32_t>(i.imm)) >> 2 & 63);
  };
  for (int l = 0; l < kLanes; ++l) {
    const bool on = (exec >> l & 1) != 0;
    if (name == "ds_swizzle_b32") {
      const int from = SwizzleSource(static_cast<uint32_t>(i.imm), l);
      out[l] = (exec >> from & 1) != 0 ? s.regs.Get(address, from) : 0;
      continue;
    }
    const bool lost = (s.regs.Get(address, l) & 0xff) != 0;
    if (name == "ds_permute_b32") {
      if (!on) continue;
      anywhere |= lost;
      out[lane_of(l)] = s.regs.Get(i.data, l);
    } else {
      const int from = lane_of(l);
      out[l] = lost                      ? ~0u
               : (exec >> from & 1) != 0 ? s.regs.Get(i.data, from)
                                         : 0;
    }
  }
  for (uint64_t todo = exec; todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    s.regs.Set(i.dst, l, anywhere ? ~0u : out[l]);
  }
}

}  // namespace ingot::emulator::taint
