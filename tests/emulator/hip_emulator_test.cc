// The HIP module API as a client uses it: opened with dlopen, plain prototypes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

// Finds a function of the emulator's library by name; a failed look-up fails
// the test and then crashes it, which is clear enough.
class Hip {
 public:
  Hip()
      : handle_(
            dlopen(std::getenv("INGOT_HIP_LIBRARY"), RTLD_NOW | RTLD_LOCAL)) {}
  bool ok() const { return handle_ != nullptr; }
  template <class... Args>
  int operator()(const char* name, Args... args) const {
    void* symbol = dlsym(handle_, name);
    if (symbol == nullptr) {
      ADD_FAILURE() << "no " << name;
      return -1;
    }
    return reinterpret_cast<int (*)(Args...)>(symbol)(args...);
  }
  const char* Text(const char* name) const {
    return reinterpret_cast<const char* (*)()>(dlsym(handle_, name))();
  }
  void Call(const char* name) const {
    reinterpret_cast<void (*)()>(dlsym(handle_, name))();
  }
  void* handle() const { return handle_; }

 private:
  void* handle_;
};

std::string Bytes(const std::string& file) {
  std::ifstream in("tests/data/emulator/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

constexpr int kInvalidImage = 200, kNoBinary = 209, kIllegalAddress = 700,
              kLaunchFailure = 719;

class HipFront : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(hip_.ok()) << dlerror();
    ASSERT_EQ(hip_("hipInit", 0u), 0);
    hip_.Call("ingot_emulator_reset");
  }
  void* LoadKernel(const std::string& file, const char* kernel) {
    const std::string object = Bytes(file);
    void *module = nullptr, *function = nullptr;
    EXPECT_EQ(hip_("hipModuleLoadData", &module,
                   static_cast<const void*>(object.data())),
              0);
    EXPECT_EQ(hip_("hipModuleGetFunction", &function, module, kernel), 0);
    return function;
  }
  uint32_t* Malloc(size_t bytes) {
    void* p = nullptr;
    EXPECT_EQ(hip_("hipMalloc", &p, bytes), 0);
    return static_cast<uint32_t*>(p);
  }
  int Launch(void* function, unsigned gx, unsigned gy, unsigned bx, unsigned by,
             unsigned bz, unsigned lds, void** params, void** extra) {
    return hip_("hipModuleLaunchKernel", function, gx, gy, 1u, bx, by, bz, lds,
                static_cast<void*>(nullptr), params, extra);
  }

  Hip hip_;
};

