// A wave with LDS, and a model of LDS as plain bytes, for tests of LDS
// instructions.
#ifndef TESTS_EMULATOR_LDS_FIXTURE_H_
#define TESTS_EMULATOR_LDS_FIXTURE_H_

#include <algorithm>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {

using U = uint32_t;
using UL = uint64_t;

constexpr U kBytes = 32768;

inline Words Ds(U op, U vdst, U addr, U data0, U data1 = 0, U offset = 0,
                bool acc = false) {
  return {0xd8000000 | U{acc} << 25 | op << 17 | offset,
          addr | data0 << 8 | data1 << 16 | vdst << 24};
}

class Lds : public SingleInstruction {
 protected:
  static constexpr U kAddress = 200, kData = 204, kData1 = 212, kD = 220;
  static constexpr UL kSomeLanes = 0xf00f12345678ffff;

  void SetUp() override {
    SingleInstruction::SetUp();
    group_.lds = lds_.data();
    group_.lds_bytes = kBytes;
    Fill();
  }
  void Fill() {
    Poison();
    for (uint8_t& b : lds_) b = static_cast<uint8_t>(random_());
    model_ = lds_;
  }
  // A place of its own for each lane, in no order; `reach` bytes fit there.
  void ScatterAddresses(U reach) {
    std::vector<U> slots(kLanes);
    for (U l = 0; l < kLanes; ++l) slots[l] = l * reach;
    std::shuffle(slots.begin(), slots.end(), random_);
    for (int l = 0; l < kLanes; ++l)
      w().v[kAddress][l] = slots[static_cast<size_t>(l)];
  }
  bool On(int lane) { return (w().exec() >> lane & 1) != 0; }
  UL Model(U at, U bytes) const {
    UL v = 0;
    std::memcpy(&v, &model_[at], bytes);
    return v;
  }
  void SetModel(U at, UL value, U bytes) {
    std::memcpy(&model_[at], &value, bytes);
  }
  UL Register(U reg, int lane, U words) {
    return w().v[reg][lane] | (words == 2 ? UL{w().v[reg + 1][lane]} << 32 : 0);
  }
  void SetRegister(U reg, int lane, UL value) {
    w().v[reg][lane] = static_cast<U>(value);
    w().v[reg + 1][lane] = static_cast<U>(value >> 32);
  }

  std::vector<uint8_t> lds_ = std::vector<uint8_t>(kBytes), model_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_LDS_FIXTURE_H_
