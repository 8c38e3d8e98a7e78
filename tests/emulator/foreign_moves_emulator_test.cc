// Moved data of clang's: see foreign/moves.cl.
#include <set>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Moves : public Foreign {
 protected:
  void SetUp() override { LoadGroup("moves"); }

  uint8_t* Bytes(size_t count) {
    return Filled<uint8_t>(count, [this](size_t) { return random_(); });
  }

  void Transpose(const std::string& kernel, size_t size) {
    const int w = 75, h = 41;
    const uint8_t* in = Bytes(w * h * size);
    uint8_t* out = Buffer<uint8_t>(w * h * size);
    LaunchConfig config;
    config.grid[0] = 3;
    config.grid[1] = 2;
    config.block[0] = 32;
    config.block[1] = 8;
    Go(kernel, Arguments().Add(in).Add(out).Add(w).Add(h), config);
    for (size_t y = 0; y < h; ++y) {
      for (size_t x = 0; x < w; ++x) {
        ASSERT_EQ(std::memcmp(out + (x * h + y) * size, in + (y * w + x) * size,
                              size),
                  0)
            << kernel << " " << x << " " << y;
      }
    }
  }
};

TEST_P(Moves, TransposesOfEveryWidth) {
  Transpose("transpose8", 1);
  Transpose("transpose16", 2);
  Transpose("transpose32", 4);
  Transpose("transpose64", 8);
  Transpose("transpose128", 16);
}

uint32_t BitField(const uint8_t* bytes, size_t bit, int width) {
  uint32_t value = 0;
  for (size_t n = 0; n < static_cast<size_t>(width); ++n)
    value |= (bytes[(bit + n) / 8] >> (bit + n) % 8 & 1u) << n;
  return value;
}

// 16 lanes read a tile of 16 columns, rows one after another in lane order;
// lane c of them gets column c.
TEST_P(Moves, TransposingReads) {
  const struct {
    const char* kernel;
    int width;
    size_t step, words;
  } kForms[] = {{"read_tr4", 4, 8, 2},
                {"read_tr6", 6, 16, 3},
                {"read_tr8", 8, 8, 2},
                {"read_tr16", 16, 8, 2}};
  const uint8_t* in = Bytes(1024);
  for (const auto& form : kForms) {
    uint32_t* out = Buffer<uint32_t>(64 * form.words);
    Go(form.kernel, Arguments().Add(in).Add(out), 1, 64);
    const size_t width = static_cast<size_t>(form.width),
                 per_lane = form.words * 32 / width,
                 lanes_a_row = 16 / per_lane;
    for (size_t lane = 0; lane < 64; ++lane) {
      const uint8_t* got =
          reinterpret_cast<const uint8_t*>(out + lane * form.words);
      for (size_t row = 0; row < per_lane; ++row) {
        const size_t column = lane % 16;
        const size_t source =
            lane / 16 * 16 + row * lanes_a_row + column / per_lane;
        ASSERT_EQ(BitField(got, row * width, form.width),
                  BitField(in + source * form.step, column % per_lane * width,
                           form.width))
            << form.kernel << " lane " << lane << " element " << row;
      }
    }
  }
}

// Dword by dword (or less, for narrower accesses): past the end loads give 0
// and stores are dropped; so is all of what lies before the start.
TEST_P(Moves, BuffersEndWhereTheyEnd) {
  for (const int bits : {8, 16, 32, 64, 96, 128}) {
    const int size = bits / 8, part = std::min(size, 4);
    const int in_bytes = size * 150 + (size > 4 ? 4 : 0);
    const int out_bytes = size * 170 + (size > 8 ? 8 : 0);
    const uint8_t* in = Bytes(static_cast<size_t>(in_bytes));
    uint8_t* out = Buffer<uint8_t>(static_cast<size_t>(out_bytes));
    Go("clip" + std::to_string(bits),
       Arguments().Add(in).Add(out).Add(in_bytes).Add(out_bytes), 3, 64);
    for (int at = 0; at < out_bytes; at += part) {
      for (int b = at; b < at + part; ++b) {
        ASSERT_EQ(out[b], at + part <= in_bytes ? in[b] : 0)
            << bits << " bits, byte " << b;
      }
    }
  }
}

