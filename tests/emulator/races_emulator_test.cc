// Unordered accesses of LDS and memory by two waves are found, whichever wave
// runs first; ordered ones are not.
#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

// Who was stopped, and who did the other access before.
struct Parties {
  int wave;
  const char* instruction;
  int other_wave;
  const char* other_instruction;
};

struct Planted {
  const char* kernel;
  const char* kind;
  const char* words;  // how they conflict
  Parties forward;    // waves run first to last
  Parties reversed;   // last to first
  uint32_t waves = 2;
};

constexpr const char kRace[] = "data race";
constexpr const char kWait[] = "missing s_waitcnt";

std::ostream& operator<<(std::ostream& out, const Planted& p) {
  return out << p.kernel;
}

class Races : public KernelFixture {
 protected:
  void SetUp() override {
    Load("races.hsaco");
    in_ = Allocate<uint32_t>(256);
    out_ = Allocate<uint32_t>(256);
  }
  RunResult Go(const std::string& kernel, bool reverse, uint32_t waves = 2,
               Options options = Options()) {
    std::memset(in_, 0, 1024);
    std::memset(out_, 0, 1024);
    options.reverse_waves = reverse;
    LaunchConfig config;
    config.block[0] = 64 * waves;
    return Run(kernel, Arguments().Add(in_).Add(out_), config, options);
  }
  void ExpectClean(const std::string& kernel, Options options = Options()) {
    const uint32_t waves = kernel.starts_with("own_") ? 1 : 2;
    for (const bool reverse : {false, true}) {
      const RunResult r = Go(kernel, reverse, waves, options);
      EXPECT_EQ(r.status, RunStatus::kOk) << kernel << ": " << r.report;
      EXPECT_EQ(r.report, "");
    }
  }

  uint32_t* in_ = nullptr;
  uint32_t* out_ = nullptr;
};

class PlantedRaces : public Races,
                     public testing::WithParamInterface<Planted> {};

TEST_P(PlantedRaces, AreReportedWithBothParties) {
  const Planted& p = GetParam();
  for (const bool reverse : {false, true}) {
    const RunResult r = Go(p.kernel, reverse, p.waves);
    EXPECT_EQ(r.status, RunStatus::kLaunchFailure) << p.kernel;
    const Parties& who = reverse ? p.reversed : p.forward;
    const std::string in = std::string(" in ") + p.kernel + ": ";
    for (const std::string& part : {
             std::string("kernel ") + p.kernel + ": " + p.kind + ": ",
             std::string(p.words),
             std::string("\n  address 0x"),
             in + who.instruction,
             "workgroup (0, 0, 0), wave " + std::to_string(who.wave) + ", lane",
             "against wave " + std::to_string(who.other_wave) + " at pc 0x",
             in + who.other_instruction,
         }) {
      EXPECT_NE(r.report.find(part), std::string::npos) << part << " not in\n"
                                                        << r.report;
    }
  }
}

constexpr const char kInFlight[] =
    "is in flight: its wave did not wait for it before the barrier";

INSTANTIATE_TEST_SUITE_P(
    BetweenWaves, PlantedRaces,
    testing::Values(
        Planted{"lds_read_after_write",
                kRace,
                "LDS is written with no barrier after another wave's load "
                "from it",
                {1, "ds_write_b32", 0, "ds_read_b32"},
                {0, "ds_write_b32", 1, "ds_read_b32"}},
        Planted{"lds_write_in_flight",
                kWait,
                kInFlight,
                {0, "ds_read_b32", 1, "ds_write_b32"},
                {1, "ds_read_b32", 0, "ds_write_b32"}},
        Planted{"lds_write_after_read",
                kRace,
                "LDS is read with no barrier after another wave's store to it",
                {1, "ds_read_b32", 0, "ds_write_b32"},
                {0, "ds_read_b32", 1, "ds_write_b32"}},
        Planted{"lds_read_in_flight",
                kWait,
                kInFlight,
                {0, "ds_write_b32", 1, "ds_read_b32"},
                {1, "ds_write_b32", 0, "ds_read_b32"}},
        Planted{"lds_write_after_write",
                kRace,
                "LDS is written with no barrier after another wave's store "
                "to it",
                {1, "ds_write_b32", 0, "ds_write_b32"},
                {0, "ds_write_b32", 1, "ds_write_b32"}},
        Planted{"lds_almost_same_value",
                kRace,
                "LDS is written with no barrier after another wave's store "
                "to it",
                {1, "ds_write_b128", 0, "ds_write_b128"},
                {0, "ds_write_b128", 1, "ds_write_b128"}},
        Planted{"lds_wide",
                kRace,
                "no barrier after another wave's load from it",
                {1, "ds_write_b128", 0, "ds_read_b128"},
                {0, "ds_write_b128", 1, "ds_read_b128"}},
        Planted{"lds_bytes",
                kRace,
                "no barrier after another wave's load from it",
                {1, "ds_write_b8", 0, "ds_read_u16"},
                {0, "ds_write_b8", 1, "ds_read_u16"}},
        Planted{"lds_atomics",
                kRace,
                "LDS is modified with no barrier after another wave's load "
                "from it",
                {1, "ds_add_u32", 0, "ds_read_b32"},
                {0, "ds_add_u32", 1, "ds_read_b32"}},
        Planted{"lds_many_readers",
                kRace,
                "no barrier after another wave's",
                {2, "ds_write_b32", 1, "ds_read_b32"},
                {1, "ds_read_b32", 2, "ds_write_b32"},
                3},
        Planted{"lds_flag_early",
                kRace,
                "LDS is read with no barrier after another wave's store to it",
                {1, "ds_read_b32", 0, "ds_write_b32"},
                {1, "ds_read_b32", 0, "ds_write_b32"}},
        Planted{"dma_no_barrier",
                kRace,
                "no barrier after another wave's",
                {1, "ds_read_b32", 0, "global_load_lds_dword"},
                {0, "global_load_lds_dword", 1, "ds_read_b32"}},
        Planted{"dma_over_read",
                kWait,
                kInFlight,
                {0, "global_load_lds_dword", 1, "ds_read_b32"},
                {0, "global_load_lds_dword", 1, "ds_read_b32"}},
        Planted{"staggered_early",
                kRace,
                "no barrier after another wave's",
                {1, "ds_write_b32", 0, "ds_read_b32"},
                {0, "ds_read_b32", 1, "ds_write_b32"}},
        Planted{"staggered_write_in_flight",
                kWait,
                kInFlight,
                {1, "ds_read_b32", 0, "ds_write_b32"},
                {1, "ds_read_b32", 0, "ds_write_b32"}}));

