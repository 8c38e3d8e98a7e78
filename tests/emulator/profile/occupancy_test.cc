// The rules of gfx950.md, section 1.
#include "tests/emulator/profile/occupancy.h"

#include <gtest/gtest.h>

namespace ingot::profile {
namespace {

Registers Vgprs(int count) { return {count, 0, 32}; }

TEST(OccupancyTest, WavesByVectorRegisters) {
  const struct {
    int registers, waves;
  } cases[] = {{1, 8},   {64, 8},  {65, 7},  {72, 7},  {73, 6},  {80, 6},
               {81, 5},  {96, 5},  {97, 4},  {128, 4}, {129, 3}, {168, 3},
               {169, 2}, {256, 2}, {257, 1}, {512, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.registers);
    const Occupancy o = OccupancyOf(Vgprs(c.registers), 256, 0);
    EXPECT_EQ(o.waves_per_simd, c.waves);
    EXPECT_EQ(o.groups_per_cu, c.waves);
    EXPECT_EQ(o.limit, c.waves == 8 ? "waves" : "registers");
  }
}

TEST(OccupancyTest, AccumulatorsComeOutOfTheSameFile) {
  EXPECT_EQ(OccupancyOf({128, 128, 32}, 256, 0).waves_per_simd, 2);
  EXPECT_EQ(OccupancyOf({132, 256, 32}, 256, 0).waves_per_simd, 1);
}

TEST(OccupancyTest, WavesByScalarRegisters) {
  EXPECT_EQ(OccupancyOf({32, 0, 96}, 256, 0).waves_per_simd, 8);
  const Occupancy o = OccupancyOf({32, 0, 102}, 256, 0);
  EXPECT_EQ(o.waves_per_simd, 7);
  EXPECT_EQ(o.limit, "scalar_registers");
}

TEST(OccupancyTest, GroupsByLds) {
  const struct {
    uint32_t bytes;
    int groups;
  } cases[] = {{1, 8},     {20480, 8}, {20481, 7}, {40960, 4}, {40961, 3},
               {53760, 3}, {53761, 2}, {81920, 2}, {81921, 1}, {163840, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.bytes);
    const Occupancy o = OccupancyOf(Vgprs(64), 256, c.bytes);
    EXPECT_EQ(o.groups_per_cu, c.groups);
    EXPECT_EQ(o.limit, c.groups == 8 ? "waves" : "lds");
  }
}

TEST(OccupancyTest, WorkgroupsAreResidentAsAWhole) {
  // 5 waves a SIMD are 20; a workgroup of 16 fits once.
  const Occupancy o = OccupancyOf(Vgprs(96), 1024, 0);
  EXPECT_EQ(o.groups_per_cu, 1);
  EXPECT_EQ(o.waves_per_simd, 4);
  // One wave of 300 work-items too many: 5 waves.
  EXPECT_EQ(OccupancyOf(Vgprs(64), 300, 0).groups_per_cu, 6);
  // 16 waves of 512 registers never fit.
  EXPECT_EQ(OccupancyOf(Vgprs(512), 1024, 0).groups_per_cu, 0);
}

TEST(OccupancyTest, ReadsTheDescriptorWhereThereIsNoMetadata) {
  emulator::KernelInfo kernel;
  kernel.rsrc1 = 48 | 4u << 6;  // 49 granules of 8; 48 SGPRs
  kernel.rsrc3 = 32;            // accum_offset 132
  const Registers r = RegistersOf(kernel);
  EXPECT_EQ(r.arch, 132);
  EXPECT_EQ(r.acc, 260);
  EXPECT_EQ(r.scalar, 48);
  kernel.has_metadata = true;
  kernel.vgprs = 388;  // the AGPRs among them
  kernel.agprs = 256;
  kernel.sgprs = 41;
  EXPECT_EQ(RegistersOf(kernel).arch, 132);
  EXPECT_EQ(RegistersOf(kernel).acc, 256);
  EXPECT_EQ(RegistersOf(kernel).scalar, 41);
}

}  // namespace
}  // namespace ingot::profile
