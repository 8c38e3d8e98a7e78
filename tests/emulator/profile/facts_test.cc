#include "tests/emulator/profile/facts.h"

#include <gtest/gtest.h>

namespace ingot::profile {
namespace {

using emulator::Inst;
using emulator::OpClass;
using emulator::OpInfo;

Facts FactsFor(const char* name, OpClass cls, int imm = 0, uint8_t cbsz = 0,
               uint8_t blgp = 0) {
  OpInfo op;
  op.name = name;
  op.cls = cls;
  Inst inst;
  inst.op = &op;
  inst.imm = imm;
  inst.cbsz = cbsz;
  inst.blgp = blgp;
  return FactsOf(inst);
}

// FLOP a clock of a CU's four SIMDs.
double PerClock(const char* name, uint8_t cbsz = 0, uint8_t blgp = 0) {
  const Facts f = FactsFor(name, OpClass::kMfma, 0, cbsz, blgp);
  EXPECT_GT(f.clocks, 0) << name;
  return 4 * f.flops / f.clocks;
}

TEST(FactsTest, MatrixInstructionsReachTheDatasheetsPeaks) {
  for (const char* name :
       {"v_mfma_f32_16x16x32_bf16", "v_mfma_f32_32x32x16_f16",
        "v_mfma_f32_16x16x32_fp8_bf8", "v_mfma_f32_32x32x16_bf8_bf8"}) {
    EXPECT_EQ(PerClock(name), 4096) << name;
  }
  for (const char* name :
       {"v_mfma_i32_16x16x64_i8", "v_mfma_i32_32x32x32_i8"}) {
    EXPECT_EQ(PerClock(name), 8192) << name;
  }
  for (const char* name :
       {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"}) {
    EXPECT_EQ(PerClock(name, 0, 0), 8192) << name;   // fp8 x fp8
    EXPECT_EQ(PerClock(name, 4, 1), 8192) << name;   // fp4 x bf8
    EXPECT_EQ(PerClock(name, 2, 3), 16384) << name;  // fp6 x bf6
    EXPECT_EQ(PerClock(name, 4, 4), 16384) << name;  // fp4 x fp4
  }
  for (const char* name :
       {"v_mfma_f32_16x16x4_f32", "v_mfma_f32_32x32x2_f32",
        "v_mfma_f32_16x16x1_4b_f32", "v_mfma_f32_32x32x1_2b_f32"}) {
    EXPECT_EQ(PerClock(name), 256) << name;
  }
  EXPECT_EQ(PerClock("v_mfma_f64_16x16x4_f64"), 128);
  EXPECT_EQ(PerClock("v_mfma_f64_4x4x4_4b_f64"), 128);
  // Half rate: the shapes of the generation before.
  EXPECT_EQ(PerClock("v_mfma_f32_16x16x16_bf16"), 2048);
  EXPECT_EQ(PerClock("v_mfma_f32_32x32x8_f16"), 2048);
  EXPECT_EQ(PerClock("v_mfma_i32_16x16x32_i8"), 4096);
}

TEST(FactsTest, MatrixClocksAsTheTableOfPassesSays) {
  const struct {
    const char* name;
    int clocks;
  } cases[] = {{"v_mfma_f32_16x16x32_bf16", 16},
               {"v_mfma_f32_32x32x16_bf16", 32},
               {"v_mfma_f32_4x4x4_16b_f16", 8},
               {"v_mfma_f32_16x16x4_4b_f16", 32},
               {"v_mfma_f32_32x32x4_2b_bf16", 64},
               {"v_mfma_f32_16x16x128_f8f6f4", 32},
               {"v_mfma_f32_32x32x64_f8f6f4", 64},
               {"v_smfmac_f32_16x16x64_bf16", 16},
               {"v_smfmac_f32_32x32x64_fp8_bf8", 32},
               {"v_smfmac_i32_16x16x128_i8", 16},
               {"v_mfma_f64_16x16x4_f64", 64}};
  for (const auto& c : cases) {
    EXPECT_EQ(FactsFor(c.name, OpClass::kMfma).clocks, c.clocks) << c.name;
  }
  // Half of k's places are stored: 2 * 16 * 16 * 32 operations are done.
  EXPECT_EQ(FactsFor("v_smfmac_f32_16x16x64_bf16", OpClass::kMfma).flops,
            16384);
}

TEST(FactsTest, ParsesNamesAndRefusesOthers) {
  const auto shape = ParseMatrix("v_mfma_f32_32x32x4_2b_f16");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->m, 32);
  EXPECT_EQ(shape->k, 4);
  EXPECT_EQ(shape->blocks, 2);
  for (const char* name : {"v_add_f32", "v_mfma_f32", "v_mfma_f32_16x16_f16",
                           "v_mfma_f32_16x16x4_", "v_mfma_f32_16x16x4_q7"}) {
    EXPECT_FALSE(ParseMatrix(name).has_value()) << name;
  }
}

TEST(FactsTest, CountsTheOperationsOfALane) {
  const struct {
    const char* name;
    double flops;
  } cases[] = {
      {"v_add_f32", 1},     {"v_subrev_f16", 1},   {"v_mul_f64", 1},
      {"v_fma_f32", 2},     {"v_fmac_f32", 2},     {"v_pk_add_f32", 2},
      {"v_pk_fma_f16", 4},  {"v_dot2_f32_f16", 4}, {"v_add_u32", 0},
      {"v_mul_lo_u32", 0},  {"v_mad_u64_u32", 0},  {"v_mov_b32", 0},
      {"v_fma_mix_f32", 2}, {"v_max_f32", 0},      {"v_pk_mul_f32", 2}};
  for (const auto& c : cases) {
    const Facts f = FactsFor(c.name, OpClass::kValu);
    EXPECT_EQ(f.flops, c.flops) << c.name;
    EXPECT_TRUE(f.by_lane);
    EXPECT_EQ(f.clocks, 4);
  }
  EXPECT_EQ(FactsFor("v_exp_f32", OpClass::kTrans).clocks, 8);
}

TEST(FactsTest, ScalarControl) {
  EXPECT_EQ(FactsFor("s_nop", OpClass::kSalu, 7).slots, 8);
  EXPECT_EQ(FactsFor("s_nop", OpClass::kSalu).cls, Class::kNop);
  EXPECT_FALSE(FactsFor("s_branch", OpClass::kBranch).goes_on);
  EXPECT_TRUE(FactsFor("s_cbranch_scc1", OpClass::kBranch).goes_on);
  EXPECT_FALSE(FactsFor("s_setpc_b64", OpClass::kBranch).goes_on);
  EXPECT_TRUE(FactsFor("s_swappc_b64", OpClass::kBranch).calls);
  EXPECT_TRUE(FactsFor("s_endpgm", OpClass::kBranch).ends);
}

std::string Wait(int imm) {
  OpInfo op;
  op.name = "s_waitcnt";
  Inst inst;
  inst.op = &op;
  inst.imm = imm;
  return WaitText(inst);
}

TEST(FactsTest, WaitsInWords) {
  EXPECT_EQ(Wait(0x273), "vmcnt(3) lgkmcnt(2)");  // gfx950.md, 2.5
  EXPECT_EQ(Wait(0x0f70), "vmcnt(0)");
  EXPECT_EQ(Wait(static_cast<int16_t>(0xc07f)), "lgkmcnt(0)");
  EXPECT_EQ(Wait(static_cast<int16_t>(0xcf7f)), "-");
  EXPECT_EQ(Wait(0x4f70), "vmcnt(16)");
  EXPECT_EQ(Wait(0), "vmcnt(0) expcnt(0) lgkmcnt(0)");
}

}  // namespace
}  // namespace ingot::profile
