// Scalar ALU: SOP1.
#include "tests/emulator/interp/sop.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

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

}  // namespace

OpTable Sop1Table() { return {kSop1, sizeof(kSop1) / sizeof(kSop1[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
