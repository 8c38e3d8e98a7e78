// Calls, private storage, branches of clang's: see foreign/control.cl.
#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Control : public Foreign {
 protected:
  void SetUp() override { LoadGroup("control"); }

  int* Integers(size_t n, int below) {
    return Filled<int>(n, [this, below](size_t) { return Random(below); });
  }
};

TEST_P(Control, ArgumentsInRegistersAndOnTheStack) {
  const uint64_t* in =
      Filled<uint64_t>(32, [this](size_t) { return random_(); });
  uint64_t* out = Buffer<uint64_t>(128);
  Go("many_arguments", Arguments().Add(in).Add(out), 2, 64);
  for (uint64_t i = 0; i < 128; ++i) {
    uint64_t sum = i + (i << 33) * 3 + i + i;
    sum += i + (i + 1) * 5 + (i + 2) * 7 + (i + 3) * 11;
    for (uint64_t k = 0; k < 8; ++k) sum = sum * 13 + in[i % 4 * 8 + k];
    ASSERT_EQ(out[i], sum + (0 - i) * 17 + i * i) << i;
  }
}

TEST_P(Control, PrivateArrays) {
  const int* index = Integers(256, 1000);
  int* out = Buffer<int>(256);
  Go("private_array", Arguments().Add(index).Add(out), 2, 128);
  const uint8_t* bytes =
      Filled<uint8_t>(128, [this](size_t) { return random_(); });
  uint8_t* shuffled = Buffer<uint8_t>(256 * 40);
  Go("private_bytes", Arguments().Add(bytes).Add(shuffled), 2, 128);
  for (int g = 0; g < 256; ++g) {
    int a[64], sum = 0;
    for (int i = 0; i < 64; ++i) a[i] = i * 3 + g;
    for (int i = 0; i < 16; ++i) {
      const int j = index[(g + i) & 255] & 63;
      a[(j * 7) & 63] = a[j] + 1;
    }
    for (int i = 0; i < 64; ++i) sum += a[i] * (i + 1);
    ASSERT_EQ(out[g], sum) << g;
    uint8_t b[40];
    for (int i = 0; i < 40; ++i) b[i] = bytes[(g * 5 + i) & 127];
    for (int i = 0; i < 40; ++i) std::swap(b[i], b[b[i] % 40]);
    ASSERT_EQ(std::memcmp(b, shuffled + g * 40, 40), 0) << g;
  }
}

TEST_P(Control, VectorsWithAVariableIndex) {
  const int* index = Integers(65, 1000);
  int* out = Buffer<int>(128);
  Go("vector_index", Arguments().Add(index).Add(out), 1, 64);
  for (int g = 0; g < 64; ++g) {
    int v[16];
    for (int i = 0; i < 16; ++i) v[i] = i * (g + 1);
    const int uniform = index[0] & 15;
    v[index[g] & 15] = -1;
    v[uniform] += 1000;
    ASSERT_EQ(out[2 * g], v[index[g + 1] & 15]) << g;
    ASSERT_EQ(out[2 * g + 1], v[(uniform + 3) & 15]) << g;
  }
}

int Cases(int x) {
  int r = 0;
  switch (x & 31) {
    case 0:
      return x * 3;
    case 1:
      return x ^ 0x55;
    case 2:
      return -x;
    case 3:
      return x / 3 + (x << 2);
    case 4:
      return x << 2;
    case 5:
      return x % 7;
    case 6:
      for (int i = 0; i < (x >> 5 & 7); ++i) r += i * x;
      return r;
    case 7:
      return x | 1;
    case 8:
      return __builtin_popcount(static_cast<unsigned>(x));
    case 11:
      return 11;
    case 12:
      return (x & 64) != 0 ? 12 : 13;
    case 17:
      return x * x;
    case 23:
      return ~x;
    case 31:
      return x >> 3;
    default:
      return 99;
  }
}

TEST_P(Control, Switches) {
  const int* in = Integers(512, 10000);
  int* out = Buffer<int>(512);
  Go("many_cases", Arguments().Add(in).Add(out), 4, 128);
  for (int i = 0; i < 512; ++i) ASSERT_EQ(out[i], Cases(in[i])) << in[i];
  int* wave = Buffer<int>(8 * 64);
  const int* one_each = Filled<int>(8, [](size_t i) { return 80 + i; });
  Go("uniform_cases", Arguments().Add(one_each).Add(wave), 8, 64);
  for (int l = 0; l < 64; ++l) {
    const int want[8] = {l + 3, l * 81, l ^ 0x55, -l,
                         l * 4, l + 85, l - 86,   99};
    for (int x = 0; x < 8; ++x) ASSERT_EQ(wave[x * 64 + l], want[x]) << x;
  }
}

TEST_P(Control, DivergentLoops) {
  const uint32_t* in =
      Filled<uint32_t>(256, [this](size_t) { return Random(3000); });
  uint32_t* out = Buffer<uint32_t>(256);
  const uint32_t limit = 90;
  Go("collatz", Arguments().Add(in).Add(out).Add(limit), 2, 128);
  for (int i = 0; i < 256; ++i) {
    uint32_t steps = 0;
    for (uint32_t x = in[i]; x > 1 && steps <= limit; ++steps)
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ASSERT_EQ(out[i], steps > limit ? ~0u : steps) << in[i];
  }
}

TEST_P(Control, HiddenArguments) {
  LaunchConfig config;
  config.grid[0] = 3, config.grid[1] = 2, config.grid[2] = 2;
  config.block[0] = 5, config.block[1] = 3, config.block[2] = 2;
  const uint32_t w = 15, h = 6, d = 4;
  uint32_t* out = Buffer<uint32_t>(w * h * d * 7);
  Go("geometry", Arguments().Add(out), config);
  for (uint32_t z = 0; z < d; ++z) {
    for (uint32_t y = 0; y < h; ++y) {
      for (uint32_t x = 0; x < w; ++x) {
        const uint32_t* o = out + ((z * h + y) * w + x) * 7;
        const uint32_t want[7] = {x | y << 10 | z << 20,
                                  3 | 2 << 10 | 2 << 20,
                                  5 | 3 << 10 | 2 << 20,
                                  0,
                                  0,
                                  3,
                                  w};
        for (int n = 0; n < 7; ++n) ASSERT_EQ(o[n], want[n]) << n;
      }
    }
  }
}

TEST_P(Control, ClocksDoNotRunBackwards) {
  int64_t* out = Buffer<int64_t>(64);
  Go("clocks", Arguments().Add(out), 1, 32);
  for (int i = 0; i < 64; ++i) EXPECT_GE(out[i], 0) << i;
}

INGOT_FOREIGN_VARIANTS(Control);

}  // namespace
}  // namespace ingot::emulator
