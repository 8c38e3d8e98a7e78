// Modules, functions and launches.
#include <cstring>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

class HipLaunch : public HipTest {};

// Every field that a kernel can read at entry, with both argument forms.
TEST_F(HipLaunch, KernelSeesItsPlaceAndItsArguments) {
  void* function = Kernel("launch.hsaco", "where");
  uint32_t* out = Malloc<uint32_t>(6 * 12 * 6);
  uint32_t factor = 77;
  void* params[] = {&out, &factor};
  struct {
    uint32_t* out;
    uint32_t factor;
  } packed = {out, factor};
  size_t size = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &packed,
                   reinterpret_cast<void*>(2), &size,
                   reinterpret_cast<void*>(3)};
  void* const stream = nullptr;
  void** const none = nullptr;
  for (const bool use_extra : {false, true}) {
    ASSERT_EQ(hip_("hipMemset", out, 0, size_t{6 * 12 * 24}), 0);
    ASSERT_EQ(
        hip_("hipModuleLaunchKernel", function, 3u, 2u, 1u, 3u, 2u, 2u, 512u,
             stream, use_extra ? none : params, use_extra ? extra : none),
        0);
    ASSERT_EQ(SyncAll(), 0);
    for (uint32_t group = 0; group < 6; ++group) {
      for (uint32_t item = 0; item < 12; ++item) {
        const uint32_t* o = out + (group * 12 + item) * 6;
        EXPECT_EQ(o[0], item % 3 | item / 3 % 2 << 8 | item / 6 << 16);
        EXPECT_EQ(o[1], group % 3 | group / 3 << 8);
        EXPECT_EQ(o[2], 3u | 2u << 8);
        EXPECT_EQ(o[3], 3u);
        EXPECT_EQ(o[4], 512u);
        EXPECT_EQ(o[5], factor);
      }
    }
  }
  EXPECT_EQ(Launch(function, 1, 12, params), kInvalidValue)
      << "another workgroup size";
  size = 11;
  EXPECT_EQ(Launch(function, 1, 12, nullptr, nullptr, 0, extra), kInvalidValue)
      << "too few packed bytes";
  void* unknown[] = {reinterpret_cast<void*>(9), &packed,
                     reinterpret_cast<void*>(3)};
  EXPECT_EQ(Launch(function, 1, 12, nullptr, nullptr, 0, unknown),
            kInvalidValue);
}

TEST_F(HipLaunch, PreloadedArgumentsEnterBehindTheProlog) {
  void* function = Kernel("launch.hsaco", "preloaded");
  uint32_t* out = Malloc<uint32_t>(1);
  uint32_t value = 1234;
  void* params[] = {&out, &value};
  ASSERT_EQ(Launch(function, 1, 64, params), 0);
  ASSERT_EQ(SyncAll(), 0);
  EXPECT_EQ(*out, value);
}

TEST_F(HipLaunch, GlobalsOfAModule) {
  void* module = Load("launch.hsaco");
  void* address = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(hip_("hipModuleGetGlobal", &address, &bytes, module, "counter"), 0);
  EXPECT_EQ(bytes, 8u);
  uint64_t value = 0;
  ASSERT_EQ(hip_("hipMemcpyDtoH", &value, address, size_t{8}), 0);
  EXPECT_EQ(value, 41u);
  EXPECT_EQ(hip_("hipModuleGetGlobal", &address, &bytes, module, "nothing"),
            kNotFound);
  void* function = nullptr;
  EXPECT_EQ(hip_("hipModuleGetFunction", &function, module, "nothing"),
            kNotFound);
  EXPECT_EQ(hip_("hipModuleUnload", module), 0);
  EXPECT_EQ(hip_("hipModuleUnload", module), kInvalidHandle);
  EXPECT_EQ(hip_("hipModuleGetGlobal", &address, &bytes, module, "counter"),
            kInvalidHandle);
}

TEST_F(HipLaunch, FunctionsDieWithTheirModule) {
  void* module = Load("launch.hsaco");
  void* function = nullptr;
  ASSERT_EQ(hip_("hipModuleGetFunction", &function, module, "preloaded"), 0);
  ASSERT_EQ(hip_("hipModuleUnload", module), 0);
  uint32_t* out = Malloc<uint32_t>(1);
  uint32_t value = 1;
  void* params[] = {&out, &value};
  EXPECT_EQ(Launch(function, 1, 64, params), kInvalidHandle);
  EXPECT_EQ(Launch(nullptr, 1, 64, params), kInvalidHandle);
  EXPECT_EQ(Launch(module, 1, 64, params), kInvalidHandle);
}

