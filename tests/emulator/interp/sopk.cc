// Scalar ALU: SOPK, with the hardware registers.
#include "tests/emulator/interp/sop.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

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

OpTable SopkTable() { return {kSopk, sizeof(kSopk) / sizeof(kSopk[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
