// Hosts built by hipcc: what their start-up code registers, and the bundles in
// which their device code comes. hip_host.hip is the device side.
#include <zlib.h>

#include <cstring>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

struct Dim3 {
  unsigned x, y, z;
};
struct Wrapper {
  uint32_t magic, version;
  const void* binary;
  void* unused;
};
constexpr uint32_t kMagic = 0x48495046;

// The start-up code of such a host, by hand: addresses stand for the stub and
// the shadows.
class HipFatBinary : public HipTest {
 protected:
  void Register(const std::string& bundle) {
    bundle_ = bundle;
    wrapper_ = {kMagic, 1, bundle_.data(), nullptr};
    handle_ = hip_.operator()<void*>("__hipRegisterFatBinary", &wrapper_);
    ASSERT_NE(handle_, nullptr);
    void* const none = nullptr;
    hip_.operator()<void>("__hipRegisterFunction", handle_, &stub_, "bump",
                          "_Z4bumpPii", ~0u, none, none, none, none, none);
    hip_.operator()<void>("__hipRegisterVar", handle_, &offset_, "offset",
                          "offset", 0, size_t{4}, 0, 0);
    const int seven = 7;
    hip_.operator()<void>("__hipRegisterManagedVar", handle_, &counter_, &seven,
                          "counter", size_t{4}, 4u);
  }
  void TearDown() override {
    if (handle_ != nullptr)
      hip_.operator()<void>("__hipUnregisterFatBinary", handle_);
    HipTest::TearDown();
  }
  int Bump(int* out, int factor, unsigned threads = 64) {
    void* params[] = {&out, &factor};
    void* const stream = nullptr;
    return hip_("hipLaunchKernel", &stub_, Dim3{1, 1, 1}, Dim3{threads, 1, 1},
                params, size_t{0}, stream);
  }
  void ExpectRuns() {
    int* out = Malloc<int>(64);
    ASSERT_EQ(Bump(out, 3), 0);
    ASSERT_EQ(SyncAll(), 0);
    EXPECT_EQ(out[63], 63 * 3 + 5);
  }

  std::string bundle_;
  Wrapper wrapper_ = {};
  void* handle_ = nullptr;
  char stub_ = 0, offset_ = 0;
  void* counter_ = nullptr;
};

TEST_F(HipFatBinary, KernelsAreLaunchedByTheirStubs) {
  Register(Bytes("hip_host.hipfb"));
  ExpectRuns();
  EXPECT_EQ(*static_cast<int*>(counter_), 8) << "managed";
  int* out = Malloc<int>(1);
  EXPECT_EQ(Bump(out, 1, 2048), kInvalidConfiguration);
  void *function = nullptr, *const stream = nullptr;
  void** const none = nullptr;
  ASSERT_EQ(hip_("hipGetFuncBySymbol", &function, &stub_), 0);
  int threads = 0, blocks = 0;
  EXPECT_EQ(hip_("hipFuncGetAttribute", &threads, 0, function), 0);
  EXPECT_EQ(hip_("hipOccupancyMaxActiveBlocksPerMultiprocessor", &blocks,
                 &stub_, 256, size_t{0}),
            0);
  EXPECT_EQ(blocks, 8);
  int other = 0;
  EXPECT_EQ(hip_("hipLaunchKernel", &other, Dim3{1, 1, 1}, Dim3{1, 1, 1}, none,
                 size_t{0}, stream),
            kInvalidDeviceFunction);
  EXPECT_EQ(hip_("hipGetFuncBySymbol", &function, &other),
            kInvalidDeviceFunction);
}

TEST_F(HipFatBinary, VariablesAreReachedByTheirShadows) {
  Register(Bytes("hip_host.hipfb"));
  int value = 0;
  ASSERT_EQ(hip_("hipMemcpyFromSymbol", &value, &offset_, size_t{4}, size_t{0},
                 kToHost),
            0);
  EXPECT_EQ(value, 5);
  value = 100;
  ASSERT_EQ(hip_("hipMemcpyToSymbol", &offset_, &value, size_t{4}, size_t{0},
                 kToDevice),
            0);
  int* out = Malloc<int>(64);
  ASSERT_EQ(Bump(out, 1), 0);
  ASSERT_EQ(SyncAll(), 0);
  EXPECT_EQ(out[1], 101);
  size_t bytes = 0;
  EXPECT_EQ(hip_("hipGetSymbolSize", &bytes, &offset_), 0);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(hip_("hipMemcpyToSymbol", &offset_, &value, size_t{4}, size_t{1},
                 kToDevice),
            kInvalidValue)
      << "past its end";
  EXPECT_EQ(hip_("hipMemcpyToSymbol", &value, &value, size_t{4}, size_t{0},
                 kToDevice),
            kInvalidSymbol);
}

