// Devices: properties, attributes, contexts, peers, errors. Two are emulated.
#include <cstring>
#include <thread>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

class HipDevice : public HipTest {
 protected:
  // Before the library counts its devices.
  static void SetUpTestSuite() { setenv("INGOT_EMULATOR_DEVICES", "2", 1); }
  void SetUp() override {
    HipTest::SetUp();
    ASSERT_EQ(hip_("hipSetDevice", 0), 0);
  }
};

// Offsets as hipDeviceProp_tR0600 and R0000 have them.
TEST_F(HipDevice, PropertiesAreThoseOfAGfx950) {
  std::vector<char> p(16384, 'x');
  ASSERT_EQ(hip_("hipGetDevicePropertiesR0600", p.data(), 1), 0);
  EXPECT_STREQ(&p[1160], "gfx950:sramecc+:xnack-");
  EXPECT_EQ(p[1471], 0);
  EXPECT_EQ(p[1472], 'x') << "not a byte more than the structure";
  const auto number = [&p](size_t at) {
    int value = 0;
    std::memcpy(&value, &p[at], 4);
    return value;
  };
  size_t memory = 0;
  std::memcpy(&memory, &p[288], 8);
  EXPECT_EQ(memory, size_t{288} << 30);
  EXPECT_EQ(number(308), 64);   // warpSize
  EXPECT_EQ(number(360), 9);    // major
  EXPECT_EQ(number(364), 5);    // minor
  EXPECT_EQ(number(388), 256);  // multiProcessorCount
  std::vector<char> old(1024, 'x');
  ASSERT_EQ(hip_("hipGetDevicePropertiesR0000", old.data(), 0), 0);
  EXPECT_STREQ(&old[396], "gfx950:sramecc+:xnack-");
  EXPECT_EQ(old[792], 'x');
  EXPECT_EQ(hip_("hipGetDevicePropertiesR0600", p.data(), 2), kInvalidDevice);
  EXPECT_EQ(hip_("hipGetDevicePropertiesR0600", nullptr, 0), kInvalidValue);
}

TEST_F(HipDevice, Attributes) {
  const struct {
    int attribute, value;
  } kKnown[] = {{63, 256},    {87, 64},        {56, 1024}, {74, 163840},
                {71, 131072}, {5, 2400000},    {23, 9},    {61, 5},
                {57, 2048},   {10002, 163840}, {10, 1},    {88, 1},
                {30, 65536},  {10017, 100000}};
  int value = -1;
  for (const auto& k : kKnown) {
    EXPECT_EQ(hip_("hipDeviceGetAttribute", &value, k.attribute, 0), 0);
    EXPECT_EQ(value, k.value) << k.attribute;
  }
  EXPECT_EQ(hip_("hipDeviceGetAttribute", &value, 12345, 0), kInvalidValue);
  EXPECT_EQ(hip_("hipDeviceGetAttribute", &value, 63, 2), kInvalidDevice);
  EXPECT_EQ(hip_("hipDeviceGetAttribute", nullptr, 63, 0), kInvalidValue);
}