TEST_F(HipLaunch, ObjectsThatDoNotFitAreRefused) {
  std::string object = Bytes("launch.hsaco");
  void* module = nullptr;
  const auto load = [&](uint32_t flags) {
    std::memcpy(&object[48], &flags, 4);
    return hip_("hipModuleLoadData", &module, object.data());
  };
  EXPECT_EQ(load(0x54f), 0);                // any, any
  EXPECT_EQ(load(0xe4f), 0);                // sramecc+, xnack-
  EXPECT_EQ(load(0x74f), kNoBinaryForGpu);  // xnack+
  EXPECT_EQ(load(0xa4f), kNoBinaryForGpu);  // sramecc-
  EXPECT_EQ(load(0x54c), kNoBinaryForGpu);  // gfx942
  char garbage[128] = "not an object";
  EXPECT_EQ(hip_("hipModuleLoadData", &module, garbage), kInvalidImage);
  EXPECT_EQ(hip_("hipModuleLoadData", &module, nullptr), kInvalidValue);
  EXPECT_EQ(hip_("hipModuleLoad", &module, "/nowhere/x.hsaco"), kFileNotFound);
  EXPECT_EQ(hip_("hipModuleLoad", &module, "/dev/null"), kInvalidImage);
  EXPECT_EQ(hip_("hipModuleLoad", &module, "tests/data/emulator/launch.hsaco"),
            0);
}

// Codes of HIP 7.
TEST_F(HipLaunch, AbsurdLaunchesAreRefused) {
  float* a = Floats(64, 1);
  ASSERT_EQ(Add(a, a, a, 64, nullptr), 0);
  int count = 64;
  void* params[] = {&a, &a, &a, &count};
  void* none[] = {&a, nullptr, &a, &count};
  EXPECT_EQ(Launch(vadd_, 0, 64, params), kInvalidValue);
  EXPECT_EQ(Launch(vadd_, 1, 0, params), kInvalidConfiguration);
  EXPECT_EQ(Launch(vadd_, 1, 1025, params), kInvalidConfiguration);
  EXPECT_EQ(Launch(vadd_, ~0u, 64, params), kInvalidConfiguration);
  EXPECT_EQ(Launch(vadd_, 1, 64, params, nullptr, 163841), kInvalidValue);
  EXPECT_EQ(Launch(vadd_, 1, 64, params, nullptr, ~0u), kInvalidValue);
  EXPECT_EQ(Launch(vadd_, 1, 64, nullptr), kInvalidValue);
  EXPECT_EQ(Launch(vadd_, 1, 64, none), kInvalidValue);
  void* extra[] = {reinterpret_cast<void*>(3)};
  EXPECT_EQ(Launch(vadd_, 1, 64, params, nullptr, 0, extra), kInvalidValue)
      << "both forms";
  EXPECT_EQ(Launch(vadd_, 1, 64, params, &count), kContextIsDestroyed)
      << "no stream";
  EXPECT_EQ(SyncAll(), 0) << "refused launches are no faults";
  EXPECT_EQ(hip_("hipGetLastError"), kContextIsDestroyed);
  EXPECT_EQ(hip_("hipGetLastError"), 0);
}

TEST_F(HipLaunch, TheArgumentsAreThoseOfTheCall) {
  Gate gate;
  void* stream = Stream();
  float *one = Floats(64, 1), *out = Floats(64, 0);
  ASSERT_EQ(hip_("hipLaunchHostFunc", stream, &Gate::Pass, gate.data()), 0);
  {
    float *a = one, *c = out;
    int count = 64;
    if (vadd_ == nullptr) vadd_ = Kernel("kernels_O2.hsaco", "vadd");
    void* params[] = {&a, &a, &c, &count};
    ASSERT_EQ(Launch(vadd_, 1, 64, params, stream), 0);
    a = c = nullptr;
    count = 0;
  }
  gate.Open();
  ASSERT_EQ(Sync(stream), 0);
  EXPECT_EQ(out[63], 2.0f);
}

TEST_F(HipLaunch, ExtendedLaunchesCountWorkItemsAndRecordEvents) {
  float *a = Floats(128, 1), *c = Floats(128, 0);
  ASSERT_EQ(Add(a, a, c, 64, nullptr), 0);
  int count = 128;
  void* params[] = {&a, &a, &c, &count};
  void *start = Event(), *stop = Event();
  void** const none = nullptr;
  void* const stream = nullptr;
  ASSERT_EQ(hip_("hipExtModuleLaunchKernel", vadd_, 128u, 1u, 1u, 64u, 1u, 1u,
                 size_t{0}, stream, params, none, start, stop, 0u),
            0);
  ASSERT_EQ(hip_("hipEventSynchronize", stop), 0);
  float milliseconds = -1;
  EXPECT_EQ(hip_("hipEventElapsedTime", &milliseconds, start, stop), 0);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(c[127], 2.0f);
  EXPECT_EQ(hip_("hipExtModuleLaunchKernel", vadd_, 100u, 1u, 1u, 64u, 1u, 1u,
                 size_t{0}, stream, params, none, start, stop, 0u),
            kInvalidValue);
}

struct LaunchConfigEx {
  unsigned grid[3], block[3], lds;
  void* stream;
  void* attributes;
  unsigned count;
};

