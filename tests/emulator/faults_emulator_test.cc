// Each planted bug is found and named; the same kernels without bugs run clean.
#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

class Faults : public KernelFixture {
 protected:
  void SetUp() override {
    Load("faults.hsaco");
    in_ = Allocate<uint32_t>(64);
    out_ = Allocate<uint32_t>(64);
    std::memset(in_, 0, 256);
    std::memset(out_, 0, 256);
  }
  RunResult Go(const std::string& kernel, const Options& options = Options(),
               uint32_t waves = 1) {
    LaunchConfig config;
    config.block[0] = 64 * waves;
    return Run(kernel, Arguments().Add(in_).Add(out_), config, options);
  }

  // Runs the kernel; the report must have all of `parts`.
  void ExpectFault(const std::string& kernel,
                   const std::vector<std::string>& parts,
                   RunStatus status = RunStatus::kLaunchFailure,
                   uint32_t waves = 1) {
    const RunResult r = Go(kernel, Options(), waves);
    EXPECT_EQ(r.status, status) << kernel << ": " << r.report;
    EXPECT_NE(r.report.find("kernel " + kernel), std::string::npos) << r.report;
    for (const std::string& part : parts) {
      EXPECT_NE(r.report.find(part), std::string::npos) << part << " not in\n"
                                                        << r.report;
    }
  }

  uint32_t* in_ = nullptr;
  uint32_t* out_ = nullptr;
};

TEST_F(Faults, CleanKernelsStayClean) {
  for (const char* kernel :
       {"clean", "load_outside_masked", "wait_lds_order"}) {
    const RunResult r = Go(kernel);
    EXPECT_EQ(r.status, RunStatus::kOk) << r.report;
    EXPECT_EQ(r.report, "");
  }
}

TEST_F(Faults, AccessOutsideEveryAllocationNamesLaneAndAddress) {
  char address[32];
  std::snprintf(address, sizeof(address), "0x%llx",
                static_cast<unsigned long long>(
                    reinterpret_cast<uint64_t>(in_) + 0x7ffff000));
  ExpectFault(
      "load_outside",
      {"global_load_dword v2, v1, s[4:5] (dc508000", "lane 5", address,
       "wave 0", "workgroup (0, 0, 0)", "pc 0x", "outside every allocation"},
      RunStatus::kIllegalAddress);
  ExpectFault("store_past_end", {"global_store_dword", "lane 63"},
              RunStatus::kIllegalAddress);
}

TEST_F(Faults, FreedMemoryIsOutside) {
  uint32_t* gone = Allocate<uint32_t>(64);
  ASSERT_TRUE(device_.memory().Free(gone));
  const RunResult r = RunWave("clean", Arguments().Add(gone).Add(out_));
  EXPECT_EQ(r.status, RunStatus::kIllegalAddress);
}

TEST_F(Faults, UnknownInstructionShowsItsWords) {
  ExpectFault("unknown_instruction", {"unknown instruction", "fc000000"});
}

TEST_F(Faults, MissingWaitsAreFound) {
  ExpectFault("wait_vmem", {"missing s_waitcnt", "v3 is read", "v_add_u32"});
  ExpectFault("wait_smem", {"missing s_waitcnt", "s4 is read", "s_add_u32"});
  ExpectFault("wait_smem_order", {"missing s_waitcnt", "s4 is read"});
  ExpectFault("wait_lds", {"missing s_waitcnt", "v2 is read"});
  ExpectFault("wait_overwrite", {"missing s_waitcnt", "v2 is written"});
  ExpectFault("wait_store_data",
              {"missing s_waitcnt", "v2 is read", "global_store_dword"});
  ExpectFault("wait_dma",
              {"missing s_waitcnt", "LDS is read while a transfer into it",
               "ds_read_b32", "against wave 0", "global_load_lds_dword"});
  ExpectFault("wait_dma_barrier",
              {"missing s_waitcnt", "LDS is read while a transfer into it",
               "ds_read_b32", "against wave 0", "global_load_lds_dword"},
              RunStatus::kLaunchFailure, 2);
}

TEST_F(Faults, WaitCheckCanBeSwitchedOff) {
  Options options;
  options.check_waits = false;
  for (const char* kernel : {"wait_vmem", "wait_lds", "wait_dma"}) {
    EXPECT_EQ(Go(kernel, options).status, RunStatus::kOk) << kernel;
  }
}

TEST_F(Faults, BoundsCheckCanBeSwitchedOff) {
  Options options;
  options.check_bounds = false;
  for (const char* kernel :
       {"load_outside", "store_past_end", "lds_outside", "scratch_outside"}) {
    EXPECT_EQ(Go(kernel, options).report, "") << kernel;
  }
}

TEST_F(Faults, LdsAndScratchEndWhereTheDescriptorSays) {
  ExpectFault("lds_outside", {"LDS access beyond", "lane 63", "address 0x100"});
  ExpectFault("scratch_outside", {"scratch access beyond", "address 0x10"});
}

TEST_F(Faults, OtherWaysToFail) {
  ExpectFault("atomic_misaligned", {"misaligned atomic", "global_atomic_add"});
  ExpectFault("aborts", {"trap", "aborted"});
  ExpectFault("jumps_away", {"program counter left the code"});
}

TEST_F(Faults, EndlessWavesAreStopped) {
  Options options;
  options.max_instructions = 5000000;
  const RunResult r = Go("never_ends", options);
  EXPECT_EQ(r.status, RunStatus::kLaunchFailure);
  EXPECT_NE(r.report.find("does not end"), std::string::npos) << r.report;
}

TEST_F(Faults, AbsurdLaunchesAreRefused) {
  const auto status = [this](LaunchConfig c) {
    return Run("clean", Arguments().Add(in_).Add(out_), c).status;
  };
  EXPECT_EQ(status({{1, 1, 1}, {2048, 1, 1}, 0}), RunStatus::kInvalidLaunch);
  EXPECT_EQ(status({{1, 1, 1}, {64, 64, 1}, 0}), RunStatus::kInvalidLaunch);
  EXPECT_EQ(status({{0, 1, 1}, {64, 1, 1}, 0}), RunStatus::kInvalidLaunch);
  EXPECT_EQ(status({{1, 1, 1}, {64, 1, 1}, 163840}), RunStatus::kInvalidLaunch);
  EXPECT_EQ(status({{~0u, ~0u, ~0u}, {1, 1, 1}, 0}), RunStatus::kInvalidLaunch);
  EXPECT_EQ(status({{1u << 31, 1, 1}, {64, 1, 1}, 0}),
            RunStatus::kInvalidLaunch);
}

}  // namespace
}  // namespace ingot::emulator
