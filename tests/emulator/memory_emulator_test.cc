// Buffers, LDS transfers, transposing reads and atomics.
#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

class Memory : public KernelFixture {
 protected:
  static constexpr uint32_t kPoison = 0xa5a5a5a5;

  void SetUp() override {
    Load("memory.hsaco");
    in_ = Allocate<uint32_t>(1024);
    out_ = Allocate<uint32_t>(1024);
    for (uint32_t n = 0; n < 1024; ++n) in_[n] = 0x1000 + n * 0x01010101u;
  }
  RunResult Go(const std::string& kernel, uint32_t size) {
    return RunWave(kernel, Arguments().Add(in_).Add(out_).Add(size));
  }

  uint32_t* in_ = nullptr;
  uint32_t* out_ = nullptr;
};

TEST_F(Memory, BufferLoadsPastTheEndGiveZeroDwordByDword) {
  for (uint32_t bytes : {0u, 3u, 4u, 100u, 101u, 104u, 1023u, 1024u}) {
    const RunResult r = Go("buffer_load_x4", bytes);
    ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
    for (uint32_t n = 0; n < 256; ++n) {
      ASSERT_EQ(out_[n], n * 4 + 4 <= bytes ? in_[n] : 0u)
          << "dword " << n << " of " << bytes;
    }
    EXPECT_EQ(r.statistics.clipped_loads, 256 - bytes / 4);
  }
}

TEST_F(Memory, BufferRangeCheckCountsEveryOffset) {
  const uint32_t bytes = 520;
  ASSERT_EQ(Go("buffer_load_offsets", bytes).status, RunStatus::kOk);
  for (uint32_t l = 0; l < 64; ++l) {
    const uint32_t at = 16 * l + 0x20 + 12, half = 16 * l + 6;
    EXPECT_EQ(out_[4 * l], at + 4 <= bytes ? in_[at / 4] : 0u) << l;
    EXPECT_EQ(out_[4 * l + 1], half + 2 <= bytes ? in_[half / 4] >> 16 : 0u)
        << l;
  }
}

TEST_F(Memory, BufferStoresPastTheEndAreDropped) {
  const uint32_t bytes = 300;
  const RunResult r = Go("buffer_store_x4", bytes);
  ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
  for (uint32_t n = 0; n < 256; ++n) {
    ASSERT_EQ(out_[n], n * 4 + 4 <= bytes ? in_[n] : kPoison) << n;
  }
  EXPECT_EQ(r.statistics.clipped_stores, 256 - bytes / 4);
}

TEST_F(Memory, StructuredBuffersAreCheckedByIndex) {
  const uint32_t records = 40;
  ASSERT_EQ(Go("buffer_struct", records).status, RunStatus::kOk);
  for (uint32_t l = 0; l < 64; ++l) {
    const uint32_t at = (l * 24 + 8) / 4;
    EXPECT_EQ(out_[4 * l], l < records ? in_[at] : 0u) << l;
    EXPECT_EQ(out_[4 * l + 1], l < records ? in_[at + 1] : 0u) << l;
  }
}

// The instruction's offset moves both ends of a transfer.
TEST_F(Memory, TransfersToLdsGoByLaneFromAnyAddress) {
  ASSERT_EQ(Go("dma_x4", 4096).status, RunStatus::kOk);
  for (uint32_t n = 0; n < 256; ++n) ASSERT_EQ(out_[n], in_[(n ^ 4) + 16]) << n;
  ASSERT_EQ(Go("dma_global_x4", 0).status, RunStatus::kOk);
  for (uint32_t n = 0; n < 256; ++n) ASSERT_EQ(out_[n], in_[n]) << n;
}

TEST_F(Memory, TransfersPastTheEndOfABufferWriteZeros) {
  ASSERT_EQ(Go("dma_x4", 512).status, RunStatus::kOk);
  for (uint32_t n = 0; n < 256; ++n) {
    const uint32_t from = (n ^ 4) + 16;
    ASSERT_EQ(out_[n], from < 128 ? in_[from] : 0u) << n;
  }
}

TEST_F(Memory, TransfersLeaveTheLdsOfLanesThatAreOff) {
  ASSERT_EQ(Go("dma_dword", 0).status, RunStatus::kOk);
  for (uint32_t l = 0; l < 64; ++l)
    EXPECT_EQ(out_[4 * l], l % 2 == 0 ? in_[l] : ~0u) << l;
}

// Element `n` of `bits` bits in a lane's 16 bytes.
uint32_t Element(const uint32_t* lane, int n, int bits) {
  uint32_t v = 0;
  for (int b = 0; b < bits; ++b) {
    const int at = n * bits + b;
    v |= (lane[at / 32] >> (at % 32) & 1) << b;
  }
  return v;
}

TEST_F(Memory, TransposingReadsGiveEachLaneItsColumn) {
  const struct {
    const char* kernel;
    int bits, row_lanes, rows;
  } kForms[] = {{"tr_b16", 16, 4, 4},
                {"tr_b8", 8, 2, 8},
                {"tr_b4", 4, 1, 16},
                {"tr_b6", 6, 1, 16}};
  for (const auto& f : kForms) {
    ASSERT_EQ(Go(f.kernel, 0).status, RunStatus::kOk);
    for (int l = 0; l < 64; ++l) {
      for (int row = 0; row < f.rows; ++row) {
        // The tile's row lies in `row_lanes` lanes of the 16; each holds a
        // part.
        const int part = 16 / f.row_lanes, column = l % 16;
        const int from = l / 16 * 16 + row * f.row_lanes + column / part;
        ASSERT_EQ(Element(out_ + 4 * l, row, f.bits),
                  Element(in_ + 4 * from, column % part, f.bits))
            << f.kernel << " lane " << l << " row " << row;
      }
    }
  }
}

TEST_F(Memory, AtomicsOfManyThreadsAddUp) {
  std::memset(in_, 0, 32);
  LaunchConfig config;
  config.grid[0] = 100;
  config.block[0] = 64;
  Options options;
  options.threads = 4;
  const RunResult r =
      Run("atomics", Arguments().Add(in_).Add(out_).Add(uint32_t{0}), config,
          options);
  ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
  const uint32_t sum = 100 * 65 * 32;
  EXPECT_EQ(in_[0], sum);
  EXPECT_EQ(in_[1], 64u);
  EXPECT_EQ(in_[2], 127u);
  float f;
  std::memcpy(&f, &in_[3], 4);
  EXPECT_EQ(f, static_cast<float>(sum));
  EXPECT_EQ(in_[4], 0x43804380u);  // bf16 stops growing by ones at 256
  EXPECT_EQ(in_[5], 7u);           // swapped once, by whoever found the 0
  EXPECT_EQ(in_[6], 0u);
  EXPECT_EQ(in_[7], 6400u);
}

}  // namespace
}  // namespace ingot::emulator
