// Profiles of kernels that were counted by hand (tests/data/emulator/profile.s)
// and of OpenCL ones.
#include <algorithm>
#include <functional>

#include "tests/emulator/kernel_fixture.h"
#include "tests/emulator/profile/profile.h"

namespace ingot::profile {
namespace {

using emulator::Arguments;

class Profiling : public emulator::KernelFixture {
 protected:
  Profile Of(const std::string& kernel, const Arguments& arguments,
             uint32_t groups = 1, uint32_t threads = 64,
             uint64_t most_groups = 0, int host_threads = 0) {
    ProfileRequest request;
    request.program = program_;
    request.kernel = program_->object().FindKernel(kernel);
    request.config.grid[0] = groups;
    request.config.block[0] = threads;
    request.kernarg = arguments.bytes().data();
    request.kernarg_bytes = arguments.bytes().size();
    request.most_groups = most_groups;
    request.buffers = buffers_;
    emulator::Options options = ProfileOptions();
    options.threads = host_threads;
    Profile profile;
    if (request.kernel == nullptr) {
      ADD_FAILURE() << "no kernel " << kernel;
      return profile;
    }
    const emulator::RunResult result =
        RunProfiled(device_, request, options, &profile);
    EXPECT_EQ(result.status, emulator::RunStatus::kOk) << result.report;
    return profile;
  }

  // A table of one dword a lane, for the kernels of a wave.
  const uint32_t* Table(const std::function<uint32_t(uint32_t)>& of) {
    uint32_t* table = Allocate<uint32_t>(64);
    for (uint32_t lane = 0; lane < 64; ++lane) table[lane] = of(lane);
    return table;
  }

