// Runs single instructions from their encoding words on a wave of its own, for
// tests: no code object, no launch, every host address is memory.
#ifndef TESTS_EMULATOR_SINGLE_INSTRUCTION_H_
#define TESTS_EMULATOR_SINGLE_INSTRUCTION_H_

#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tests/emulator/decode.h"
#include "tests/emulator/disassemble.h"
#include "tests/emulator/interp/interpreter.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {

using Words = std::vector<uint32_t>;

// Encodings. Sources are 9-bit codes: V(n) for a VGPR, S(n) for an SGPR.
constexpr uint32_t V(uint32_t n) { return 256 + n; }
constexpr uint32_t S(uint32_t n) { return n; }
inline Words Sop1(uint32_t op, uint32_t sdst, uint32_t s0) {
  return {0xbe800000 | sdst << 16 | op << 8 | s0};
}
inline Words Sop2(uint32_t op, uint32_t sdst, uint32_t s0, uint32_t s1) {
  return {0x80000000 | op << 23 | sdst << 16 | s1 << 8 | s0};
}
inline Words Sopc(uint32_t op, uint32_t s0, uint32_t s1) {
  return {0xbf000000 | op << 16 | s1 << 8 | s0};
}
inline Words Sopk(uint32_t op, uint32_t sdst, uint32_t imm) {
  return {0xb0000000 | op << 23 | sdst << 16 | (imm & 0xffff)};
}
inline Words Vop1(uint32_t op, uint32_t vdst, uint32_t s0) {
  return {0x7e000000 | vdst << 17 | op << 9 | s0};
}
inline Words Vop2(uint32_t op, uint32_t vdst, uint32_t s0, uint32_t v1) {
  return {op << 25 | vdst << 17 | v1 << 9 | s0};
}
inline Words Vopc(uint32_t op, uint32_t s0, uint32_t v1) {
  return {0x7c000000 | op << 17 | v1 << 9 | s0};
}
struct Modifiers {
  uint32_t abs = 0, neg = 0, op_sel = 0, omod = 0;
  bool clamp = false;
};
inline Words Vop3(uint32_t op, uint32_t vdst, uint32_t s0, uint32_t s1 = 0,
                  uint32_t s2 = 0, const Modifiers& m = {}) {
  return {0xd0000000 | op << 16 | uint32_t{m.clamp} << 15 | m.op_sel << 11 |
              m.abs << 8 | vdst,
          s0 | s1 << 9 | s2 << 18 | m.omod << 27 | m.neg << 29};
}
// op_sel_hi is 7 unless said otherwise.
inline Words Vop3p(uint32_t op, uint32_t vdst, uint32_t s0, uint32_t s1,
                   uint32_t s2 = 0, uint32_t op_sel = 0, uint32_t op_sel_hi = 7,
                   uint32_t neg_lo = 0, uint32_t neg_hi = 0,
                   bool clamp = false) {
  return {0xd3800000 | op << 16 | uint32_t{clamp} << 15 |
              (op_sel_hi >> 2) << 14 | op_sel << 11 | neg_hi << 8 | vdst,
          s0 | s1 << 9 | s2 << 18 | (op_sel_hi & 3) << 27 | neg_lo << 29};
}

class SingleInstruction : public testing::Test {
 protected:
  void SetUp() override {
    group_.waves.push_back(wave_.get());
    wave_->group = &group_;
    wave_->check_waits = wave_->count_waits = false;
    wave_->hit_begin = 0;
    wave_->hit_end = ~uint64_t{0};
    wave_->SetMode(kDefaultMode);
    SetExec(~uint64_t{0});
    Poison();
  }

  Wave& w() { return *wave_; }
  void SetExec(uint64_t mask) { w().SetS64(kExec, mask); }
  // Every vector register gets bits that no test computes.
  void Poison() {
    for (auto& row : w().v) {
      for (uint32_t& word : row) word = static_cast<uint32_t>(random_());
    }
  }

  // Runs one instruction; false when it is unknown or faults.
  bool Run(const Words& words) {
    Words padded = words;
    padded.resize(5);
    if (!decoder_.Decode(padded.data(), padded.size(), &inst_)) return false;
    w().current = &inst_;
    w().state = WaveState::kReady;
    static constexpr int kRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                        FE_TOWARDZERO};
    const uint32_t flags = inst_.op->flags;
    if ((flags & kRounds64) != 0) {
      std::fesetround(kRounding[w().round64]);
    } else if ((flags & kMayRound) != 0) {
      std::fesetround(kRounding[w().round32]);
    }
    inst_.run(w(), inst_);
    std::fesetround(FE_TONEAREST);
    return w().state != WaveState::kFault;
  }
  std::string Text() const { return Disassemble(inst_); }

  // Denormals kept, IEEE and DX10_CLAMP on, to the nearest.
  static constexpr uint32_t kDefaultMode = 0x3f0;

  const Decoder decoder_{ChooseInterpreter()};
  std::unique_ptr<Wave> wave_ = std::make_unique<Wave>();
  Group group_;
  Inst inst_;
  std::mt19937 random_{41};
};

inline float FloatFrom(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t BitsFrom(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_SINGLE_INSTRUCTION_H_
