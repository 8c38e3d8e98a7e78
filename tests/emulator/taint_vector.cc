// Undefined bits through vector instructions of one result a lane.
#include "tests/emulator/lane_order.h"
#include "tests/emulator/taint_check.h"

namespace ingot::emulator::taint {
namespace {

// One source of all lanes, with what the encoding does to it.
class Source {
 public:
  Source(const Step& s, int n, bool half)
      : s_(s), n_(n), half_(half), operand_(s.inst.src[n]) {
    words_ = s.inst.op->src_words[n] == 2 ? 2 : 1;
    if (operand_.kind != Operand::kVgpr)
      uniform_ = s.Scalar(operand_, 32 * words_);
    const SrcKind kind = s.inst.op->src_kind[n];
    is_float_ =
        kind == SrcKind::kF16 || kind == SrcKind::kF32 || kind == SrcKind::kF64;
  }

  // Lanes whose result may depend on undefined bits of this source.
  uint64_t Lanes() const {
    if (operand_.kind != Operand::kVgpr)
      return uniform_.undef != 0 ? ~uint64_t{0} : 0;
    uint64_t lanes = 0;
    for (int n = 0; n < words_; ++n) lanes |= s_.regs.Lanes(operand_.reg + n);
    return lanes != 0 && Permuted() ? ~uint64_t{0} : lanes;
  }

  Bits At(int lane) const {
    const Inst& i = s_.inst;
    Bits b;
    if (Permuted()) {
      const int from = DppSource(i.dpp_ctrl, lane);
      if (from >= 0 && (s_.exec() >> from & 1) != 0) b = Raw(from);
    } else {
      b = Raw(lane);
    }
    if (i.extra == Extra::kSdwa && n_ < 2) {
      const bool sext = (i.src_sext >> n_ & 1) != 0;
      b = {SdwaSelect(static_cast<uint32_t>(b.value), i.src_sel[n_], sext),
           SdwaSelect(static_cast<uint32_t>(b.undef), i.src_sel[n_], sext)};
    }
    if (half_) b = Field(b, (i.op_sel >> n_ & 1) != 0 ? 16 : 0, 16);
    if (is_float_) Sign(&b);
    return b;
  }

 private:
  bool Permuted() const { return s_.inst.extra == Extra::kDpp && n_ == 0; }
  Bits Raw(int lane) const {
    if (operand_.kind != Operand::kVgpr) return uniform_;
    const int r = operand_.reg;
    Bits b{s_.wave.v[r][lane], s_.regs.Get(r, lane)};
    if (words_ == 2) {
      b.value |= uint64_t{s_.wave.v[r + 1][lane]} << 32;
      b.undef |= uint64_t{s_.regs.Get(r + 1, lane)} << 32;
    }
    return b;
  }
  void Sign(Bits* b) const {
    const uint64_t sign = uint64_t{1} << (half_ ? 15 : 32 * words_ - 1);
    if ((s_.inst.abs >> n_ & 1) != 0) *b = {b->value & ~sign, b->undef & ~sign};
    if ((s_.inst.neg >> n_ & 1) != 0) b->value ^= sign;
  }

