// Planted bugs that the checks of barriers, EXEC, alignment and wait counters
// find, and kernels beside them that are right.
#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

// A kernel and what its report must hold.
struct Planted {
  const char* kernel;
  std::vector<const char*> parts;
  bool Options::* check;  // finds it
};

std::ostream& operator<<(std::ostream& out, const Planted& p) {
  return out << p.kernel;
}

class Checks : public KernelFixture {
 protected:
  void SetUp() override {
    Load("checks.hsaco");
    in_ = Allocate<uint32_t>(256);
    out_ = Allocate<uint32_t>(256);
    std::memset(in_, 0, 1024);
    std::memset(out_, 0, 1024);
  }
  RunResult Go(const std::string& kernel, const Options& options = Options()) {
    LaunchConfig config;
    config.block[0] = kernel.starts_with("barrier_") ? 128 : 64;
    return Run(kernel, Arguments().Add(in_).Add(out_), config, options);
  }

  uint32_t* in_ = nullptr;
  uint32_t* out_ = nullptr;
};

class PlantedBugs : public Checks,
                    public testing::WithParamInterface<Planted> {};

TEST_P(PlantedBugs, AreReportedUnlessSwitchedOff) {
  const Planted& p = GetParam();
  const RunResult r = Go(p.kernel);
  EXPECT_EQ(r.status, RunStatus::kLaunchFailure) << p.kernel;
  EXPECT_EQ(r.report.rfind(std::string("kernel ") + p.kernel + ": ", 0), 0u)
      << r.report;
  for (const char* part : p.parts) {
    EXPECT_NE(r.report.find(part), std::string::npos) << part << " not in\n"
                                                      << r.report;
  }
  Options without;
  without.*p.check = false;
  EXPECT_EQ(Go(p.kernel, without).report, "");
}

INSTANTIATE_TEST_SUITE_P(
    Barriers, PlantedBugs,
    testing::Values(
        Planted{"barrier_some_lanes",
                {"barrier divergence: lanes of the wave do not take part",
                 "s_barrier", "wave 0, lane 5"},
                &Options::check_barriers},
        Planted{"barrier_wave_left",
                {"barrier divergence: a wave ended while others wait",
                 "s_barrier", "wave 0\n", "against wave 1 at pc", "s_endpgm"},
                &Options::check_barriers}));

INSTANTIATE_TEST_SUITE_P(
    Exec, PlantedBugs,
    testing::Values(Planted{"mfma_lane_off",
                            {"a matrix instruction ignores EXEC",
                             "v_mfma_f32_16x16x32_bf16", "wave 0, lane 42"},
                            &Options::check_exec},
                    Planted{"smfmac_lane_off",
                            {"a matrix instruction ignores EXEC",
                             "v_smfmac_f32_16x16x32_bf16", "lane 0"},
                            &Options::check_exec},
                    Planted{"transposing_torn",
                            {"a transposing read needs its group",
                             "ds_read_b64_tr_b16", "lane 15"},
                            &Options::check_exec}));

INSTANTIATE_TEST_SUITE_P(
    Alignment, PlantedBugs,
    testing::Values(
        Planted{"scalar_misaligned",
                {"misaligned access: a scalar access drops", "s_load_dword"},
                &Options::check_alignment},
        Planted{"scalar_base_misaligned",
                {"misaligned access: a scalar access drops", "s_load_dword"},
                &Options::check_alignment},
        Planted{"dma_misaligned",
                {"misaligned access: a transfer drops", "address 0x6\n",
                 "global_load_lds_dword", "lane 0"},
                &Options::check_alignment},
        Planted{"transposing_misaligned",
                {"misaligned access: a transposing read", "address 0x4\n",
                 "ds_read_b64_tr_b16", "lane 0"},
                &Options::check_alignment},
        Planted{"lds_atomic_misaligned",
                {"misaligned atomic", "address 0x4\n", "ds_add_u64", "lane 1"},
                &Options::check_alignment}));

Planted Wait(const char* kernel, const char* what, const char* instruction) {
  return {kernel,
          {"missing s_waitcnt: ", what, instruction},
          &Options::check_waits};
}

INSTANTIATE_TEST_SUITE_P(
    Waits, PlantedBugs,
    testing::Values(
        Wait("flat_half_waited", "v10 is read", "v_add_u32"),
        Wait("flat_hides_lds", "v11 is read", "v_add_u32"),
        Wait("load_over_load", "v10 is written", "ds_read_b32"),
        Wait("accumulator_in_flight", "a3 is read", "v_accvgpr_read"),
        Wait("mfma_operand_in_flight", "v12 is read", "v_mfma"),
        Wait("mfma_result_over_load", "v18 is written", "v_mfma"),
        Wait("mfma_scale_in_flight", "v24 is read", "v_mfma"),
        Wait("base_in_flight", "s4 is read", "s_load_dword"),
        Wait("scalar_over_scalar", "s4 is written", "s_load_dword"),
        Wait("vcc_in_flight", "vcc is read", "v_cndmask_b32"),
        Wait("vcc_high_in_flight", "vcc_hi is read", "v_addc_co_u32"),
        Wait("vcc_branch_in_flight", "vcc is read", "s_cbranch_vccz"),
        Wait("vcc_div_in_flight", "vcc is read", "v_div_fmas_f32"),
        Wait("lane_select_in_flight", "s5 is read", "v_readlane_b32"),
        Wait("atomic_result_in_flight", "v5 is read", "v_add_u32"),
        Wait("counter_high_bits", "v7 is read", "v_add_u32")));

TEST_F(Checks, LdsAtomicResultNeedsItsWait) {
  // The first of two operations is covered, not the second.
  EXPECT_NE(Go("lds_atomic_result_in_flight").report.find("v5 is read"),
            std::string::npos);
}

TEST_F(Checks, RightKernelsAreClean) {
  int seen = 0;
  for (const KernelInfo& k : program_->object().kernels) {
    if (!k.name.ends_with("_ok")) continue;
    EXPECT_EQ(Go(k.name).report, "") << k.name;
    ++seen;
  }
  EXPECT_GE(seen, 9);
}

TEST_F(Checks, MisalignedPlainAccessesAreCounted) {
  const RunResult r = Go("misaligned_ok");
  ASSERT_EQ(r.report, "");
  EXPECT_EQ(r.statistics.misaligned_loads, 64u + 64u);
  EXPECT_EQ(r.statistics.misaligned_stores, 63u);
  EXPECT_EQ(Go("mfma_ok").statistics.misaligned_loads, 0u);
}

TEST(CheckOptions, EnvironmentSwitchesEachOff) {
  for (const CheckName& check : kChecks) {
    const std::string name = std::string("INGOT_EMULATOR_CHECK_") + check.name;
    EXPECT_TRUE(Options::FromEnvironment().*check.enabled) << name;
    setenv(name.c_str(), "0", 1);
    EXPECT_FALSE(Options::FromEnvironment().*check.enabled) << name;
    unsetenv(name.c_str());
  }
}

}  // namespace
}  // namespace ingot::emulator