TEST_F(HipFatBinary, CompressedBundles) {
  Register(Bytes("hip_host_zstd.hipfb"));
  ExpectRuns();
}

// Version 2 with zlib, as older compilers wrote it.
std::string Deflated(const std::string& plain) {
  uLongf bytes = compressBound(plain.size());
  std::string body(bytes, 0);
  EXPECT_EQ(
      compress(reinterpret_cast<Bytef*>(body.data()), &bytes,
               reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
      Z_OK);
  body.resize(bytes);
  std::string header = "CCOB";
  const auto put = [&header](auto value) {
    header.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  put(uint16_t{2});
  put(uint16_t{0});
  put(static_cast<uint32_t>(24 + bytes));
  put(static_cast<uint32_t>(plain.size()));
  put(uint64_t{0});
  return header + body;
}

TEST_F(HipFatBinary, BundlesOfZlib) {
  Register(Deflated(Bytes("hip_host.hipfb")));
  ExpectRuns();
}

TEST_F(HipFatBinary, BundlesWithoutAGfx950AreRefused) {
  std::string bundle = Bytes("hip_host.hipfb");
  const size_t at = bundle.find("gfx950");
  ASSERT_NE(at, std::string::npos);
  bundle.replace(at, 6, "gfx90a");
  Register(bundle);
  int* out = Malloc<int>(64);
  EXPECT_EQ(Bump(out, 1), kNoBinaryForGpu);
  EXPECT_EQ(SyncAll(), 0);
}

TEST_F(HipFatBinary, ModulesComeInBundlesToo) {
  void *module = nullptr, *function = nullptr;
  ASSERT_EQ(
      hip_("hipModuleLoad", &module, "tests/data/emulator/hip_host_zstd.hipfb"),
      0);
  EXPECT_EQ(hip_("hipModuleGetFunction", &function, module, "_Z4bumpPii"), 0);
  const std::string plain = Bytes("hip_host.hipfb");
  EXPECT_EQ(hip_("hipModuleLoadData", &module, plain.data()), 0);
}

// Files whose length is known: every cut and a damaged byte here and there.
TEST_F(HipFatBinary, DamagedBundlesAreRefused) {
  const std::string path = testing::TempDir() + "/damaged.hipfb";
  const auto load = [&](const std::string& bytes) {
    void* module = nullptr;
    std::ofstream(path, std::ios::binary) << bytes;
    return hip_("hipModuleLoad", &module, path.c_str());
  };
  for (const char* file : {"hip_host.hipfb", "hip_host_zstd.hipfb"}) {
    const std::string whole = Bytes(file);
    for (size_t bytes = 0; bytes < 220; bytes += 3)
      EXPECT_NE(load(whole.substr(0, bytes)), 0) << bytes;
    EXPECT_NE(load(whole.substr(0, whole.size() - 600)), 0);
    for (size_t at = 4; at < 200; ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(0xff);
      load(damaged);  // any code, no crash
    }
  }
}

TEST_F(HipFatBinary, ConfigurationsAreAStack) {
  Dim3 grid, block;
  size_t lds = 0;
  void* stream = nullptr;
  EXPECT_EQ(hip_("__hipPopCallConfiguration", &grid, &block, &lds, &stream),
            kMissingConfiguration);
  ASSERT_EQ(hip_("__hipPushCallConfiguration", Dim3{1, 2, 3}, Dim3{4, 5, 6},
                 size_t{7}, &lds),
            0);
  ASSERT_EQ(hip_("__hipPopCallConfiguration", &grid, &block, &lds, &stream), 0);
  EXPECT_EQ(grid.y, 2u);
  EXPECT_EQ(block.z, 6u);
  EXPECT_EQ(lds, 7u);
  EXPECT_EQ(stream, &lds);
  Wrapper wrong = {kMagic + 1, 1, &grid, nullptr};
  EXPECT_EQ(hip_.operator()<void*>("__hipRegisterFatBinary", &wrong), nullptr);
}

}  // namespace
}  // namespace ingot::emulator
