// Scalar ALU: SOP1, SOP2, SOPC, SOPK.
#include <string>
#include <type_traits>

#include "tests/emulator/interp/scalar.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

using U = uint32_t;
using I = int32_t;
using UL = uint64_t;
using IL = int64_t;

// A lane-less operation: kFunction(a, b, scc) may change SCC.
template <class D, class A, class B, auto kFunction>
void Two(Wave& w, const Inst& i) {
  uint32_t scc = w.scc;
  const D r =
      kFunction(ReadScalar<A>(w, i.src[0]), ReadScalar<B>(w, i.src[1]), scc);
  WriteScalar<D>(w, i.dst, r);
  w.scc = scc;
}

// As Two; SCC becomes "the result is not zero".
template <class D, class A, class B, auto kFunction>
void TwoLogic(Wave& w, const Inst& i) {
  const D r = kFunction(ReadScalar<A>(w, i.src[0]), ReadScalar<B>(w, i.src[1]));
  WriteScalar<D>(w, i.dst, r);
  w.scc = r != 0;
}

template <class D, class A, auto kFunction>
void One(Wave& w, const Inst& i) {
  uint32_t scc = w.scc;
  const D r = kFunction(ReadScalar<A>(w, i.src[0]), scc);
  WriteScalar<D>(w, i.dst, r);
  w.scc = scc;
}

template <class A, class B, auto kFunction>
void Compare(Wave& w, const Inst& i) {
  w.scc = kFunction(ReadScalar<A>(w, i.src[0]), ReadScalar<B>(w, i.src[1]));
}

template <auto kFunction>
void SaveExec(Wave& w, const Inst& i) {
  const uint64_t source = ReadScalar<UL>(w, i.src[0]), exec = w.exec();
  w.SetS64(i.dst, exec);
  const uint64_t next = kFunction(source, exec);
  w.SetS64(kExec, next);
  w.scc = next != 0;
}

template <auto kFunction>
void WriteExec(Wave& w, const Inst& i) {
  const uint64_t next = kFunction(ReadScalar<UL>(w, i.src[0]), w.exec());
  w.SetS64(kExec, next);
  w.SetS64(i.dst, next);
  w.scc = next != 0;
}

template <class D, class A, class B, auto kFunction>
constexpr OpInfo S2(uint16_t opcode, const char* name, uint32_t flags = 0) {
  OpInfo o{opcode, name, &Two<D, A, B, kFunction>, OpClass::kSalu, flags};
  o.dst_words = sizeof(D) / 4;
  o.src_words[0] = sizeof(A) / 4;
  o.src_words[1] = sizeof(B) / 4;
  o.src_kind[0] = ScalarKind<A>();
  o.src_kind[1] = ScalarKind<B>();
  return o;
}

template <class D, class A, class B, auto kFunction>
constexpr OpInfo L2(uint16_t opcode, const char* name) {
  OpInfo o = S2<D, A, B, [](A, B, uint32_t&) { return D(); }>(opcode, name);
  o.run = &TwoLogic<D, A, B, kFunction>;
  return o;
}

template <class D, class A, auto kFunction>
constexpr OpInfo S1(uint16_t opcode, const char* name, uint32_t flags = 0) {
  OpInfo o{opcode, name, &One<D, A, kFunction>, OpClass::kSalu, flags};
  o.dst_words = sizeof(D) / 4;
  o.src_words[0] = sizeof(A) / 4;
  o.src_kind[0] = ScalarKind<A>();
  return o;
}

template <class A, class B, auto kFunction>
constexpr OpInfo SC(uint16_t opcode, const char* name) {
  OpInfo o{opcode, name, &Compare<A, B, kFunction>, OpClass::kSalu, 0};
  o.dst_words = 0;
  o.src_words[0] = sizeof(A) / 4;
  o.src_words[1] = sizeof(B) / 4;
  o.src_kind[0] = ScalarKind<A>();
  o.src_kind[1] = ScalarKind<B>();
  return o;
}

constexpr OpInfo SH(uint16_t opcode, const char* name, Handler run, int dst,
                    int src, uint32_t flags = 0, OpClass cls = OpClass::kSalu) {
  OpInfo o{opcode, name, run, cls, flags};
  o.dst_words = static_cast<uint8_t>(dst);
  o.src_words[0] = static_cast<uint8_t>(src);
  o.src_kind[0] = src == 0   ? SrcKind::kNone
                  : src == 2 ? SrcKind::kB64
                             : SrcKind::kB32;
  return o;
}