TEST_P(Moves, BufferAtomicsEndWhereTheyEnd) {
  int* bins = Zeros<int>(17);
  const int n = 100;
  Go("clip_atomic", Arguments().Add(bins).Add(17 * 4).Add(n), 2, 64);
  for (int b = 0; b < 17; ++b) {
    int want = 0;
    for (int i = 0; i < n; ++i) want += i % 20 == b ? i + 1 : 0;
    EXPECT_EQ(bins[b], want) << b;
  }
}

TEST_P(Moves, DmaIntoLds) {
  for (const bool buffer : {false, true}) {
    for (const size_t words : {1u, 3u, 4u}) {
      const size_t groups = 2, count = groups * 128 * words;
      const uint8_t* in = Bytes(count * 4);
      uint32_t* out = Buffer<uint32_t>(count);
      // The buffer's end cuts the last 10 work-items' data off.
      const size_t readable = count - (buffer ? 10 * words : 0);
      Go(std::string(buffer ? "dma_buffer" : "dma_global") +
             std::to_string(words * 4),
         Arguments().Add(in).Add(out).Add(static_cast<int>(readable * 4)),
         groups, 128);
      for (size_t i = 0; i < count; ++i) {
        const size_t group = i / (128 * words), t = i / words % 128;
        const size_t from = (group * 128 + (t + 100) % 128) * words + i % words;
        uint32_t want;
        std::memcpy(&want, in + from * 4, 4);
        ASSERT_EQ(out[i], from < readable ? want : 0)
            << buffer << " " << words << " " << i;
      }
    }
  }
}

TEST_P(Moves, ValuesBetweenLanes) {
  constexpr int kUnwritten = static_cast<int>(0xa5a5a5a5);
  const int lane = 37;
  const int* in = Filled<int>(64, [this](size_t) { return Random(41) - 20; });
  int* out = Buffer<int>(8 * 64);
  uint64_t* masks = Buffer<uint64_t>(2);
  Go("lanes", Arguments().Add(in).Add(out).Add(masks).Add(lane), 1, 64);
  uint64_t positive = 0;
  int first_positive = -1;
  for (int l = 63; l >= 0; --l) {
    if (in[l] <= 0) continue;
    positive |= uint64_t{1} << l;
    first_positive = in[l];
  }
  EXPECT_EQ(masks[0], positive);
  EXPECT_EQ(masks[1], positive);
  for (int l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], in[lane] + l);
    EXPECT_EQ(out[64 + l], l == lane ? lane * 7 : in[l]);
    EXPECT_EQ(out[128 + l], in[0]);
    EXPECT_EQ(out[192 + l], in[l] > 0 ? first_positive : kUnwritten);
    // Rows 1 and 3 of the first change with rows 0 and 2 of the second.
    EXPECT_EQ(out[256 + l], l / 16 % 2 == 1 ? l - 16 : in[l]);
    EXPECT_EQ(out[320 + l], l / 16 % 2 == 0 ? in[l + 16] : l);
    EXPECT_EQ(out[384 + l], l >= 32 ? l - 32 : in[l]);
    EXPECT_EQ(out[448 + l], l < 32 ? in[l + 32] : l);
  }
}

TEST_P(Moves, WaterfallTakesEachValueOnce) {
  const int* keys = Filled<int>(64, [this](size_t) { return Random(9); });
  int *out = Buffer<int>(64), *rounds = Buffer<int>(64);
  Go("waterfall", Arguments().Add(keys).Add(out).Add(rounds), 1, 64);
  std::vector<int> order;
  for (int l = 0; l < 64; ++l) {
    if (std::find(order.begin(), order.end(), keys[l]) == order.end())
      order.push_back(keys[l]);
  }
  for (int l = 0; l < 64; ++l) {
    const int turn = static_cast<int>(
        std::find(order.begin(), order.end(), keys[l]) - order.begin());
    EXPECT_EQ(out[l], keys[l] * 1000 + turn) << l;
    EXPECT_EQ(rounds[l], turn + 1) << l;
  }
}

INGOT_FOREIGN_VARIANTS(Moves);

}  // namespace
}  // namespace ingot::emulator
