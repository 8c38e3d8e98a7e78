// Instructions that move data between lanes: DPP with each control, lane reads
// and writes, swaps of lane groups, permutations through LDS.
#include <functional>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;
using UL = uint64_t;

class Exchange : public SingleInstruction {
 protected:
  static constexpr U kA = 200, kB = 201, kD = 202;
  static U Value(U lane) { return 0x1000 + 7 * lane; }

  void Fill() {
    Poison();
    for (U l = 0; l < kLanes; ++l) w().v[kA][l] = Value(l);
  }
};

// A lane that names another lane, or none.
using Source = std::function<int(int)>;
struct Control {
  U code;
  Source from;
};

std::vector<Control> Controls() {
  std::vector<Control> all;
  for (const U perm : {0x00u, 0xe4u, 0x1bu, 0xb1u, 0xffu}) {
    all.push_back({perm, [perm](int l) {
                     return l / 4 * 4 + static_cast<int>(perm >> l % 4 * 2 & 3);
                   }});
  }
  for (int n = 1; n < 16; ++n) {
    const U code = static_cast<U>(n);
    all.push_back(
        {0x100 + code, [n](int l) { return l % 16 + n < 16 ? l + n : -1; }});
    all.push_back(
        {0x110 + code, [n](int l) { return l % 16 >= n ? l - n : -1; }});
    all.push_back({0x120 + code, [n](int l) {
                     return l / 16 * 16 + (l % 16 + 16 - n) % 16;
                   }});
  }
  for (int n = 0; n < 16; ++n)
    all.push_back(
        {0x150 + static_cast<U>(n), [n](int l) { return l / 16 * 16 + n; }});
  all.push_back({0x130, [](int l) { return l < 63 ? l + 1 : -1; }});
  all.push_back({0x134, [](int l) { return (l + 1) % 64; }});
  all.push_back({0x138, [](int l) { return l - 1; }});
  all.push_back({0x13c, [](int l) { return (l + 63) % 64; }});
  all.push_back({0x140, [](int l) { return l / 16 * 16 + 15 - l % 16; }});
  all.push_back({0x141, [](int l) { return l / 8 * 8 + 7 - l % 8; }});
  all.push_back({0x142, [](int l) { return l / 16 * 16 - 1; }});
  all.push_back({0x143, [](int l) { return l >= 32 ? 31 : -1; }});
  return all;
}

TEST_F(Exchange, DppControls) {
  for (const Control& c : Controls()) {
    for (const UL exec : {~UL{0}, UL{0x0f0ff0f013579bdf}}) {
      for (const bool zero : {false, true}) {
        for (const U masks : {0xffu, 0x5fu, 0xf6u}) {
          Fill();
          SetExec(exec);
          U want[kLanes];
          for (int l = 0; l < kLanes; ++l) {
            const U rows = masks >> 4, banks = masks & 15;
            const bool writes = (exec >> l & 1) != 0 &&
                                (rows >> l / 16 & 1) != 0 &&
                                (banks >> l % 16 / 4 & 1) != 0;
            const int from = c.from(l);
            const bool valid = from >= 0 && (exec >> from & 1) != 0;
            want[l] = w().v[kD][l];
            if (writes && valid) want[l] = Value(static_cast<U>(from));
            if (writes && !valid && zero) want[l] = 0;
          }
          ASSERT_TRUE(Run({0x7e000000 | kD << 17 | 1 << 9 | 0xfa,
                           kA | c.code << 8 | U{zero} << 19 | masks << 24}))
              << std::hex << c.code;
          for (int l = 0; l < kLanes; ++l)
            ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
        }
      }
    }
  }
}

TEST_F(Exchange, ReadAndWriteLane) {
  Fill();
  SetExec(UL{1} << 37);  // only the first lane that is on counts, or nothing
  ASSERT_TRUE(Run(Vop1(0x02, 50, V(kA))));
  EXPECT_EQ(w().s[50], Value(37));
  SetExec(0);
  ASSERT_TRUE(Run(Vop1(0x02, 50, V(kA))));
  EXPECT_EQ(w().s[50], Value(0));
  w().s[20] = 64 + 13;
  ASSERT_TRUE(Run(Vop3(0x289, 51, V(kA), S(20))));
  EXPECT_EQ(w().s[51], Value(13));
  ASSERT_TRUE(Run(Vop3(0x289, 51, V(kA), 128 + 63)));
  EXPECT_EQ(w().s[51], Value(63));
  w().s[21] = 0xabcdef;
  const U before = w().v[kD][12];
  ASSERT_TRUE(Run(Vop3(0x28a, kD, S(21), S(20))));
  EXPECT_EQ(w().v[kD][13], 0xabcdefu);
  EXPECT_EQ(w().v[kD][12], before);
}

