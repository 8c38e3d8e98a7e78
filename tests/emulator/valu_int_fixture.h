// Runs integer instructions of the vector ALU on edge cases, for tests: with
// high registers and lanes off.
#ifndef TESTS_EMULATOR_VALU_INT_FIXTURE_H_
#define TESTS_EMULATOR_VALU_INT_FIXTURE_H_

#include <algorithm>
#include <functional>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {

using U = uint32_t;
using I = int32_t;
using UL = uint64_t;
using Fn = std::function<U(U, U, U)>;

inline I Signed(U a) { return static_cast<I>(a); }
inline U Low16(U a) { return a & 0xffff; }
inline I Short(U a) { return static_cast<int16_t>(a); }
inline I Bits24(U a) { return (Signed(a << 8)) >> 8; }
inline U Saturate(int64_t v, int64_t low, int64_t high) {
  return static_cast<U>(std::clamp(v, low, high));
}

struct Op {
  const char* name;
  uint32_t code;
  Fn f;
};

class ValuInt : public SingleInstruction {
 protected:
  static constexpr U kA = 130, kB = 131, kC = 132, kD = 133;

  void FillSources() {
    static constexpr U kEdges[] = {
        0,          1,          2,          31,        32,     0x7f,
        0x80,       0xff,       0x7fff,     0x8000,    0xffff, 0x10000,
        0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
    for (const U reg : {kA, kB, kC}) {
      for (int l = 0; l < kLanes; ++l)
        w().v[reg][l] = random_() % 3 == 0 ? kEdges[random_() % 16] : random_();
    }
  }

  // Lanes that are on hold f of what the sources held, the others keep vdst.
  void Expect(const Words& words, const Fn& f,
              const std::function<U(U, int)>& select = nullptr) {
    for (const UL exec : {~UL{0}, UL{0x8000f00ff00f0001}, UL{0}}) {
      Poison();
      FillSources();
      SetExec(exec);
      U want[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        U s[3] = {w().v[kA][l], w().v[kB][l], w().v[kC][l]};
        for (int n = 0; n < 3 && select; ++n) s[n] = select(s[n], n);
        want[l] = (exec >> l & 1) != 0 ? f(s[0], s[1], s[2]) : w().v[kD][l];
      }
      ASSERT_TRUE(Run(words)) << Text();
      for (int l = 0; l < kLanes; ++l)
        ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
    }
  }
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_VALU_INT_FIXTURE_H_