  const Step& s_;
  int n_;
  bool half_;
  const Operand& operand_;
  int words_;
  bool is_float_;
  Bits uniform_;
};

// A 16-bit result in its register.
uint32_t PlaceHalf(const Inst& i, uint32_t old, uint32_t half) {
  if ((i.op_sel & 8) != 0) return (old & 0xffff) | half << 16;
  if ((i.op->flags & kPreservesHigh) != 0) return (old & 0xffff0000) | half;
  return half;
}

// A result in the byte or half that SDWA names, and what the rest becomes.
uint32_t PlaceSdwa(const Inst& i, uint32_t old, uint32_t result) {
  // 6 is the dword, 7 reserved.
  if (i.extra != Extra::kSdwa || i.dst_sel >= 6) return result;
  const int bits = i.dst_sel < 4 ? 8 : 16;
  const int shift = i.dst_sel < 4 ? 8 * i.dst_sel : 16 * (i.dst_sel - 4);
  const uint32_t field = static_cast<uint32_t>(Mask(bits)) << shift;
  uint32_t rest = 0;
  if (i.dst_unused == 2) {
    rest = old & ~field;
  } else if (i.dst_unused == 1 && (result >> (bits - 1) & 1) != 0) {
    rest = shift + bits < 32 ? ~0u << (shift + bits) : 0;
  }
  return (result << shift & field) | rest;
}

// The carry-in or condition of all lanes.
Bits CarryMask(const Step& s) {
  if ((s.inst.op->flags & kReadsVcc) != 0) return s.Scalar(s.inst.src[2], 64);
  if (s.plan.reads_vcc) return {s.wave.S64(kVcc), s.regs.GetPair(kVcc)};
  return {};
}

class Run {
 public:
  explicit Run(const Step& s)
      : s_(s),
        rule_(*s.plan.rule),
        source_{{s, 0, (rule_.halves & kH0) != 0},
                {s, 1, (rule_.halves & kH1) != 0},
                {s, 2, (rule_.halves & kH2) != 0}},
        carry_(CarryMask(s)),
        written_(s.inst.extra == Extra::kDpp ? DppLanes(s.inst, s.exec())
                                             : s.exec()) {
    const OpInfo& op = *s.inst.op;
    const bool compare = rule_.how == How::kCompare;
    width_ = compare                       ? 32 * op.src_words[0]
             : (rule_.halves & kHDst) != 0 ? 16
                                           : 32 * op.dst_words;
    if (compare && (rule_.halves & kH0) != 0) width_ = 16;
    for (int n = 0; n < 3; ++n) {
      used_[n] = s.inst.src[n].kind != Operand::kNone &&
                 !(n == 2 && (op.flags & kReadsVcc) != 0);
    }
  }

  // Lanes that have to be looked at one by one.
  uint64_t Doubtful() const {
    uint64_t lanes = carry_.undef;
    for (int n = 0; n < 3; ++n) {
      if (used_[n]) lanes |= source_[n].Lanes();
    }
    return lanes & written_;
  }

  // The result's undefined bits; notes the flag's.
  uint64_t At(int lane) {
    Lane l;
    l.inst = &s_.inst;
    l.lane = lane;
    l.width = width_;
    for (int n = 0; n < 3; ++n) {
      if (used_[n]) l.s[n] = source_[n].At(lane);
    }
    l.carry = Field(carry_, lane, 1);
    Bits out = rule_.lane(l);
    if (s_.inst.clamp && out.undef != 0) out = Anything(0, width_);
    flags_ |= (l.flag.undef & 1) << lane;
    return out.undef;
  }

  void Registers() {
    const Inst& i = s_.inst;
    // Lanes whose registers keep something are looked at as well.
    const bool merges = (rule_.halves & kHDst) != 0 || i.extra == Extra::kSdwa;
    const uint64_t doubtful = merges ? written_ : Doubtful();
    uint64_t out[kLanes];
    for (uint64_t todo = doubtful; todo != 0; todo &= todo - 1) {
      const int l = __builtin_ctzll(todo);
      out[l] = At(l);
      if (!merges) continue;
      uint32_t r = static_cast<uint32_t>(out[l]);
      const uint32_t old = s_.regs.Get(i.dst, l);
      if ((rule_.halves & kHDst) != 0) r = PlaceHalf(i, old, r);
      out[l] = PlaceSdwa(i, old, r);
    }
    for (int n = 0; n < i.op->dst_words; ++n) {
      s_.regs.Clear(i.dst + n, written_ & ~doubtful);
      for (uint64_t todo = doubtful; todo != 0; todo &= todo - 1) {
        const int l = __builtin_ctzll(todo);
        s_.regs.Set(i.dst + n, l, static_cast<uint32_t>(out[l] >> (32 * n)));
      }
    }
    if ((i.op->flags & kWritesMask) != 0) s_.regs.SetPair(i.sdst, flags_);
  }

  void MaskOfLanes() {
    uint64_t undef = 0;
    for (uint64_t todo = Doubtful(); todo != 0; todo &= todo - 1) {
      const int l = __builtin_ctzll(todo);
      undef |= (At(l) & 1) << l;
    }
    s_.regs.SetPair(s_.inst.sdst, undef);
    if ((s_.inst.op->flags & kWritesExec) != 0) s_.regs.SetPair(kExec, undef);
  }

 private:
  const Step& s_;
  const Rule& rule_;
  Source source_[3];
  Bits carry_;
  uint64_t written_;
  int width_;
  bool used_[3];
  uint64_t flags_ = 0;
};

}  // namespace

void Vector(const Step& s) {
  Run run(s);
  if (s.plan.rule->how == How::kCompare) {
    run.MaskOfLanes();
  } else {
    run.Registers();
  }
}

}  // namespace ingot::emulator::taint
