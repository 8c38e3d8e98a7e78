// Hand-made workgroups whose clocks can be counted on paper.
#include "tests/emulator/profile/cu_time.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ingot::profile {
namespace {

constexpr double kHz = 1e9;  // a clock is a nanosecond

// A workgroup of `waves` waves that all execute `steps`.
Trace Alike(size_t waves, const std::vector<Step>& steps) {
  Trace trace;
  trace.steps = steps;
  trace.waves.resize(waves);
  for (auto& wave : trace.waves) {
    for (uint32_t n = 0; n < steps.size(); ++n) wave.push_back(n);
  }
  return trace;
}

double ClocksOf(const Trace& trace, int groups = 1, int resident = 1) {
  return TimeOf({.trace = &trace,
                 .groups = groups,
                 .resident = resident,
                 .clock_hz = kHz,
                 .hbm_share = 0,
                 .hbm_bytes_per_second = 10 * kHz})
      .clocks;
}

Step Matrix() { return {.cls = Class::kMfma, .unit_clocks = 16}; }
Step Vector() { return {.cls = Class::kValu, .unit_clocks = kValuClocks}; }
Step Load(double bytes) {
  return {.cls = Class::kVmem,
          .vmem_clocks = 16,
          .l2_bytes = bytes,
          .counts_vm = true};
}
Step Wait(int vm, int lgkm) {
  return {.cls = Class::kWait, .waits = {.vm = vm, .lgkm = lgkm}};
}

std::vector<Step> Times(int count, const std::vector<Step>& steps) {
  std::vector<Step> all;
  for (int i = 0; i < count; ++i) {
    all.insert(all.end(), steps.begin(), steps.end());
  }
  return all;
}

TEST(CuTimeTest, NothingTakesNoTime) {
  EXPECT_EQ(ClocksOf(Trace()), 0);
  EXPECT_EQ(ClocksOf(Alike(4, {})), 0);
}

TEST(CuTimeTest, AWaveIssuesEveryFourClocks) {
  EXPECT_EQ(ClocksOf(Alike(1, Times(10, {Vector()}))), 40);
  Step nop{.cls = Class::kNop, .slots = 8};
  EXPECT_EQ(ClocksOf(Alike(1, {nop, Vector()})), 36);
}

// Three instructions fit behind a matrix operation of 16 clocks; the last one
// is issued four clocks before the end.
TEST(CuTimeTest, OtherInstructionsHideBehindTheMatrixUnit) {
  const std::vector<Step> hidden = {Matrix(), Vector(), Vector(), Vector()};
  EXPECT_EQ(ClocksOf(Alike(1, Times(10, hidden))), 160);
  std::vector<Step> too_many = hidden;
  too_many.push_back(Vector());
  EXPECT_EQ(ClocksOf(Alike(1, Times(10, too_many))), 200);
}

// Five waves are a second one on the first SIMD.
TEST(CuTimeTest, WavesOfASimdShareItsMatrixUnit) {
  const std::vector<Step> ten = Times(10, {Matrix()});
  EXPECT_EQ(ClocksOf(Alike(4, ten)), 9 * 16 + 4);
  EXPECT_EQ(ClocksOf(Alike(5, ten)), 19 * 16 + 4);
  const Trace trace = Alike(5, ten);
  const CuTime time = TimeOf({.trace = &trace, .clock_hz = kHz});
  EXPECT_EQ(time.matrix_clocks, 320);
}

TEST(CuTimeTest, AWaitTakesTheLatencyThatIsLeft) {
  const double latency = kL2Seconds * kHz;
  const double landed = 16 + 640 / kL2ReachedBytesPerClock + latency;
  EXPECT_EQ(ClocksOf(Alike(1, {Load(640), Wait(0, kMostLgkm)})), landed + 4);
  // Work before the wait takes from it.
  std::vector<Step> busy = Times(20, {Vector()});
  busy.insert(busy.begin(), Load(640));
  busy.push_back(Wait(0, kMostLgkm));
  EXPECT_EQ(ClocksOf(Alike(1, busy)), landed + 4);
  // One may stay outstanding: the workgroup ends when it has landed.
  EXPECT_EQ(ClocksOf(Alike(1, {Load(640), Load(640), Wait(1, kMostLgkm)})),
            16 + 2 * 640 / kL2ReachedBytesPerClock + latency);
}

TEST(CuTimeTest, HbmServesAtItsRate) {
  const Trace trace = Alike(1, Times(100, {Load(1000)}));
  const CuTime time = TimeOf({.trace = &trace,
                              .clock_hz = kHz,
                              .hbm_share = 0.5,
                              .hbm_bytes_per_second = 10 * kHz});
  EXPECT_NEAR(time.clocks, 100 * 1000 * 0.5 / 10 + kHbmSeconds * kHz, 20);
}

TEST(CuTimeTest, LdsServesAllWaves) {
  const Step read{.cls = Class::kLds, .lds_clocks = 4, .counts_lgkm = true};
  std::vector<Step> steps = Times(8, {read});
  steps.push_back(Wait(kMostVm, 0));
  EXPECT_EQ(ClocksOf(Alike(1, steps)), 8 * 4 + kLdsLatencyClocks + 4);
  EXPECT_EQ(ClocksOf(Alike(4, steps)), 4 * 8 * 4 + kLdsLatencyClocks + 4);
}

TEST(CuTimeTest, ABarrierWaitsForTheSlowest) {
  Trace trace;
  trace.steps = {Vector(), {.cls = Class::kBarrier}};
  trace.waves = {{1, 0}, {0, 0, 0, 0, 0, 1, 0}};
  EXPECT_EQ(ClocksOf(trace), 5 * 4 + kBarrierClocks + 4);
  // One that has ended is not waited for.
  trace.waves = {{}, {1, 0}};
  EXPECT_EQ(ClocksOf(trace), kBarrierClocks + 4);
  // Nor one that ends while another waits.
  trace.waves = {{1, 0}, {0, 0, 0, 0, 0}};
  EXPECT_EQ(ClocksOf(trace), 5 * 4 + kBarrierClocks + 4);
}

TEST(CuTimeTest, ResidentWorkgroupsOverlap) {
  const Trace trace = Alike(4, {Load(64), Wait(0, kMostLgkm)});
  const double one = ClocksOf(trace);
  EXPECT_NEAR(ClocksOf(trace, 3, 1), 3 * one + 2 * kDispatchClocks, 1e-6);
  // Behind each other on the path to memory, but not on the latency.
  EXPECT_LT(ClocksOf(trace, 3, 3), one + 2 * 4 * 16 + 1);
}

// Two waves of a SIMD want its matrix unit all the time. The first one loads at
// its end, which takes longer than what is left of the second if it was served
// before that, and comes on top if they took turns.
TEST(CuTimeTest, PriorityDecides) {
  const auto clocks = [](int priority) {
    Trace trace;
    trace.steps = {
        Matrix(), Load(64), {.cls = Class::kSalu, .priority = priority}};
    std::vector<uint32_t> first(11, 0);
    first.front() = 2;
    first.push_back(1);
    trace.waves = {first, {}, {}, {}, std::vector<uint32_t>(12, 0)};
    return ClocksOf(trace);
  };
  EXPECT_LT(clocks(1), 500);
  EXPECT_GT(clocks(0), 600);
}

}  // namespace
}  // namespace ingot::profile
