// Buffers: conversions of MTBUF and of MUBUF's format forms, and the addresses
// of swizzled and thread-numbered resources.
#include <cmath>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;

class Buffers : public SingleInstruction {
 protected:
  static constexpr U kAddr = 150, kData = 160, kResource = 8;

  struct Resource {
    U stride = 0, records = 0, select = 0, number = 0, data = 0, index = 0;
    bool swizzle = false, add_tid = false;
  };
  void Describe(const Resource& r) {
    const uint64_t base = reinterpret_cast<uintptr_t>(memory_.data());
    w().s[kResource] = static_cast<U>(base);
    w().s[kResource + 1] =
        static_cast<U>(base >> 32) | r.stride << 16 | U{r.swizzle} << 31;
    w().s[kResource + 2] = r.records;
    w().s[kResource + 3] = r.select | r.number << 12 | r.data << 15 |
                           r.index << 21 | U{r.add_tid} << 23;
  }
  static Words Typed(U op, U data, U number, U offset = 0, bool idxen = false) {
    return {0xe8000000 | number << 23 | data << 19 | op << 15 | U{idxen} << 13 |
                U{!idxen} << 12 | offset,
            kAddr | kData << 8 | kResource / 4 << 16 | 128u << 24};
  }
  static Words Untyped(U op, bool idxen, bool offen, U offset = 0) {
    return {0xe0000000 | op << 18 | U{idxen} << 13 | U{offen} << 12 | offset,
            kAddr | kData << 8 | kResource / 4 << 16 | 128u << 24};
  }
  // What one lane's element becomes in four registers.
  std::vector<float> Loaded(U data, U number,
                            const std::vector<uint8_t>& from) {
    std::copy(from.begin(), from.end(), memory_.begin() + 32);
    Describe({.records = 4096});
    Poison();
    for (auto& a : w().v[kAddr]) a = 16;
    EXPECT_TRUE(Run(Typed(3, data, number, 16))) << Text();
    std::vector<float> out;
    for (U n = 0; n < 4; ++n) out.push_back(FloatFrom(w().v[kData + n][63]));
    return out;
  }
  std::vector<uint8_t> Stored(U data, U number, std::vector<float> from) {
    Describe({.records = 4096});
    for (auto& a : w().v[kAddr]) a = 16;
    from.resize(4);
    for (U n = 0; n < 4; ++n) {
      for (auto& d : w().v[kData + n]) d = BitsFrom(from[n]);
    }
    std::fill(memory_.begin(), memory_.end(), 0xee);
    EXPECT_TRUE(Run(Typed(7, data, number, 16))) << Text();
    EXPECT_EQ(memory_[31], 0xee);
    return {memory_.begin() + 32, memory_.begin() + 48};
  }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(1 << 16);
};

using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

// Data format 10 is 8_8_8_8, 5 is 16_16.
TEST_F(Buffers, TypedLoadsConvert) {
  EXPECT_EQ(Loaded(10, 0, {0, 255, 51, 102}), (Floats{0, 1, 0.2f, 0.4f}));
  EXPECT_EQ(Loaded(10, 1, {0x7f, 0x81, 0x80, 0}), (Floats{1, -1, -1, 0}));
  EXPECT_EQ(Loaded(10, 2, {1, 200, 0, 255}), (Floats{1, 200, 0, 255}));
  EXPECT_EQ(Loaded(10, 3, {1, 200, 0, 255}), (Floats{1, -56, 0, -1}));
  const Floats halves = Loaded(5, 7, {0, 0x3c, 0, 0xc0});
  EXPECT_EQ(halves[0], 1);
  EXPECT_EQ(halves[1], -2);
}

TEST_F(Buffers, TypedStoresConvert) {
  const Bytes bytes = Stored(10, 0, {0, 1, 0.5f, 7});
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[1], 255);
  EXPECT_EQ(bytes[2], 128);  // 127.5 to even
  EXPECT_EQ(bytes[3], 255);
  EXPECT_EQ(bytes[4], 0xee);
  const Bytes halves = Stored(5, 7, {1.5f, -2});
  EXPECT_EQ((Bytes{halves.begin(), halves.begin() + 5}),
            (Bytes{0x00, 0x3e, 0x00, 0xc0, 0xee}));
  const Bytes sint = Stored(10, 3, {-1, -200, 127, 500});
  EXPECT_EQ((Bytes{sint.begin(), sint.begin() + 4}),
            (Bytes{0xff, 0x80, 0x7f, 0x7f}));
}

// The resource of an untyped format names formats and the order of components.
TEST_F(Buffers, ResourceFormatsAndSelections) {
  Describe({.records = 4096,
            .select = 7 | 4 << 3 | 1 << 6 | 0 << 9,
            .number = 2,
            .data = 10});
  memory_[0] = 3;
  memory_[3] = 9;
  for (auto& a : w().v[kAddr]) a = 0;
  Poison();
  for (auto& a : w().v[kAddr]) a = 0;
  ASSERT_TRUE(Run(Untyped(3, false, true)));
  EXPECT_EQ(FloatFrom(w().v[kData][5]), 9);
  EXPECT_EQ(FloatFrom(w().v[kData + 1][5]), 3);
  EXPECT_EQ(FloatFrom(w().v[kData + 2][5]), 1);
  EXPECT_EQ(FloatFrom(w().v[kData + 3][5]), 0);
}

TEST_F(Buffers, RecordsOutOfRangeReadZero) {
  Describe({.stride = 16, .records = 40});
  for (size_t n = 0; n < memory_.size() / 4; ++n) {
    const U word = static_cast<U>(n) + 1;
    std::memcpy(&memory_[4 * n], &word, 4);
  }
  Poison();
  for (U l = 0; l < kLanes; ++l) w().v[kAddr][l] = l;
  ASSERT_TRUE(Run(Untyped(0x14, true, false, 4)));
  for (U l = 0; l < kLanes; ++l)
    EXPECT_EQ(w().v[kData][l], l < 40 ? 4 * l + 2 : 0) << l;
}

// Swizzled: dwords of 8 << index records lie side by side.
TEST_F(Buffers, SwizzledRecords) {
  for (size_t n = 0; n < memory_.size() / 4; ++n) {
    const U word = static_cast<U>(n);
    std::memcpy(&memory_[4 * n], &word, 4);
  }
  for (U index = 0; index < 4; ++index) {
    const U side = 8u << index;
    Describe({.stride = 16, .records = 64, .index = index, .swizzle = true});
    Poison();
    for (U l = 0; l < kLanes; ++l) {
      w().v[kAddr][l] = l;
      w().v[kAddr + 1][l] = l % 4 * 4;
    }
    ASSERT_TRUE(Run(Untyped(0x14, true, true)));
    for (U l = 0; l < kLanes; ++l) {
      const U want = l / side * side * 4 + l % 4 * side + l % side;
      EXPECT_EQ(w().v[kData][l], want) << index << ' ' << l;
    }
  }
}

// With add_tid the lane's number is the index, and the data format the high
// bits of the stride.
TEST_F(Buffers, LanesAsIndex) {
  for (size_t n = 0; n < memory_.size() / 4; ++n) {
    const U word = static_cast<U>(n);
    std::memcpy(&memory_[4 * n], &word, 4);
  }
  Describe({.stride = 8, .records = 0, .add_tid = true});
  Poison();
  ASSERT_TRUE(Run(Untyped(0x14, false, false, 4)));
  for (U l = 0; l < kLanes; ++l) EXPECT_EQ(w().v[kData][l], 2 * l + 1);
}

}  // namespace
}  // namespace ingot::emulator