// Odd groups of vdst change places with even groups of the source. A lane that
// is off gives nothing, or 0 with bound_ctrl, or what it has with fi.
TEST_F(Exchange, SwapsOfHalvesAndRows) {
  for (const U op : {0x59u, 0x5au}) {
    const int group = op == 0x59 ? 16 : 32;
    for (const UL exec : {~UL{0}, UL{0x0f0ff0f013579bdf}}) {
      for (U control = 0; control < 4; ++control) {
        Fill();
        SetExec(exec);
        const auto on = [&](int l) { return (exec >> l & 1) != 0; };
        std::vector<U> d(w().v[kD], w().v[kD] + kLanes);
        std::vector<U> a(w().v[kA], w().v[kA] + kLanes);
        const std::vector<U> old_d = d, old_a = a;
        for (size_t l = 0; l < kLanes; ++l) {
          const bool odd = l / static_cast<size_t>(group) % 2 != 0;
          const size_t from = odd ? l - static_cast<size_t>(group)
                                  : l + static_cast<size_t>(group);
          if (!on(static_cast<int>(l))) continue;
          U& to = odd ? d[l] : a[l];
          if (on(static_cast<int>(from)) || (control & 1) != 0) {
            to = odd ? old_a[from] : old_d[from];
          } else if ((control & 2) != 0) {
            to = 0;
          }
        }
        ASSERT_TRUE(Run(control == 0 ? Vop1(op, kD, V(kA))
                                     : Vop3(op + 0x140, kD, V(kA), 0, 0,
                                            {.op_sel = control})))
            << op;
        ASSERT_EQ(std::vector<U>(w().v[kD], w().v[kD] + kLanes), d) << Text();
        ASSERT_EQ(std::vector<U>(w().v[kA], w().v[kA] + kLanes), a) << Text();
      }
    }
  }
}

Words Ds(U op, U vdst, U addr, U data, U offset = 0) {
  return {0xd8000000 | op << 17 | offset, addr | data << 8 | vdst << 24};
}

TEST_F(Exchange, PermutesThroughLds) {
  for (const UL exec : {~UL{0}, UL{0xff00ffff00ff0fff}}) {
    Fill();
    for (int l = 0; l < kLanes; ++l)
      w().v[kB][l] = static_cast<U>(random_()) & ~3u;
    SetExec(exec);
    U pull[kLanes], push[kLanes];
    for (int l = 0; l < kLanes; ++l) pull[l] = push[l] = w().v[kD][l];
    for (int l = 0; l < kLanes; ++l) {
      if ((exec >> l & 1) == 0) continue;
      const U from = w().v[kB][l] / 4 % 64;
      // What an inactive lane would give is 0.
      pull[l] = (exec >> from & 1) != 0 ? Value(from) : 0;
      push[l] = 0;
    }
    for (int l = 0; l < kLanes; ++l) {
      const U to = w().v[kB][l] / 4 % 64;
      if ((exec >> l & 1) != 0 && (exec >> to & 1) != 0)
        push[to] = Value(static_cast<U>(l));  // the highest lane wins
    }
    const std::vector<U> old(w().v[kD], w().v[kD] + kLanes);
    ASSERT_TRUE(Run(Ds(0x3f, kD, kB, kA)));
    for (int l = 0; l < kLanes; ++l) ASSERT_EQ(w().v[kD][l], pull[l]) << l;
    std::copy(old.begin(), old.end(), w().v[kD]);
    ASSERT_TRUE(Run(Ds(0x3e, kD, kB, kA)));
    for (int l = 0; l < kLanes; ++l) ASSERT_EQ(w().v[kD][l], push[l]) << l;
  }
}

TEST_F(Exchange, Swizzles) {
  // Bit 15: a quad's permutation; else and, or, xor masks of five bits.
  const auto check = [&](U offset, const Source& from) {
    Fill();
    ASSERT_TRUE(Run(Ds(0x3d, kD, kA, 0, offset)));
    for (int l = 0; l < kLanes; ++l)
      ASSERT_EQ(w().v[kD][l], Value(static_cast<U>(from(l)))) << offset;
  };
  check(0x801b, [](int l) { return l / 4 * 4 + 3 - l % 4; });
  check(0x041f, [](int l) { return l ^ 1; });
  check(0x401f, [](int l) { return l ^ 16; });
  check(0x0000 | 0x18, [](int l) { return l & ~7; });
  check(0xc000 | 3 << 5, [](int l) { return (l & 32) | ((l + 3) & 31); });
  check(0xc400 | 3 << 5 | 0x10,
        [](int l) { return (l & 48) | ((l - 3) & 15); });
  // Orders of an FFT, as the ISA document lists them.
  static constexpr int kAll[] = {0,  16, 8,  24, 4,  20, 12, 28, 2,  18, 10,
                                 26, 6,  22, 14, 30, 1,  17, 9,  25, 5,  21,
                                 13, 29, 3,  19, 11, 27, 7,  23, 15, 31};
  check(0xe000, [](int l) { return (l & 32) | kAll[l & 31]; });
  check(0xe010, [](int l) { return (l & 48) | kAll[l & 15] / 2; });
  check(0xe01f, [](int l) { return l; });
  check(3 << 5 | 0x18, [](int l) { return (l & ~7) | 3; });
}

}  // namespace
}  // namespace ingot::emulator