TEST_F(HipLaunch, LaunchByConfiguration) {
  struct {
    int id, unused;
    int cooperative;
    char pad[60];
  } attribute = {2, 0, 1, {}};
  float *a = Floats(64, 1), *c = Floats(64, 0);
  ASSERT_EQ(Add(a, a, a, 64, nullptr), 0);
  int count = 64;
  void* params[] = {&a, &a, &c, &count};
  LaunchConfigEx config = {{1, 1, 1}, {64, 1, 1}, 0, nullptr, &attribute, 1};
  ASSERT_EQ(hip_("hipDrvLaunchKernelEx", &config, vadd_, params, nullptr), 0);
  ASSERT_EQ(SyncAll(), 0);
  EXPECT_EQ(c[5], 4.0f);
  config.grid[0] = 1 << 20;
  EXPECT_EQ(hip_("hipDrvLaunchKernelEx", &config, vadd_, params, nullptr),
            kCooperativeTooLarge);
}

// The kernels of faults.hsaco use 512 registers: one wave fits a SIMD.
TEST_F(HipLaunch, CooperativeLaunchesMustBeResident) {
  void* function = Kernel("faults.hsaco", "clean");
  void* const stream = nullptr;
  void** const params = nullptr;
  const auto launch = [&](unsigned groups, unsigned lds) {
    return hip_("hipModuleLaunchCooperativeKernel", function, groups, 1u, 1u,
                64u, 1u, 1u, lds, stream, params);
  };
  EXPECT_EQ(launch(4 * 256 + 1, 0), kCooperativeTooLarge);
  EXPECT_EQ(launch(2 * 256 + 1, 81920), kCooperativeTooLarge);
  EXPECT_EQ(launch(1, 163841), kCooperativeTooLarge);
  EXPECT_EQ(launch(0, 0), kInvalidValue);
}

TEST_F(HipLaunch, OccupancyFollowsRegistersWavesAndLds) {
  void* large = Kernel("faults.hsaco", "clean");
  void* small = Kernel("kernels_O2.hsaco", "vadd");
  const auto blocks = [&](void* function, int threads, size_t lds) {
    int n = -1;
    EXPECT_EQ(hip_("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", &n,
                   function, threads, lds),
              0);
    return n;
  };
  EXPECT_EQ(blocks(large, 64, 0), 4);
  EXPECT_EQ(blocks(large, 256, 0), 1);
  EXPECT_EQ(blocks(large, 512, 0), 0) << "eight waves for four SIMDs";
  EXPECT_EQ(blocks(small, 64, 0), 32);
  EXPECT_EQ(blocks(small, 65, 0), 16);
  EXPECT_EQ(blocks(small, 256, 0), 8);
  EXPECT_EQ(blocks(small, 257, 0), 0) << "above the kernel's own limit";
  // 160 KiB in granules of 1280 bytes.
  EXPECT_EQ(blocks(small, 64, 81920), 2);
  EXPECT_EQ(blocks(small, 64, 81921), 1);
  EXPECT_EQ(blocks(small, 64, 53760), 3);
  EXPECT_EQ(blocks(small, 64, 53761), 2);
  EXPECT_EQ(blocks(small, 64, 163841), 0);
  int n = 0;
  EXPECT_EQ(hip_("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", &n,
                 small, 0, size_t{0}),
            kInvalidValue);
  int grid = 0, block = 0;
  ASSERT_EQ(hip_("hipModuleOccupancyMaxPotentialBlockSize", &grid, &block,
                 small, size_t{0}, 0),
            0);
  EXPECT_EQ(block, 256);
  EXPECT_EQ(grid, 2048);
  ASSERT_EQ(hip_("hipModuleOccupancyMaxPotentialBlockSize", &grid, &block,
                 large, size_t{0}, 0),
            0);
  EXPECT_EQ(block, 256);
  EXPECT_EQ(grid, 256);
}

TEST_F(HipLaunch, FunctionAttributes) {
  void* function = Kernel("faults.hsaco", "lds_outside");
  const auto ask = [&](int attribute) {
    int value = -1;
    EXPECT_EQ(hip_("hipFuncGetAttribute", &value, attribute, function), 0);
    return value;
  };
  const int lds = ask(1);
  EXPECT_GT(lds, 0);
  EXPECT_EQ(ask(0), 1024);
  EXPECT_EQ(ask(8), 163840 - lds);
  EXPECT_EQ(ask(6), 95);
  int value = 0;
  EXPECT_EQ(hip_("hipFuncGetAttribute", &value, 10, function), kInvalidValue);
  EXPECT_EQ(hip_("hipFuncSetAttribute", function, 8, 163840 - lds), 0);
  EXPECT_EQ(hip_("hipFuncSetAttribute", function, 8, 163841 - lds),
            kInvalidValue);
  EXPECT_EQ(hip_("hipFuncSetAttribute", &value, 8, 1), kInvalidDeviceFunction);
}

}  // namespace
}  // namespace ingot::emulator