// What the processor has, but only a trap handler or a graphics driver uses.
void NotModelled(Wave& w, const Inst& i) {
  w.Raise(FaultKind::kUnknownInstruction, -1, 0,
          (std::string(i.op->name) + " is not modelled").c_str());
}

// ---- Forks: a divergent branch runs the smaller half first and keeps the
// other in four SGPRs at MODE.CSP * 4, until s_cbranch_join. ----

uint32_t ForkDepth(const Wave& w) { return w.mode >> 29; }
void SetForkDepth(Wave& w, uint32_t depth) {
  w.mode = (w.mode & 0x1fffffff) | depth << 29;
}

void PushFork(Wave& w, UL pc, UL exec) {
  const int at = static_cast<int>(ForkDepth(w) * 4);
  w.SetS64(at, exec);
  w.SetS64(at + 2, pc);
  SetForkDepth(w, (ForkDepth(w) + 1) & 7);
}

// `pass` are the lanes that want `target`.
void Fork(Wave& w, UL pass, UL target) {
  const UL exec = w.exec(), taken = pass & exec, left = ~pass & exec;
  if (taken == exec) {
    w.pc = target;
  } else if (left != exec) {
    const bool left_first =
        __builtin_popcountll(left) < __builtin_popcountll(taken);
    PushFork(w, left_first ? target : w.pc, left_first ? taken : left);
    w.SetS64(kExec, left_first ? left : taken);
    if (!left_first) w.pc = target;
  }
}
void GroupFork(Wave& w, const Inst& i) {
  Fork(w, ReadScalar<UL>(w, i.src[0]), ReadScalar<UL>(w, i.src[1]));
}
void ImmediateFork(Wave& w, const Inst& i) {
  Fork(w, w.S64(i.dst), w.pc + static_cast<UL>(IL{i.imm} * 4));
}
void Join(Wave& w, const Inst& i) {
  if (ForkDepth(w) == ReadScalar<U>(w, i.src[0])) return;
  SetForkDepth(w, (ForkDepth(w) - 1) & 7);
  const int at = static_cast<int>(ForkDepth(w) * 4);
  w.SetS64(kExec, w.S64(at));
  w.pc = w.S64(at + 2);
}

// ---- SOP2 ----

constexpr auto kAddU = [](U a, U b, uint32_t& scc) {
  const UL r = UL{a} + b;
  scc = r >> 32 != 0;
  return static_cast<U>(r);
};
constexpr auto kSubU = [](U a, U b, uint32_t& scc) {
  scc = b > a;
  return a - b;
};
constexpr auto kAddI = [](U a, U b, uint32_t& scc) {
  const U r = a + b;
  scc = (~(a ^ b) & (a ^ r)) >> 31;
  return r;
};
constexpr auto kSubI = [](U a, U b, uint32_t& scc) {
  const U r = a - b;
  scc = ((a ^ b) & (a ^ r)) >> 31;
  return r;
};
constexpr auto kAddC = [](U a, U b, uint32_t& scc) {
  const UL r = UL{a} + b + scc;
  scc = r >> 32 != 0;
  return static_cast<U>(r);
};
constexpr auto kSubB = [](U a, U b, uint32_t& scc) {
  const UL r = UL{b} + scc;
  scc = r > a;
  return static_cast<U>(a - r);
};

template <class T>
constexpr auto kMin = [](T a, T b, uint32_t& scc) {
  scc = a < b;
  return a < b ? a : b;
};
template <class T>
constexpr auto kMax = [](T a, T b, uint32_t& scc) {
  scc = a >= b;
  return a > b ? a : b;
};
template <class T>
constexpr auto kSelect =
    [](T a, T b, uint32_t& scc) { return scc != 0 ? a : b; };

template <int kShift>
constexpr auto kShiftAdd = [](U a, U b, uint32_t& scc) {
  const UL r = (UL{a} << kShift) + b;
  scc = r >> 32 != 0;
  return static_cast<U>(r);
};

template <class T>
constexpr T BitField(T a, U b, int width_bits) {
  const int bits = static_cast<int>(sizeof(T)) * 8;
  const int offset = static_cast<int>(b & (bits - 1));
  const int width = static_cast<int>(b >> 16 & ((1u << width_bits) - 1));
  if (width == 0) return 0;
  const T shifted = static_cast<T>(a >> offset);
  if (width >= bits) return shifted;
  // For signed T the field's top bit extends.
  using Un = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Un>(shifted) << (bits - width)) >>
         (bits - width);
}