  std::vector<Buffer> buffers_;
};

// The instruction of a profile's single LDS access, by its unit's clocks.
const MemoryUse& LdsOf(const Profile& p) { return p.tally.memory; }

TEST_F(Profiling, CountsEachClass) {
  Load("profile.hsaco");
  const Arguments arguments =
      Arguments().Add(Allocate<float>(64)).Add(Allocate<float>(64));
  const Profile p = Of("mix", arguments, 3);
  const std::pair<Class, uint64_t> wanted[] = {
      {Class::kMfma, 1}, {Class::kValu, 10},   {Class::kTrans, 1},
      {Class::kSalu, 2}, {Class::kSmem, 1},    {Class::kLds, 2},
      {Class::kVmem, 4}, {Class::kLdsDma, 1},  {Class::kBranch, 2},
      {Class::kWait, 5}, {Class::kBarrier, 1}, {Class::kNop, 2}};
  for (const auto& [cls, count] : wanted) {
    EXPECT_EQ(p.tally.Of(cls), 3 * count) << NameOf(cls);
  }
  EXPECT_EQ(p.tally.total, 3u * 32);
  EXPECT_EQ(p.tally.acc_moves, 3u * 4);
  EXPECT_EQ(p.tally.scratch_accesses, 3u * 2);
  EXPECT_EQ(p.tally.lanes, 3u * 11 * 64);
  EXPECT_EQ(p.tally.matrix_flops, 3 * 2.0 * 16 * 16 * 16);
  // v_pk_fma_f32 4, v_add_f32, v_mul_f32 and v_exp_f32 1 a lane.
  EXPECT_EQ(p.tally.vector_flops, 3 * 64 * 7.0);
  EXPECT_EQ(p.waves.size(), 1u);
  EXPECT_EQ(p.waves[0].total, 32);
  EXPECT_TRUE(p.loops.empty());
  EXPECT_EQ(p.mnemonics[0].name, "s_waitcnt");
  EXPECT_EQ(p.mnemonics[0].count, 15u);
  const MemoryUse& m = p.tally.memory;
  EXPECT_EQ(m.global.read, 3u * (256 + 256));  // the transfer too
  EXPECT_EQ(m.global.written, 3u * 256);
  EXPECT_EQ(m.scalar.read, 3u * 16);
  EXPECT_EQ(m.lds.read, 3u * 256);
  EXPECT_EQ(m.lds.written, 3u * (256 + 256));
  EXPECT_EQ(m.scratch.read, 3u * 256);
  EXPECT_EQ(m.scratch.written, 3u * 256);
  // 256 bytes and the 16 of the arguments, in each workgroup and in all.
  EXPECT_EQ(p.group_distinct.read, 3u * (256 + 16));
  EXPECT_EQ(p.launch_distinct.read, 256u + 16);
  EXPECT_EQ(p.launch_distinct.written, 256u);
  // 30 slots, and s_nop 3 and s_nop 15.
  EXPECT_EQ(p.clocks.issue, 4 * (30 + 4 + 16));
  EXPECT_EQ(p.clocks.mfma, 16);
  EXPECT_EQ(p.clocks.valu, 10 * 4 + 8);
}

TEST_F(Profiling, NestedLoops) {
  Load("profile.hsaco");
  const Profile p = Of("nested", Arguments(), 4, 128);
  ASSERT_EQ(p.loops.size(), 2u);
  const LoopProfile& outer = p.loops[0];
  const LoopProfile& inner = p.loops[1];
  const uint64_t waves = 4 * 2;
  EXPECT_EQ(outer.loop.entries, waves);
  EXPECT_EQ(outer.loop.iterations, waves * 5);
  EXPECT_EQ(outer.least, 5u);
  EXPECT_EQ(outer.most, 5u);
  EXPECT_EQ(outer.loop.depth, 0);
  EXPECT_EQ(inner.loop.entries, waves * 5);
  EXPECT_EQ(inner.loop.iterations, waves * 35);
  EXPECT_EQ(inner.loop.parent, 0);
  EXPECT_EQ(inner.loop.depth, 1);
  EXPECT_EQ(inner.tally.total, waves * 35 * 4);
  EXPECT_EQ(inner.tally.Of(Class::kMfma), waves * 35);
  EXPECT_EQ(outer.tally.Of(Class::kMfma), waves * 35);
  EXPECT_EQ(outer.tally.Of(Class::kValu), waves * 5 * 2);
  EXPECT_EQ(outer.tally.Of(Class::kSalu), waves * 5 * (3 + 14));
  EXPECT_EQ(outer.tally.Of(Class::kBranch), waves * 5 * 8);
  // 32x32x8 takes 32 clocks; two waves are on two SIMDs.
  EXPECT_EQ(inner.clocks.mfma, 32);
  EXPECT_EQ(outer.clocks.mfma, 7 * 32);
  EXPECT_STREQ(outer.clocks.Bound().name, "mfma");
}

TEST_F(Profiling, WavesThatIterateDifferently) {
  Load("profile.hsaco");
  const Profile p = Of("uneven", Arguments(), 2, 192);
  ASSERT_EQ(p.loops.size(), 1u);
  const LoopProfile& loop = p.loops[0];
  EXPECT_EQ(loop.waves, 3u);
  EXPECT_EQ(loop.loop.entries, 2u * 3);
  EXPECT_EQ(loop.loop.iterations, 2u * (3 + 5 + 7));
  EXPECT_EQ(loop.least, 3u);
  EXPECT_EQ(loop.most, 7u);
  ASSERT_EQ(p.waves.size(), 3u);
  for (uint32_t wave = 0; wave < 3; ++wave) {
    EXPECT_EQ(p.waves[wave].total, 6 + 4 * (3 + 2 * wave)) << wave;
  }
  EXPECT_EQ(p.tally.Of(Class::kBarrier), 2u * 3);
}

TEST_F(Profiling, FunctionsAreNotPartOfTheLoopThatCallsThem) {
  Load("profile.hsaco");
  const Profile p = Of("calling", Arguments());
  ASSERT_EQ(p.loops.size(), 2u);
  const LoopProfile& caller = p.loops[0];
  EXPECT_TRUE(caller.loop.calls);
  EXPECT_EQ(caller.loop.iterations, 5u);  // the last one leaves in its middle
  EXPECT_EQ(caller.loop.entries, 1u);
  EXPECT_EQ(caller.tally.total, 5u * 3 + 4 * 2);
  const LoopProfile& callee = p.loops[1];
  EXPECT_FALSE(callee.loop.calls);
  EXPECT_EQ(callee.loop.parent, -1);
  EXPECT_EQ(callee.loop.entries, 4u);
  EXPECT_EQ(callee.loop.iterations, 12u);
}

struct LdsCase {
  const char* kernel;
  uint32_t stride;  // bytes from lane to lane
  uint64_t clocks, least;
  double degree;
};

TEST_F(Profiling, BankConflictsOfInstructions) {
  Load("profile.hsaco");
  const LdsCase cases[] = {
      {"read_b32", 4, 2, 2, 1},
      {"read_b32", 8, 2, 2, 1},
      {"read_b32", 128, 2 * 16, 2, 16},
      {"read_b32", 256, 2 * 32, 2, 32},
      {"read_b32", 260, 2, 2, 1},
      {"read_u8", 1, 2, 2, 1},
      {"read_b64", 8, 2, 2, 1},
      {"read_b64", 16, 4, 2, 2},
      {"read_b96", 16, 8, 8, 1},
      // Lanes 0-3 have words 0-11, lanes 20-23 banks 28-31 and 0-7.
      {"read_b96", 12, 16, 8, 2},
      {"read_b128", 16, 4, 4, 1},
      {"read_b128", 64, 4 * 4, 4, 4},
      {"read_b128", 80, 4, 4, 1},
      {"read_tr", 8, 2, 2, 1},
      {"read2_b32", 4, 4, 4, 1},  // two rounds
      {"read2_b32", 256, 128, 4, 32},
      {"write_b32", 4, 2, 2, 1},
      {"write_b32", 8, 4, 2, 2},
      {"write_b64", 8, 4, 4, 1},
      {"write_b128", 16, 8, 8, 1},
      {"write_b128", 128, 8 * 8, 8, 8},
      {"add_u32", 4, 2, 2, 1},
      {"add_u32", 0, 64, 2, 32},  // all lanes on one place
      {"bpermute", 4, 2, 2, 1}};
  for (const LdsCase& c : cases) {
    SCOPED_TRACE(testing::Message() << c.kernel << " " << c.stride);
    const Profile p = Of(c.kernel, Arguments().Add(Table([&c](uint32_t lane) {
      return lane * c.stride;
    })));
    EXPECT_EQ(LdsOf(p).lds_clocks, c.clocks);
    EXPECT_EQ(LdsOf(p).lds_least, c.least);
    EXPECT_EQ(LdsOf(p).lds_degree, c.degree);
    EXPECT_EQ(p.lds_spots.size(), c.degree > 1 ? 1u : 0u);
    EXPECT_EQ(p.clocks.lds, static_cast<double>(c.clocks));
  }
}

TEST_F(Profiling, RowsOfAFragmentWithAndWithoutSwizzle) {
  Load("profile.hsaco");
  // 16 rows of 128 bytes, 16 bytes a lane: gfx950.md gives 4, and 1 swizzled.
  const auto degree = [this](bool swizzled) {
    const Profile p =
        Of("read_b128", Arguments().Add(Table([swizzled](uint32_t lane) {
          const uint32_t row = lane % 16;
          return row * 128 +
                 ((lane / 16 * 16) ^ (swizzled ? row / 2 % 8 * 16 : 0));
        })));
    return LdsOf(p).lds_degree;
  };
  EXPECT_EQ(degree(false), 4);
  EXPECT_EQ(degree(true), 1);
}

TEST_F(Profiling, TransfersToLdsAreWrites) {
  Load("profile.hsaco");
  const Profile p = Of("dma", Arguments().Add(Allocate<uint32_t>(256)));
  EXPECT_EQ(p.tally.memory.lds.written, 1024u);
  EXPECT_EQ(p.tally.memory.lds.read, 0u);
  EXPECT_EQ(p.tally.memory.global.read, 1024u);
  EXPECT_EQ(p.tally.memory.lds_clocks, 8u);
  EXPECT_EQ(p.tally.memory.lds_degree, 1);
  EXPECT_EQ(p.tally.memory.vmem_clocks, 16u);
}

TEST_F(Profiling, Coalescing) {
  Load("profile.hsaco");
  const struct {
    const char* kernel;
    uint32_t stride;  // bytes from lane to lane
    uint32_t period;  // lanes, after which addresses come again
    uint64_t bytes, lines64, lines128;
  } cases[] = {{"copy_dword", 4, 64, 256, 4, 2},
               {"copy_dword", 8, 64, 256, 8, 4},
               {"copy_dword", 256, 64, 256, 64, 64},
               {"copy_dword", 0, 64, 256, 1, 1},
               {"copy_dword", 192, 4, 256, 4, 4},
               {"copy_dwordx4", 16, 64, 1024, 16, 8},
               {"copy_dwordx4", 64, 64, 1024, 64, 32},
               {"copy_dwordx4", 64, 2, 1024, 2, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.kernel << " " << c.stride);
    const auto* in = Allocate<uint32_t>(4096);
    const auto* out = Allocate<uint32_t>(4096);
    const uint32_t* table =
        Table([&c](uint32_t lane) { return lane % c.period * c.stride; });
    const Profile p = Of(c.kernel, Arguments().Add(table).Add(in).Add(out));
    const MemoryUse& m = p.tally.memory;
    // The table is 256 bytes in two lines.
    EXPECT_EQ(m.global.read, 256 + c.bytes);
    EXPECT_EQ(m.global.written, c.bytes);
    EXPECT_EQ(m.lines64.written, 64 * c.lines64);
    EXPECT_EQ(m.lines128.written, 128 * c.lines128);
    EXPECT_EQ(m.lines64.read, 64 * (4 + c.lines64));
    EXPECT_EQ(m.lines128.read, 128 * (2 + c.lines128));
    EXPECT_EQ(m.vmem_clocks, 4 + 2 * std::max(c.lines64, c.bytes / 64));
    const bool wasteful = c.lines128 * 128 > std::max<uint64_t>(c.bytes, 128);
    EXPECT_EQ(p.vmem_spots.size(), wasteful ? 2u : 0u);
  }
}

TEST_F(Profiling, BytesOverTheMinimum) {
  Load("profile.hsaco");
  // Eight workgroups copy the same 256 bytes: each needs them, the launch once.
  const auto* in = Allocate<uint32_t>(64);
  const auto* out = Allocate<uint32_t>(64);
  buffers_ = {{"in", reinterpret_cast<uint64_t>(in), 256},
              {"out", reinterpret_cast<uint64_t>(out), 256}};
  const Arguments arguments =
      Arguments()
          .Add(Table([](uint32_t lane) { return 4 * lane; }))
          .Add(in)
          .Add(out);
  const Profile p = Of("copy_dword", arguments, 8);
  EXPECT_EQ(p.tally.memory.global.read, 8u * 512);
  EXPECT_EQ(p.group_distinct.read, 8u * (512 + 24));
  EXPECT_EQ(p.launch_distinct.read, 512u + 24);
  EXPECT_EQ(p.launch_distinct.written, 256u);
  EXPECT_EQ(p.hbm_bytes, 512 + 24 + 256);
  ASSERT_EQ(p.buffers.size(), 2u);
  EXPECT_EQ(p.buffers[0].distinct.read, 256u);
  EXPECT_EQ(p.buffers[0].distinct.written, 0u);
  EXPECT_EQ(p.buffers[1].distinct.written, 256u);
  // Two of the eight say the same: no buffer is larger than it is.
  EXPECT_EQ(Of("copy_dword", arguments, 8, 64, 2).hbm_bytes, p.hbm_bytes);
}

TEST_F(Profiling, ASampleOfWorkgroupsIsExtrapolatedWithinTheBuffers) {
  Load("kernels_O3.hsaco");
  constexpr uint32_t kCount = 64 * 256;
  const auto* a = Allocate<float>(kCount);
  const auto* b = Allocate<float>(kCount);
  const auto* c = Allocate<float>(kCount);
  for (const float* pointer : {a, b, c}) {
    buffers_.push_back({"x", reinterpret_cast<uint64_t>(pointer), kCount * 4});
  }
  const Arguments arguments =
      Arguments().Add(a).Add(b).Add(c).Add(uint32_t{kCount});
  const Profile all = Of("vadd", arguments, 64, 256);
  const Profile some = Of("vadd", arguments, 64, 256, 8);
  EXPECT_EQ(all.groups_run, 64u);
  EXPECT_EQ(some.groups_run, 8u);
  EXPECT_EQ(some.groups, 64u);
  EXPECT_EQ(some.scale(), 8);
  EXPECT_EQ(some.tally.total * 8, all.tally.total);
  EXPECT_EQ(all.launch_distinct.written, kCount * 4u);
  EXPECT_EQ(some.launch_distinct.written, kCount * 4u / 8);
  EXPECT_NEAR(some.hbm_bytes, all.hbm_bytes, 0.001 * all.hbm_bytes);
  EXPECT_EQ(all.model.bound, some.model.bound);
}

TEST_F(Profiling, DoesNotDependOnHostThreads) {
  Load("kernels_O3.hsaco");
  const auto* in = Allocate<float>(16 * 1024);
  const auto* out = Allocate<float>(16 * 1024);
  const Arguments arguments = Arguments().Add(in).Add(out).Add(uint32_t{1024});
  std::fill_n(const_cast<float*>(in), 16 * 1024, 1.0f);
  const Profile one = Of("softmax", arguments, 16, 256, 0, 1);
  const Profile four = Of("softmax", arguments, 16, 256, 0, 4);
  EXPECT_GT(one.loops.size(), 1u);
  ASSERT_EQ(one.loops.size(), four.loops.size());
  for (size_t n = 0; n < one.loops.size(); ++n) {
    EXPECT_EQ(one.loops[n].tally.by_class, four.loops[n].tally.by_class);
    EXPECT_EQ(one.loops[n].loop.iterations, four.loops[n].loop.iterations);
    EXPECT_EQ(one.loops[n].least, four.loops[n].least);
  }
  EXPECT_EQ(one.tally.memory.lds_clocks, four.tally.memory.lds_clocks);
  EXPECT_EQ(one.launch_distinct.read, four.launch_distinct.read);
  EXPECT_EQ(one.clocks.l2, four.clocks.l2);
}

TEST_F(Profiling, ForeignTranspose) {
  Load("kernels_O3.hsaco");
  // 64 x 64 in tiles of 16 x 17 floats: reads of rows of 64 bytes.
  ProfileRequest request;
  request.program = program_;
  request.kernel = program_->object().FindKernel("transpose");
  request.config.grid[0] = request.config.grid[1] = 4;
  request.config.block[0] = request.config.block[1] = 16;
  const auto* in = Allocate<float>(64 * 64);
  const auto* out = Allocate<float>(64 * 64);
  const Arguments arguments =
      Arguments().Add(in).Add(out).Add(uint32_t{64}).Add(uint32_t{64});
  request.kernarg = arguments.bytes().data();
  request.kernarg_bytes = arguments.bytes().size();
  Profile p;
  const emulator::RunResult result =
      RunProfiled(device_, request, ProfileOptions(), &p);
  ASSERT_EQ(result.status, emulator::RunStatus::kOk) << result.report;
  EXPECT_EQ(p.groups, 16u);
  EXPECT_EQ(p.waves_per_group, 4u);
  EXPECT_EQ(p.lds_bytes, 16u * 17 * 4);
  const MemoryUse& m = p.tally.memory;
  EXPECT_EQ(m.global.read, 64u * 64 * 4);
  EXPECT_EQ(m.global.written, 64u * 64 * 4);
  // A wave stands on four rows, each half a line of 128 bytes.
  EXPECT_EQ(m.lines64.read, 64u * 64 * 4);
  EXPECT_EQ(m.lines128.read, 2u * 64 * 64 * 4);
  EXPECT_EQ(m.lds.written, 64u * 64 * 4);
  // Writes: words 17 * row + column of two rows meet in one of 32 banks (15
  // and 17 + 15). Reads: 17 * column + row of two rows, in bank 0 of 64.
  EXPECT_EQ(m.lds_degree, 2);
  EXPECT_EQ(p.occupancy.waves_per_simd, 8);
}

}  // namespace
}  // namespace ingot::profile