TEST_F(HipFront, DeviceIsAGfx950) {
  int count = 0, value = 0;
  EXPECT_EQ(hip_("hipGetDeviceCount", &count), 0);
  EXPECT_EQ(count, 1);
  std::vector<char> properties(16384, 'x');
  EXPECT_EQ(hip_("hipGetDevicePropertiesR0600",
                 static_cast<void*>(properties.data()), 0),
            0);
  EXPECT_STREQ(properties.data() + 1160, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(properties[1472], 'x');
  const struct {
    int attribute, value;
  } kKnown[] = {{63, 256}, {87, 64}, {56, 1024}, {74, 163840}};
  for (const auto& k : kKnown) {
    EXPECT_EQ(hip_("hipDeviceGetAttribute", &value, k.attribute, 0), 0);
    EXPECT_EQ(value, k.value) << k.attribute;
  }
  EXPECT_NE(hip_("hipSetDevice", 7), 0);
}

// Every field that a kernel can read at entry, with both argument forms.
TEST_F(HipFront, KernelSeesItsPlaceAndItsArguments) {
  void* function = LoadKernel("launch.hsaco", "where");
  uint32_t* out = Malloc(6 * 12 * 24);
  const uint32_t factor = 77;
  void* params[] = {&out, const_cast<uint32_t*>(&factor)};
  struct {
    uint32_t* out;
    uint32_t factor;
  } packed = {out, factor};
  size_t size = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &packed,
                   reinterpret_cast<void*>(2), &size,
                   reinterpret_cast<void*>(3)};
  for (const bool use_extra : {false, true}) {
    ASSERT_EQ(
        hip_("hipMemset", static_cast<void*>(out), 0, size_t{6 * 12 * 24}), 0);
    ASSERT_EQ(Launch(function, 3, 2, 3, 2, 2, 512, use_extra ? nullptr : params,
                     use_extra ? extra : nullptr),
              0);
    ASSERT_EQ(hip_("hipDeviceSynchronize"), 0);
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
  EXPECT_EQ(Launch(function, 1, 1, 12, 1, 1, 0, params, nullptr), 1)
      << "another workgroup size";
}

TEST_F(HipFront, PreloadedArgumentsEnterBehindTheProlog) {
  void* function = LoadKernel("launch.hsaco", "preloaded");
  uint32_t* out = Malloc(4);
  const uint32_t value = 1234;
  void* params[] = {&out, const_cast<uint32_t*>(&value)};
  ASSERT_EQ(Launch(function, 1, 1, 64, 1, 1, 0, params, nullptr), 0);
  EXPECT_EQ(*out, value);
}

TEST_F(HipFront, GlobalsOfAModule) {
  const std::string object = Bytes("launch.hsaco");
  void *module = nullptr, *address = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(hip_("hipModuleLoadData", &module,
                 static_cast<const void*>(object.data())),
            0);
  ASSERT_EQ(hip_("hipModuleGetGlobal", &address, &bytes, module, "counter"), 0);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(*static_cast<uint64_t*>(address), 41u);
  EXPECT_EQ(hip_("hipModuleUnload", module), 0);
  EXPECT_NE(hip_("hipModuleUnload", module), 0);
}

TEST_F(HipFront, ObjectsThatDoNotFitAreRefused) {
  std::string object = Bytes("launch.hsaco");
  void* module = nullptr;
  const auto load = [&](uint32_t flags) {
    std::memcpy(&object[48], &flags, 4);
    return hip_("hipModuleLoadData", &module,
                static_cast<const void*>(object.data()));
  };
  EXPECT_EQ(load(0x54f), 0);          // any, any
  EXPECT_EQ(load(0xe4f), 0);          // sramecc+, xnack-
  EXPECT_EQ(load(0x74f), kNoBinary);  // xnack+
  EXPECT_EQ(load(0xa4f), kNoBinary);  // sramecc-
  EXPECT_EQ(load(0x54c), kNoBinary);  // gfx942
  const char garbage[128] = "not an object";
  EXPECT_EQ(
      hip_("hipModuleLoadData", &module, static_cast<const void*>(garbage)),
      kInvalidImage);
}

TEST_F(HipFront, FaultsStickAndAreReported) {
  void* function = LoadKernel("faults.hsaco", "store_past_end");
  uint32_t* out = Malloc(256);
  uint32_t* args[2] = {out, out};
  size_t size = sizeof(args);
  void* extra[] = {reinterpret_cast<void*>(1), args, reinterpret_cast<void*>(2),
                   &size, reinterpret_cast<void*>(3)};
  EXPECT_EQ(Launch(function, 1, 1, 64, 1, 1, 0, nullptr, extra),
            kIllegalAddress);
  EXPECT_EQ(hip_("hipDeviceSynchronize"), kIllegalAddress);
  EXPECT_EQ(hip_("hipStreamSynchronize", static_cast<void*>(nullptr)),
            kIllegalAddress);
  EXPECT_NE(std::strstr(hip_.Text("ingot_emulator_last_report"), "lane 63"),
            nullptr);
  hip_.Call("ingot_emulator_reset");
  EXPECT_EQ(hip_("hipDeviceSynchronize"), 0);
  EXPECT_STREQ(hip_.Text("ingot_emulator_last_report"), "");
  void* missing = LoadKernel("faults.hsaco", "wait_vmem");
  EXPECT_EQ(Launch(missing, 1, 1, 64, 1, 1, 0, nullptr, extra), kLaunchFailure);
  hip_.Call("ingot_emulator_reset");
}

TEST_F(HipFront, MemoryStreamsAndEvents) {
  void *stream = nullptr, *start = nullptr, *stop = nullptr, *pinned = nullptr;
  ASSERT_EQ(hip_("hipStreamCreateWithFlags", &stream, 1u), 0);
  ASSERT_EQ(hip_("hipEventCreate", &start), 0);
  ASSERT_EQ(hip_("hipEventCreate", &stop), 0);
  ASSERT_EQ(hip_("hipHostMalloc", &pinned, size_t{4096}, 0u), 0);
  uint32_t* device = Malloc(4096);
  EXPECT_EQ(device[0], 0xa5a5a5a5u) << "fresh memory holds a pattern";
  ASSERT_EQ(hip_("hipEventRecord", start, stream), 0);
  ASSERT_EQ(hip_("hipMemsetD32Async", static_cast<void*>(device), 0x12345678,
                 size_t{1024}, stream),
            0);
  ASSERT_EQ(hip_("hipMemcpyAsync", pinned, static_cast<const void*>(device),
                 size_t{4096}, 2, stream),
            0);
  ASSERT_EQ(hip_("hipEventRecord", stop, stream), 0);
  ASSERT_EQ(hip_("hipStreamSynchronize", stream), 0);
  float milliseconds = -1;
  ASSERT_EQ(hip_("hipEventElapsedTime", &milliseconds, start, stop), 0);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(static_cast<uint32_t*>(pinned)[1023], 0x12345678u);
  // A copy that leaves its allocation is refused, not performed.
  EXPECT_NE(hip_("hipMemcpyDtoH", pinned, static_cast<void*>(device + 1),
                 size_t{4096}),
            0);
  EXPECT_EQ(hip_("hipStreamDestroy", stream), 0);
  EXPECT_NE(hip_("hipStreamSynchronize", stream), 0) << "a destroyed stream";
  EXPECT_EQ(hip_("hipFree", static_cast<void*>(device)), 0);
  EXPECT_NE(hip_("hipFree", static_cast<void*>(device)), 0) << "freed twice";
  int mode = 2;
  EXPECT_EQ(hip_("hipThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(mode, 0);
  EXPECT_EQ(hip_("hipThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(mode, 2);
}

// A CPU tensor's memory can be launched on once it is registered.
TEST_F(HipFront, RegisteredMemoryIsVisible) {
  void* function = LoadKernel("faults.hsaco", "clean");
  std::vector<uint32_t> in(64, 5), out(64, 0);
  uint32_t* args[2] = {in.data(), out.data()};
  size_t size = sizeof(args);
  void* extra[] = {reinterpret_cast<void*>(1), args, reinterpret_cast<void*>(2),
                   &size, reinterpret_cast<void*>(3)};
  EXPECT_EQ(Launch(function, 1, 1, 64, 1, 1, 0, nullptr, extra),
            kIllegalAddress);
  hip_.Call("ingot_emulator_reset");
  ASSERT_EQ(
      hip_("hipHostRegister", static_cast<void*>(in.data()), size_t{256}, 0u),
      0);
  ASSERT_EQ(
      hip_("hipHostRegister", static_cast<void*>(out.data()), size_t{256}, 0u),
      0);
  EXPECT_EQ(Launch(function, 1, 1, 64, 1, 1, 0, nullptr, extra), 0);
  EXPECT_EQ(out, in);
  EXPECT_EQ(hip_("hipHostUnregister", static_cast<void*>(in.data())), 0);
  EXPECT_EQ(hip_("hipHostUnregister", static_cast<void*>(out.data())), 0);
}

}  // namespace