// vmcnt(1) covers the first of two transfers only. The wave that issued the
// second may not read its bytes either.
TEST_F(Races, TransferInFlightIsNobodysToRead) {
  const RunResult own = Go("dma_in_flight", false);
  EXPECT_NE(own.report.find("missing s_waitcnt: LDS is read while a transfer "
                            "into it is in flight\n  address 0x100"),
            std::string::npos)
      << own.report;
  const RunResult other = Go("dma_in_flight", true);
  EXPECT_NE(other.report.find(kInFlight), std::string::npos) << other.report;
  EXPECT_NE(other.report.find("wave 1, lane 0\n  against wave 0"),
            std::string::npos)
      << other.report;
}

// Inside a wave, LDS instructions and transfers overtake each other.
INSTANTIATE_TEST_SUITE_P(
    InsideAWave, PlantedRaces,
    testing::Values(Planted{"dma_over_own_read",
                            kWait,
                            "LDS is written while a load from it is in flight",
                            {0, "global_load_lds_dword", 0, "ds_read_b32"},
                            {0, "global_load_lds_dword", 0, "ds_read_b32"},
                            1},
                    Planted{"dma_over_own_write",
                            kWait,
                            "LDS is written while a store to it is in flight",
                            {0, "global_load_lds_dword", 0, "ds_write_b32"},
                            {0, "global_load_lds_dword", 0, "ds_write_b32"},
                            1},
                    Planted{
                        "write_over_own_dma",
                        kWait,
                        "LDS is written while a transfer into it is in flight",
                        {0, "ds_write_b32", 0, "global_load_lds_dword"},
                        {0, "ds_write_b32", 0, "global_load_lds_dword"},
                        1}));

INSTANTIATE_TEST_SUITE_P(
    Memory, PlantedRaces,
    testing::Values(
        Planted{"global_read_after_write",
                kRace,
                "with no barrier after another wave's",
                {1, "global_load_dword", 0, "global_store_dword"},
                {0, "global_store_dword", 1, "global_load_dword"}},
        Planted{"global_write_after_write",
                kRace,
                "memory is written with no barrier after another wave's store "
                "to it",
                {1, "global_store_short", 0, "global_store_byte"},
                {0, "global_store_byte", 1, "global_store_short"}},
        Planted{"global_atomics",
                kRace,
                "memory is modified with no barrier after another wave's load "
                "from it",
                {1, "global_atomic_add", 0, "global_load_dword"},
                {0, "global_atomic_add", 1, "global_load_dword"}}));

TEST_F(Races, MemoryRaceNamesLaneAndByte) {
  const RunResult r = Go("global_write_after_write", false);
  char part[64];
  std::snprintf(part, sizeof(part), "address 0x%llx\n",
                static_cast<unsigned long long>(
                    reinterpret_cast<uint64_t>(out_) + 6 * 4 + 3));
  EXPECT_NE(r.report.find(part), std::string::npos) << r.report;
  EXPECT_NE(r.report.find("wave 1, lane 6\n"), std::string::npos) << r.report;
}

TEST_F(Races, ScalarLoadsMustNotReadWhatVectorsStored) {
  const RunResult r = Go("scalar_after_store", false);
  EXPECT_NE(r.report.find("data race: a scalar load of what the workgroup "
                          "stored, with no s_dcache_inv between"),
            std::string::npos)
      << r.report;
}

TEST_F(Races, OrderedAccessesAreClean) {
  for (const KernelInfo& k : program_->object().kernels) {
    if (k.name.ends_with("_ok")) ExpectClean(k.name);
  }
}

TEST_F(Races, CanBeSwitchedOff) {
  Options options;
  options.check_lds_races = false;
  for (const char* kernel : {"lds_read_after_write", "lds_write_in_flight"})
    ExpectClean(kernel, options);
  options.check_global_races = false;
  for (const char* kernel : {"global_read_after_write", "scalar_after_store"})
    ExpectClean(kernel, options);
  options.check_waits = false;
  EXPECT_EQ(Go("dma_over_own_read", false, 1, options).report, "");
}

}  // namespace
}  // namespace ingot::emulator