constexpr OpInfo ForkLine() {
  OpInfo o = SH(0x29, "s_cbranch_g_fork", &GroupFork, 0, 2, kEndsRun,
                OpClass::kBranch);
  o.src_words[1] = 2;
  o.src_kind[1] = SrcKind::kB64;
  return o;
}

constexpr OpInfo RestoreLine() {
  OpInfo o = SH(0x2b, "s_rfe_restore_b64", &NotModelled, 0, 2);
  o.src_words[1] = 1;
  o.src_kind[1] = SrcKind::kB32;
  return o;
}

constexpr OpInfo kSop2[] = {
    S2<U, U, U, kAddU>(0x00, "s_add_u32"),
    S2<U, U, U, kSubU>(0x01, "s_sub_u32"),
    S2<U, U, U, kAddI>(0x02, "s_add_i32"),
    S2<U, U, U, kSubI>(0x03, "s_sub_i32"),
    S2<U, U, U, kAddC>(0x04, "s_addc_u32", kReadsScc),
    S2<U, U, U, kSubB>(0x05, "s_subb_u32", kReadsScc),
    S2<I, I, I, kMin<I>>(0x06, "s_min_i32"),
    S2<U, U, U, kMin<U>>(0x07, "s_min_u32"),
    S2<I, I, I, kMax<I>>(0x08, "s_max_i32"),
    S2<U, U, U, kMax<U>>(0x09, "s_max_u32"),
    S2<U, U, U, kSelect<U>>(0x0a, "s_cselect_b32", kReadsScc),
    S2<UL, UL, UL, kSelect<UL>>(0x0b, "s_cselect_b64", kReadsScc),
    L2<U, U, U, [](U a, U b) { return a & b; }>(0x0c, "s_and_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a & b; }>(0x0d, "s_and_b64"),
    L2<U, U, U, [](U a, U b) { return a | b; }>(0x0e, "s_or_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a | b; }>(0x0f, "s_or_b64"),
    L2<U, U, U, [](U a, U b) { return a ^ b; }>(0x10, "s_xor_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a ^ b; }>(0x11, "s_xor_b64"),
    L2<U, U, U, [](U a, U b) { return a & ~b; }>(0x12, "s_andn2_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a & ~b; }>(0x13, "s_andn2_b64"),
    L2<U, U, U, [](U a, U b) { return a | ~b; }>(0x14, "s_orn2_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a | ~b; }>(0x15, "s_orn2_b64"),
    L2<U, U, U, [](U a, U b) { return ~(a & b); }>(0x16, "s_nand_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return ~(a & b); }>(0x17, "s_nand_b64"),
    L2<U, U, U, [](U a, U b) { return ~(a | b); }>(0x18, "s_nor_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return ~(a | b); }>(0x19, "s_nor_b64"),
    L2<U, U, U, [](U a, U b) { return ~(a ^ b); }>(0x1a, "s_xnor_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return ~(a ^ b); }>(0x1b, "s_xnor_b64"),
    L2<U, U, U, [](U a, U b) { return a << (b & 31); }>(0x1c, "s_lshl_b32"),
    L2<UL, UL, U, [](UL a, U b) { return a << (b & 63); }>(0x1d, "s_lshl_b64"),
    L2<U, U, U, [](U a, U b) { return (a >> (b & 31)); }>(0x1e, "s_lshr_b32"),
    L2<UL, UL, U, [](UL a, U b) { return (a >> (b & 63)); }>(0x1f,
                                                             "s_lshr_b64"),
    L2<I, I, U, [](I a, U b) { return (a >> (b & 31)); }>(0x20, "s_ashr_i32"),
    L2<IL, IL, U, [](IL a, U b) { return (a >> (b & 63)); }>(0x21,
                                                             "s_ashr_i64"),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return ((1u << (a & 31)) - 1) << (b & 31); }>(
        0x22, "s_bfm_b32"),
    S2<UL, U, U,
       [](U a, U b, uint32_t&) {
         return ((UL{1} << (a & 63)) - 1) << (b & 63);
       }>(0x23, "s_bfm_b64"),
    S2<U, U, U, [](U a, U b, uint32_t&) { return a * b; }>(0x24, "s_mul_i32"),
    L2<U, U, U, [](U a, U b) { return (BitField<U>(a, b, 7)); }>(0x25,
                                                                 "s_bfe_u32"),
    L2<I, I, U, [](I a, U b) { return (BitField<I>(a, b, 7)); }>(0x26,
                                                                 "s_bfe_i32"),
    L2<UL, UL, U, [](UL a, U b) { return (BitField<UL>(a, b, 7)); }>(
        0x27, "s_bfe_u64"),
    L2<IL, IL, U, [](IL a, U b) { return (BitField<IL>(a, b, 7)); }>(
        0x28, "s_bfe_i64"),
    ForkLine(),
    L2<U, U, U,
       [](U a, U b) {
         const U d = a - b;
         return (static_cast<I>(d) < 0 ? 0u - d : d);
       }>(0x2a, "s_absdiff_i32"),
    RestoreLine(),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return (static_cast<U>(UL{a} * b >> 32)); }>(
        0x2c, "s_mul_hi_u32"),
    S2<U, I, I,
       [](I a, I b, uint32_t&) { return (static_cast<U>(IL{a} * b >> 32)); }>(
        0x2d, "s_mul_hi_i32"),
    S2<U, U, U, kShiftAdd<1>>(0x2e, "s_lshl1_add_u32"),
    S2<U, U, U, kShiftAdd<2>>(0x2f, "s_lshl2_add_u32"),
    S2<U, U, U, kShiftAdd<3>>(0x30, "s_lshl3_add_u32"),
    S2<U, U, U, kShiftAdd<4>>(0x31, "s_lshl4_add_u32"),
    S2<U, U, U, [](U a, U b, uint32_t&) { return (a & 0xffff) | b << 16; }>(
        0x32, "s_pack_ll_b32_b16"),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return (a & 0xffff) | (b & 0xffff0000); }>(
        0x33, "s_pack_lh_b32_b16"),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return (a >> 16 | (b & 0xffff0000)); }>(
        0x34, "s_pack_hh_b32_b16"),
};

// ---- SOP1 ----

template <class D, class A, auto kFunction>
constexpr OpInfo L1(uint16_t opcode, const char* name) {
  return S1<D, A, [](A a, uint32_t& scc) {
    const D r = kFunction(a);
    scc = r != 0;
    return r;
  }>(opcode, name);
}

constexpr U Reverse(U a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}

// Whole quads of any lane that is set.
constexpr UL WholeQuads(UL a) {
  UL r = 0;
  for (int q = 0; q < 64; q += 4) {
    if ((a >> q & 15) != 0) r |= UL{15} << q;
  }
  return r;
}
constexpr UL QuadBits(UL a) {
  UL r = 0;
  for (int q = 0; q < 16; ++q) {
    if ((a >> (4 * q) & 15) != 0) r |= UL{1} << q;
  }
  return r;
}
constexpr UL Replicate(U a) {
  UL r = 0;
  for (int n = 0; n < 32; ++n) r |= (a >> n & 1) != 0 ? UL{3} << (2 * n) : 0;
  return r;
}

constexpr I FirstOne(UL a) { return a == 0 ? -1 : __builtin_ctzll(a); }
constexpr I LeadingZeros(UL a, int bits) {
  return a == 0 ? -1 : __builtin_clzll(a) - (64 - bits);
}
// Bits above the first that differs from the sign; -1 when none does.
constexpr I SignRun(IL a, int bits) {
  const UL folded = static_cast<UL>(a < 0 ? ~a : a);
  return folded == 0 ? -1 : __builtin_clzll(folded) - (64 - bits);
}

template <class T>
void CondMove(Wave& w, const Inst& i) {
  if (w.scc != 0) WriteScalar<T>(w, i.dst, ReadScalar<T>(w, i.src[0]));
}
template <class T, bool kSet>
void BitSet(Wave& w, const Inst& i) {
  const uint32_t n = ReadScalar<U>(w, i.src[0]) & (sizeof(T) * 8 - 1);
  const Operand self{Operand::kSgpr, i.dst, 0};
  const T old = ReadScalar<T>(w, self), bit = static_cast<T>(T{1} << n);
  WriteScalar<T>(w, i.dst, kSet ? old | bit : old & ~bit);
}

void GetPc(Wave& w, const Inst& i) { w.SetS64(i.dst, w.pc); }
void SetPc(Wave& w, const Inst& i) { w.pc = ReadScalar<UL>(w, i.src[0]); }
void SwapPc(Wave& w, const Inst& i) {
  const UL next = ReadScalar<UL>(w, i.src[0]);
  w.SetS64(i.dst, w.pc);
  w.pc = next;
}

template <class T>
void MoveRelativeSource(Wave& w, const Inst& i) {
  if (i.src[0].kind != Operand::kSgpr) {
    w.Raise(FaultKind::kUnknownInstruction, -1, 0, "s_movrels from a constant");
    return;
  }
  const Operand from{
      Operand::kSgpr,
      static_cast<uint16_t>((i.src[0].reg + w.s[kM0]) & (kSgprs - 1)), 0};
  WriteScalar<T>(w, i.dst, ReadScalar<T>(w, from));
}
template <class T>
void MoveRelativeDest(Wave& w, const Inst& i) {
  WriteScalar<T>(w, static_cast<int>((i.dst + w.s[kM0]) & (kSgprs - 1)),
                 ReadScalar<T>(w, i.src[0]));
}
void SetGprIdx(Wave& w, const Inst& i) {
  w.s[kM0] = (w.s[kM0] & ~0xffu) | (ReadScalar<U>(w, i.src[0]) & 0xff);
}

constexpr auto kSavedAnd = [](UL s, UL e) { return s & e; };
constexpr auto kSavedOr = [](UL s, UL e) { return s | e; };
constexpr auto kSavedXor = [](UL s, UL e) { return s ^ e; };
constexpr auto kSavedAndN2 = [](UL s, UL e) { return s & ~e; };
constexpr auto kSavedOrN2 = [](UL s, UL e) { return s | ~e; };
constexpr auto kSavedNand = [](UL s, UL e) { return ~(s & e); };
constexpr auto kSavedNor = [](UL s, UL e) { return ~(s | e); };
constexpr auto kSavedXnor = [](UL s, UL e) { return ~(s ^ e); };
constexpr auto kSavedAndN1 = [](UL s, UL e) { return ~s & e; };
constexpr auto kSavedOrN1 = [](UL s, UL e) { return ~s | e; };

template <auto kFunction>
constexpr OpInfo SE(uint16_t opcode, const char* name) {
  return SH(opcode, name, &SaveExec<kFunction>, 2, 2);
}

constexpr OpInfo kSop1[] = {
    S1<U, U, [](U a, uint32_t&) { return a; }>(0x00, "s_mov_b32"),
    S1<UL, UL, [](UL a, uint32_t&) { return a; }>(0x01, "s_mov_b64"),
    SH(0x02, "s_cmov_b32", &CondMove<U>, 1, 1, kReadsScc),
    SH(0x03, "s_cmov_b64", &CondMove<UL>, 2, 2, kReadsScc),
    L1<U, U, [](U a) { return ~a; }>(0x04, "s_not_b32"),
    L1<UL, UL, [](UL a) { return ~a; }>(0x05, "s_not_b64"),
    L1<U, U, [](U a) { return (static_cast<U>(WholeQuads(a))); }>(0x06,
                                                                  "s_wqm_b32"),
    L1<UL, UL, [](UL a) { return WholeQuads(a); }>(0x07, "s_wqm_b64"),
    S1<U, U, [](U a, uint32_t&) { return Reverse(a); }>(0x08, "s_brev_b32"),
    S1<UL, UL,
       [](UL a, uint32_t&) {
         return (UL{Reverse(static_cast<U>(a))} << 32 |
                 Reverse(static_cast<U>(a >> 32)));
       }>(0x09, "s_brev_b64"),
    L1<U, U, [](U a) { return (static_cast<U>(__builtin_popcount(~a))); }>(
        0x0a, "s_bcnt0_i32_b32"),
    L1<U, UL, [](UL a) { return (static_cast<U>(__builtin_popcountll(~a))); }>(
        0x0b, "s_bcnt0_i32_b64"),
    L1<U, U, [](U a) { return (static_cast<U>(__builtin_popcount(a))); }>(
        0x0c, "s_bcnt1_i32_b32"),
    L1<U, UL, [](UL a) { return (static_cast<U>(__builtin_popcountll(a))); }>(
        0x0d, "s_bcnt1_i32_b64"),
    S1<I, U, [](U a, uint32_t&) { return (FirstOne(static_cast<U>(~a))); }>(
        0x0e, "s_ff0_i32_b32"),
    S1<I, UL, [](UL a, uint32_t&) { return FirstOne(~a); }>(0x0f,
                                                            "s_ff0_i32_b64"),
    S1<I, U, [](U a, uint32_t&) { return FirstOne(a); }>(0x10, "s_ff1_i32_b32"),
    S1<I, UL, [](UL a, uint32_t&) { return FirstOne(a); }>(0x11,
                                                           "s_ff1_i32_b64"),
    S1<I, U, [](U a, uint32_t&) { return LeadingZeros(a, 32); }>(
        0x12, "s_flbit_i32_b32"),
    S1<I, UL, [](UL a, uint32_t&) { return LeadingZeros(a, 64); }>(
        0x13, "s_flbit_i32_b64"),
    S1<I, I, [](I a, uint32_t&) { return SignRun(a, 32); }>(0x14,
                                                            "s_flbit_i32"),
    S1<I, IL, [](IL a, uint32_t&) { return SignRun(a, 64); }>(
        0x15, "s_flbit_i32_i64"),
    S1<I, U, [](U a, uint32_t&) { return (I{static_cast<int8_t>(a)}); }>(
        0x16, "s_sext_i32_i8"),
    S1<I, U, [](U a, uint32_t&) { return (I{static_cast<int16_t>(a)}); }>(
        0x17, "s_sext_i32_i16"),
    SH(0x18, "s_bitset0_b32", &BitSet<U, false>, 1, 1, kReadsSdst),
    SH(0x19, "s_bitset0_b64", &BitSet<UL, false>, 2, 1, kReadsSdst),
    SH(0x1a, "s_bitset1_b32", &BitSet<U, true>, 1, 1, kReadsSdst),
    SH(0x1b, "s_bitset1_b64", &BitSet<UL, true>, 2, 1, kReadsSdst),
    SH(0x1c, "s_getpc_b64", &GetPc, 2, 0),
    SH(0x1d, "s_setpc_b64", &SetPc, 0, 2, kEndsRun, OpClass::kBranch),
    SH(0x1e, "s_swappc_b64", &SwapPc, 2, 2, kEndsRun, OpClass::kBranch),
    SH(0x1f, "s_rfe_b64", &NotModelled, 0, 2),
    SE<kSavedAnd>(0x20, "s_and_saveexec_b64"),
    SE<kSavedOr>(0x21, "s_or_saveexec_b64"),
    SE<kSavedXor>(0x22, "s_xor_saveexec_b64"),
    SE<kSavedAndN2>(0x23, "s_andn2_saveexec_b64"),
    SE<kSavedOrN2>(0x24, "s_orn2_saveexec_b64"),
    SE<kSavedNand>(0x25, "s_nand_saveexec_b64"),
    SE<kSavedNor>(0x26, "s_nor_saveexec_b64"),
    SE<kSavedXnor>(0x27, "s_xnor_saveexec_b64"),
    L1<U, U, [](U a) { return (static_cast<U>(QuadBits(a))); }>(
        0x28, "s_quadmask_b32"),
    L1<UL, UL, [](UL a) { return QuadBits(a); }>(0x29, "s_quadmask_b64"),
    SH(0x2a, "s_movrels_b32", &MoveRelativeSource<U>, 1, 1, kReadsM0),
    SH(0x2b, "s_movrels_b64", &MoveRelativeSource<UL>, 2, 2, kReadsM0),
    SH(0x2c, "s_movreld_b32", &MoveRelativeDest<U>, 1, 1, kReadsM0),
    SH(0x2d, "s_movreld_b64", &MoveRelativeDest<UL>, 2, 2, kReadsM0),
    SH(0x2e, "s_cbranch_join", &Join, 0, 1, kEndsRun, OpClass::kBranch),
    L1<U, U, [](U a) { return (static_cast<I>(a) < 0 ? 0u - a : a); }>(
        0x30, "s_abs_i32"),
    SH(0x32, "s_set_gpr_idx_idx", &SetGprIdx, 0, 1),
    SE<kSavedAndN1>(0x33, "s_andn1_saveexec_b64"),
    SE<kSavedOrN1>(0x34, "s_orn1_saveexec_b64"),
    SH(0x35, "s_andn1_wrexec_b64", &WriteExec<kSavedAndN1>, 2, 2),
    SH(0x36, "s_andn2_wrexec_b64", &WriteExec<kSavedAndN2>, 2, 2),
    S1<UL, U, [](U a, uint32_t&) { return Replicate(a); }>(
        0x37, "s_bitreplicate_b64_b32"),
};

// ---- SOPC ----

void SetGprIdxOn(Wave& w, const Inst& i) {
  const uint32_t modes = i.words[0] >> 8 & 0xf;
  w.s[kM0] =
      (w.s[kM0] & ~0xf0ffu) | (ReadScalar<U>(w, i.src[0]) & 0xff) | modes << 12;
  w.gpr_idx = true;
}

constexpr OpInfo SkipLine() {
  OpInfo o = SC<U, U, [](U, U) { return false; }>(0x10, "s_setvskip");
  o.run = &NotModelled;
  return o;
}

constexpr OpInfo SetGprIdxOnLine() {
  OpInfo o = SH(0x11, "s_set_gpr_idx_on", &SetGprIdxOn, 0, 1);
  return o;
}

constexpr OpInfo kSopc[] = {
    SC<I, I, [](I a, I b) { return a == b; }>(0x00, "s_cmp_eq_i32"),
    SC<I, I, [](I a, I b) { return a != b; }>(0x01, "s_cmp_lg_i32"),
    SC<I, I, [](I a, I b) { return (a > b); }>(0x02, "s_cmp_gt_i32"),
    SC<I, I, [](I a, I b) { return (a >= b); }>(0x03, "s_cmp_ge_i32"),
    SC<I, I, [](I a, I b) { return a < b; }>(0x04, "s_cmp_lt_i32"),
    SC<I, I, [](I a, I b) { return a <= b; }>(0x05, "s_cmp_le_i32"),
    SC<U, U, [](U a, U b) { return a == b; }>(0x06, "s_cmp_eq_u32"),
    SC<U, U, [](U a, U b) { return a != b; }>(0x07, "s_cmp_lg_u32"),
    SC<U, U, [](U a, U b) { return (a > b); }>(0x08, "s_cmp_gt_u32"),
    SC<U, U, [](U a, U b) { return (a >= b); }>(0x09, "s_cmp_ge_u32"),
    SC<U, U, [](U a, U b) { return a < b; }>(0x0a, "s_cmp_lt_u32"),
    SC<U, U, [](U a, U b) { return a <= b; }>(0x0b, "s_cmp_le_u32"),
    SC<U, U, [](U a, U b) { return ((a >> (b & 31) & 1) == 0); }>(
        0x0c, "s_bitcmp0_b32"),
    SC<U, U, [](U a, U b) { return ((a >> (b & 31) & 1) != 0); }>(
        0x0d, "s_bitcmp1_b32"),
    SC<UL, U, [](UL a, U b) { return ((a >> (b & 63) & 1) == 0); }>(
        0x0e, "s_bitcmp0_b64"),
    SC<UL, U, [](UL a, U b) { return ((a >> (b & 63) & 1) != 0); }>(
        0x0f, "s_bitcmp1_b64"),
    SkipLine(),
    SetGprIdxOnLine(),
    SC<UL, UL, [](UL a, UL b) { return a == b; }>(0x12, "s_cmp_eq_u64"),
    SC<UL, UL, [](UL a, UL b) { return a != b; }>(0x13, "s_cmp_lg_u64"),
};

// ---- SOPK ----

template <class T, auto kFunction>
void CompareK(Wave& w, const Inst& i) {
  const T k = std::is_signed_v<T> ? static_cast<T>(i.imm)
                                  : static_cast<T>(i.imm & 0xffff);
  w.scc = kFunction(static_cast<T>(w.s[i.dst]), k);
}
void MoveK(Wave& w, const Inst& i) { w.s[i.dst] = static_cast<U>(i.imm); }
void CondMoveK(Wave& w, const Inst& i) {
  if (w.scc != 0) w.s[i.dst] = static_cast<U>(i.imm);
}
void AddK(Wave& w, const Inst& i) {
  uint32_t scc = 0;
  w.s[i.dst] = kAddI(w.s[i.dst], static_cast<U>(i.imm), scc);
  w.scc = scc;
}
void MulK(Wave& w, const Inst& i) { w.s[i.dst] *= static_cast<U>(i.imm); }
void Call(Wave& w, const Inst& i) {
  w.SetS64(i.dst, w.pc);
  w.pc += static_cast<UL>(IL{i.imm} * 4);
}

// Hardware registers that programs read.
enum : uint32_t {
  kHwMode = 1,
  kHwStatus = 2,
  kHwLdsAlloc = 6,
  kHwShMemBases = 15
};
constexpr U kModeGprIdx = 1u << 27;

uint32_t Status(const Wave& w) {
  const U in_group = w.group->waves.size() > 1;
  return w.scc | (w.exec() == 0 ? 1u << 9 : 0) |
         (w.S64(kVcc) == 0 ? 1u << 10 : 0) | in_group << 11 | 1u << 16 |
         (w.scratch_bytes != 0 ? 1u << 28 : 0);
}

uint32_t HardwareRegister(const Wave& w, uint32_t id) {
  switch (id) {
    case kHwMode:
      return (w.mode & ~kModeGprIdx) | (w.gpr_idx ? kModeGprIdx : 0);
    case kHwStatus:
      return Status(w);
    case kHwLdsAlloc:  // the size, in units of 64 dwords
      return (w.group->lds_bytes + 255) / 256 << 12;
    case kHwShMemBases:
      // The apertures' top 16 bits: private in the low half, shared in the
      // high.
      return kPrivateAperture >> 48 | (kSharedAperture >> 48) << 16;
    default:
      return 0;  // HW_ID, XCC_ID and the like: one idle machine
  }
}
uint32_t FieldMask(const Inst& i) {
  const uint32_t size = (static_cast<U>(i.imm) >> 11 & 31) + 1;
  return size == 32 ? ~0u : (1u << size) - 1;
}
void GetReg(Wave& w, const Inst& i) {
  const uint32_t id = static_cast<U>(i.imm) & 63,
                 offset = static_cast<U>(i.imm) >> 6 & 31;
  w.s[i.dst] = HardwareRegister(w, id) >> offset & FieldMask(i);
}
void SetRegister(Wave& w, const Inst& i, uint32_t value) {
  if ((static_cast<U>(i.imm) & 63) != kHwMode) return;
  const uint32_t offset = static_cast<U>(i.imm) >> 6 & 31, mask = FieldMask(i)
                                                                  << offset;
  const uint32_t mode =
      (HardwareRegister(w, kHwMode) & ~mask) | (value << offset & mask);
  w.SetMode(mode);
  w.gpr_idx = (mode & kModeGprIdx) != 0;
}
void SetReg(Wave& w, const Inst& i) { SetRegister(w, i, w.s[i.dst]); }
void SetRegImm(Wave& w, const Inst& i) {
  SetRegister(w, i, static_cast<uint32_t>(i.src[0].value));
}

template <class T, auto kFunction>
constexpr OpInfo CK(uint16_t opcode, const char* name) {
  return SH(opcode, name, &CompareK<T, kFunction>, 1, 0, kNoSdst | kReadsSdst);
}

constexpr OpInfo kSopk[] = {
    SH(0x00, "s_movk_i32", &MoveK, 1, 0),
    SH(0x01, "s_cmovk_i32", &CondMoveK, 1, 0, kReadsScc),
    CK<I, [](I a, I b) { return a == b; }>(0x02, "s_cmpk_eq_i32"),
    CK<I, [](I a, I b) { return a != b; }>(0x03, "s_cmpk_lg_i32"),
    CK<I, [](I a, I b) { return (a > b); }>(0x04, "s_cmpk_gt_i32"),
    CK<I, [](I a, I b) { return (a >= b); }>(0x05, "s_cmpk_ge_i32"),
    CK<I, [](I a, I b) { return a < b; }>(0x06, "s_cmpk_lt_i32"),
    CK<I, [](I a, I b) { return a <= b; }>(0x07, "s_cmpk_le_i32"),
    CK<U, [](U a, U b) { return a == b; }>(0x08, "s_cmpk_eq_u32"),
    CK<U, [](U a, U b) { return a != b; }>(0x09, "s_cmpk_lg_u32"),
    CK<U, [](U a, U b) { return (a > b); }>(0x0a, "s_cmpk_gt_u32"),
    CK<U, [](U a, U b) { return (a >= b); }>(0x0b, "s_cmpk_ge_u32"),
    CK<U, [](U a, U b) { return a < b; }>(0x0c, "s_cmpk_lt_u32"),
    CK<U, [](U a, U b) { return a <= b; }>(0x0d, "s_cmpk_le_u32"),
    SH(0x0e, "s_addk_i32", &AddK, 1, 0, kReadsSdst),
    SH(0x0f, "s_mulk_i32", &MulK, 1, 0, kReadsSdst),
    SH(0x10, "s_cbranch_i_fork", &ImmediateFork, 2, 0,
       kEndsRun | kNoSdst | kReadsSdst, OpClass::kBranch),
    SH(0x11, "s_getreg_b32", &GetReg, 1, 0),
    SH(0x12, "s_setreg_b32", &SetReg, 1, 0, kNoSdst | kReadsSdst),
    SH(0x14, "s_setreg_imm32_b32", &SetRegImm, 0, 0, kLiteralLast),
    SH(0x15, "s_call_b64", &Call, 2, 0, kEndsRun, OpClass::kBranch),
};

}  // namespace

OpTable Sop1Table() { return {kSop1, sizeof(kSop1) / sizeof(kSop1[0])}; }
OpTable Sop2Table() { return {kSop2, sizeof(kSop2) / sizeof(kSop2[0])}; }
OpTable SopcTable() { return {kSopc, sizeof(kSopc) / sizeof(kSopc[0])}; }
OpTable SopkTable() { return {kSopk, sizeof(kSopk) / sizeof(kSopk[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