TEST_F(HipDevice, NamesAndVersions) {
  char name[64] = "", bus[16] = "", uuid[2][16];
  int version = 0, device = -1;
  EXPECT_EQ(hip_("hipDeviceGetName", name, 64, 0), 0);
  EXPECT_NE(std::strstr(name, "MI355X"), nullptr);
  EXPECT_EQ(hip_("hipDeviceGetName", name, 5, 0), 0);
  EXPECT_EQ(std::strlen(name), 4u);
  EXPECT_EQ(hip_("hipDeviceGetPCIBusId", bus, 16, 1), 0);
  EXPECT_EQ(hip_("hipDeviceGetByPCIBusId", &device, bus), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(hip_("hipDeviceGetByPCIBusId", &device, "0000:77:00.0"),
            kInvalidValue);
  EXPECT_EQ(hip_("hipDeviceGetPCIBusId", bus, 12, 1), kInvalidValue);
  EXPECT_EQ(hip_("hipDeviceGetUuid", &uuid[0][0], 0), 0);
  EXPECT_EQ(hip_("hipDeviceGetUuid", &uuid[1][0], 1), 0);
  EXPECT_NE(std::memcmp(uuid[0], uuid[1], 16), 0);
  EXPECT_EQ(hip_("hipRuntimeGetVersion", &version), 0);
  EXPECT_EQ(version / 10000000, 7);
  size_t limit = 0;
  EXPECT_EQ(hip_("hipDeviceGetLimit", &limit, 2), 0);
  EXPECT_GT(limit, 0u);
  EXPECT_EQ(hip_("hipDeviceGetLimit", &limit, 3), kInvalidValue);
  void* function = nullptr;
  int status = -1;
  EXPECT_EQ(hip_("hipGetProcAddress", "hipMalloc", &function, 70000000,
                 uint64_t{0}, &status),
            0);
  EXPECT_EQ(function, dlsym(hip_.handle(), "hipMalloc"));
  EXPECT_EQ(hip_("hipGetProcAddress", "hipNothing", &function, 70000000,
                 uint64_t{0}, &status),
            kInvalidValue);
  EXPECT_EQ(status, 1);
}

TEST_F(HipDevice, TheCurrentDeviceIsTheThreads) {
  int count = 0, device = -1;
  ASSERT_EQ(hip_("hipGetDeviceCount", &count), 0);
  EXPECT_EQ(count, 2);
  ASSERT_EQ(hip_("hipSetDevice", 1), 0);
  std::thread([&] {
    EXPECT_EQ(hip_("hipGetDevice", &device), 0);
    EXPECT_EQ(device, 0);
  }).join();
  EXPECT_EQ(hip_("hipGetDevice", &device), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(hip_("hipSetDevice", 2), kInvalidDevice);
  EXPECT_EQ(hip_("hipSetDevice", -1), kInvalidDevice);
}

TEST_F(HipDevice, PrimaryContextsStandForDevices) {
  void *one = nullptr, *current = nullptr;
  unsigned flags = 9;
  int active = -1, device = -1;
  EXPECT_EQ(hip_("hipDevicePrimaryCtxGetState", 1, &flags, &active), 0);
  EXPECT_EQ(active, 0);
  ASSERT_EQ(hip_("hipDevicePrimaryCtxRetain", &one, 1), 0);
  EXPECT_EQ(hip_("hipDevicePrimaryCtxGetState", 1, &flags, &active), 0);
  EXPECT_EQ(active, 1);
  ASSERT_EQ(hip_("hipCtxPushCurrent", one), 0);
  EXPECT_EQ(hip_("hipCtxGetDevice", &device), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(hip_("hipCtxPopCurrent", &current), 0);
  EXPECT_EQ(current, one);
  EXPECT_EQ(hip_("hipCtxGetDevice", &device), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hip_("hipCtxPopCurrent", &current), kInvalidContext);
  EXPECT_EQ(hip_("hipCtxSetCurrent", &device), kInvalidContext);
  EXPECT_EQ(hip_("hipDevicePrimaryCtxRelease", 1), 0);
}

TEST_F(HipDevice, PeersMustBeEnabled) {
  int can = -1;
  EXPECT_EQ(hip_("hipDeviceCanAccessPeer", &can, 0, 1), 0);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(hip_("hipDeviceCanAccessPeer", &can, 0, 0), 0);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(hip_("hipDeviceCanAccessPeer", &can, 0, 2), kInvalidDevice);
  ASSERT_EQ(hip_("hipSetDevice", 1), 0);
  float* theirs = Floats(64, 3);
  ASSERT_EQ(hip_("hipSetDevice", 0), 0);
  float* ours = Floats(64, 0);
  ASSERT_EQ(Add(theirs, theirs, ours, 64, nullptr), 0);
  EXPECT_EQ(SyncAll(), kIllegalAddress);
  Forget();
  // The runtime itself copies without.
  ASSERT_EQ(hip_("hipMemcpyPeer", ours, 0, theirs, 1, size_t{256}), 0);
  EXPECT_EQ(ours[63], 3.0f);
  EXPECT_EQ(hip_("hipMemcpyPeer", ours, 0, theirs, 2, size_t{256}),
            kInvalidDevice);
  EXPECT_EQ(hip_("hipDeviceDisablePeerAccess", 1), kPeerNotEnabled);
  EXPECT_EQ(hip_("hipDeviceEnablePeerAccess", 1, 1u), kInvalidValue);
  ASSERT_EQ(hip_("hipDeviceEnablePeerAccess", 1, 0u), 0);
  EXPECT_EQ(hip_("hipDeviceEnablePeerAccess", 1, 0u), kPeerAlreadyEnabled);
  EXPECT_EQ(hip_("hipDeviceEnablePeerAccess", 0, 0u), kInvalidDevice);
  ASSERT_EQ(Add(theirs, theirs, ours, 64, nullptr), 0);
  ASSERT_EQ(SyncAll(), 0);
  EXPECT_EQ(ours[63], 6.0f);
  // It is one way.
  ASSERT_EQ(hip_("hipSetDevice", 1), 0);
  vadd_ = nullptr;
  ASSERT_EQ(Add(ours, ours, theirs, 64, nullptr), 0);
  EXPECT_EQ(SyncAll(), kIllegalAddress);
  Forget();
  ASSERT_EQ(hip_("hipSetDevice", 0), 0);
  vadd_ = nullptr;
  ASSERT_EQ(hip_("hipDeviceDisablePeerAccess", 1), 0);
  ASSERT_EQ(Add(theirs, theirs, ours, 64, nullptr), 0);
  EXPECT_EQ(SyncAll(), kIllegalAddress);
}

TEST_F(HipDevice, AFaultStaysWithItsDevice) {
  float* x = Floats(64, 1);
  ASSERT_EQ(LaunchTwo(Kernel("faults.hsaco", "store_past_end"), x, x), 0);
  EXPECT_EQ(SyncAll(), kIllegalAddress);
  ASSERT_EQ(hip_("hipSetDevice", 1), 0);
  EXPECT_EQ(SyncAll(), 0);
  float *a = Floats(64, 1), *c = Floats(64, 0);
  ASSERT_EQ(Add(a, a, c, 64, nullptr), 0);
  EXPECT_EQ(SyncAll(), 0);
  EXPECT_EQ(c[0], 2.0f);
  // Its code is not the other device's.
  ASSERT_EQ(hip_("hipSetDevice", 0), 0);
  Forget();
  EXPECT_EQ(Add(a, a, c, 64, nullptr), kInvalidHandle);
}

TEST_F(HipDevice, ResetTakesEverythingOfADevice) {
  ASSERT_EQ(hip_("hipSetDevice", 1), 0);
  void *stream = Stream(), *event = Event(), *module = Load("launch.hsaco");
  float* x = Floats(64, 1);
  ASSERT_EQ(LaunchTwo(Kernel("faults.hsaco", "store_past_end"), x, x, stream),
            0);
  EXPECT_EQ(Sync(stream), kIllegalAddress);
  ASSERT_EQ(hip_("hipDeviceReset"), 0);
  EXPECT_EQ(SyncAll(), 0);
  EXPECT_EQ(Sync(stream), kContextIsDestroyed);
  EXPECT_EQ(hip_("hipEventQuery", event), kInvalidHandle);
  EXPECT_EQ(hip_("hipModuleUnload", module), kInvalidHandle);
  EXPECT_EQ(hip_("hipFree", x), kInvalidValue);
}

TEST_F(HipDevice, ErrorsHaveNamesAndAreRemembered) {
  const auto name = [&](int error) {
    return std::string(hip_.operator()<const char*>("hipGetErrorName", error));
  };
  EXPECT_EQ(name(700), "hipErrorIllegalAddress");
  EXPECT_EQ(name(906), "hipErrorStreamCaptureImplicit");
  EXPECT_EQ(name(12345), "hipErrorUnknown");
  EXPECT_STREQ(hip_.operator()<const char*>("hipGetErrorString", 209),
               "no kernel image is available for execution on the device");
  EXPECT_EQ(hip_("hipSetDevice", 9), kInvalidDevice);
  EXPECT_EQ(hip_("hipSetDevice", 0), 0);
  EXPECT_EQ(hip_("hipPeekAtLastError"), kInvalidDevice);
  EXPECT_EQ(hip_("hipExtGetLastError"), 0) << "that of the latest call";
  EXPECT_EQ(hip_("hipGetLastError"), kInvalidDevice);
  EXPECT_EQ(hip_("hipGetLastError"), 0);
}

}  // namespace
}  // namespace ingot::emulator
