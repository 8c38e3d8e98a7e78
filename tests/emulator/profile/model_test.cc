// Clocks by hand.
#include "tests/emulator/profile/model.h"

#include <gtest/gtest.h>

namespace ingot::profile {
namespace {

Executed& Add(Recording* recording, uint64_t offset, Class cls, int clocks,
              std::vector<uint64_t> by_wave) {
  Executed& e = recording->program[offset];
  e.facts.cls = cls;
  e.facts.clocks = clocks;
  e.facts.by_lane = cls == Class::kValu;
  e.by_wave = std::move(by_wave);
  for (const uint64_t count : e.by_wave) e.count += count;
  return e;
}

TEST(ModelTest, SimdsAddTheirWavesAndTheCuAddsAll) {
  // Six waves in two workgroups: 0 and 4 share a SIMD, 1 and 5 another.
  Recording r;
  Add(&r, 0, Class::kMfma, 16, {20, 20, 20, 20, 20, 20});
  Add(&r, 4, Class::kValu, 4, {2, 0, 0, 0, 2, 0});
  Add(&r, 8, Class::kSalu, 4, {0, 0, 0, 40, 0, 0});
  Executed& lds = Add(&r, 12, Class::kLds, 0, {2, 2, 2, 2, 2, 2});
  lds.memory.lds_clocks = 12 * 8;
  Executed& load = Add(&r, 16, Class::kVmem, 0, {2, 2, 2, 2, 2, 2});
  load.memory.vmem_clocks = 12 * 16;
  load.memory.first_lines = 24;
  load.memory.global.written = 640;
  const Clocks c = ClocksOf(r, {0, 4, 8, 12, 16}, {2, 2, 2, 2, 2, 2});
  EXPECT_EQ(c.mfma, 2 * 10 * 16);
  EXPECT_EQ(c.valu, 2 * 1 * 4);
  EXPECT_EQ(c.salu, 20 * 4);
  EXPECT_EQ(c.issue, 4 * (10 + 20 + 1 + 1));  // wave 3
  EXPECT_EQ(c.lds, 6 * 8);
  EXPECT_EQ(c.vmem, 6 * 16);
  EXPECT_DOUBLE_EQ(c.l2, (24 * 128 + 640) / 64.0 / 2);
  EXPECT_STREQ(c.Bound().name, "mfma");
}

TEST(ModelTest, WavesThatTakeNoPartCountForNothing) {
  Recording r;
  Add(&r, 0, Class::kMfma, 16, {12, 0});
  const Clocks c = ClocksOf(r, {0}, {3, 0});
  EXPECT_EQ(c.mfma, 4 * 16);
  EXPECT_EQ(c.issue, 4 * 4);
}

double Time(const LaunchModel& model, const std::string& name) {
  for (const LaunchModel::Entry& entry : model.times) {
    if (entry.name == name) return entry.microseconds;
  }
  return -1;
}

TEST(ModelTest, ALaunchIsItsBusiestCu) {
  Clocks group;
  group.mfma = 2400;
  group.lds = 1200;
  group.issue = 4800;
  Occupancy occupancy;
  occupancy.groups_per_cu = 2;
  // 257 workgroups of 4 waves: one CU has two of them, resident together.
  const LaunchModel m = ModelLaunch(group, 257, 4, occupancy, 16e6);
  EXPECT_EQ(m.groups_on_busiest_cu, 2u);
  EXPECT_EQ(m.rounds, 1u);
  EXPECT_DOUBLE_EQ(Time(m, "mfma"), 2);
  EXPECT_DOUBLE_EQ(Time(m, "lds"), 1);
  EXPECT_DOUBLE_EQ(Time(m, "issue"), 2);
  EXPECT_DOUBLE_EQ(Time(m, "hbm"), 2);
  EXPECT_NEAR(m.hbm_stream_us, 16 / 6.2, 1e-9);
  EXPECT_EQ(ModelLaunch(group, 1024, 4, occupancy, 0).rounds, 2u);
}

TEST(ModelTest, SmallWorkgroupsStandSideBySide) {
  Clocks group;
  group.mfma = 2400;
  group.lds = 240;
  Occupancy occupancy;
  occupancy.groups_per_cu = 8;
  // Eight single waves on each CU: two on each SIMD.
  const LaunchModel m = ModelLaunch(group, 8 * 256, 1, occupancy, 0);
  EXPECT_DOUBLE_EQ(Time(m, "mfma"), 2);
  EXPECT_DOUBLE_EQ(Time(m, "lds"), 0.8);
}

}  // namespace
}  // namespace ingot::profile
