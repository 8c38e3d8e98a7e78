// Memory: kinds, copies, fills, pools, and what HIP knows of a pointer.
#include <algorithm>
#include <numeric>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int managed;
  unsigned flags;
};

class HipMemory : public HipTest {
 protected:
  PointerAttributes Ask(const void* pointer) {
    PointerAttributes a = {};
    EXPECT_EQ(hip_("hipPointerGetAttributes", &a, pointer), 0);
    return a;
  }
};

TEST_F(HipMemory, EachKindIsKnownByItsPointer) {
  void *device = nullptr, *managed = nullptr, *host = nullptr;
  ASSERT_EQ(hip_("hipMalloc", &device, size_t{1000}), 0);
  ASSERT_EQ(hip_("hipMallocManaged", &managed, size_t{64}, 1u), 0);
  ASSERT_EQ(hip_("hipHostMalloc", &host, size_t{64}, 2u), 0);
  EXPECT_EQ(*static_cast<uint32_t*>(device), 0xa5a5a5a5u)
      << "fresh memory holds a pattern";
  PointerAttributes a = Ask(static_cast<char*>(device) + 999);
  EXPECT_EQ(a.type, 2);
  EXPECT_EQ(a.device, 0);
  EXPECT_EQ(a.device_pointer, static_cast<char*>(device) + 999);
  EXPECT_EQ(a.host_pointer, nullptr);
  a = Ask(managed);
  EXPECT_EQ(a.type, 3);
  EXPECT_EQ(a.managed, 1);
  a = Ask(host);
  EXPECT_EQ(a.type, 1);
  EXPECT_EQ(a.flags, 2u);
  EXPECT_EQ(a.host_pointer, host);
  a = Ask(&a);
  EXPECT_EQ(a.type, 0);
  EXPECT_EQ(a.device, -2);
  unsigned flags = 0;
  EXPECT_EQ(hip_("hipHostGetFlags", &flags, host), 0);
  EXPECT_EQ(flags, 2u);
  EXPECT_EQ(hip_("hipHostGetFlags", &flags, device), kInvalidValue);
  void* start = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(hip_("hipMemGetAddressRange", &start, &bytes,
                 static_cast<void*>(static_cast<char*>(device) + 10)),
            0);
  EXPECT_EQ(start, device);
  EXPECT_EQ(bytes, 1000u);
  size_t size = 0;
  EXPECT_EQ(hip_("hipPointerGetAttribute", &size, 12, device), 0);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(hip_("hipPointerGetAttribute", &size, 99, device), kInvalidValue);
  EXPECT_EQ(hip_("hipFree", device), 0);
  EXPECT_EQ(hip_("hipFree", managed), 0);
  EXPECT_EQ(hip_("hipHostFree", host), 0);
  EXPECT_EQ(Ask(device).type, 0) << "freed";
}

TEST_F(HipMemory, WrongRequestsAreRefused) {
  void* p = nullptr;
  char host[8];
  EXPECT_EQ(hip_("hipMalloc", nullptr, size_t{4}), kInvalidValue);
  EXPECT_EQ(hip_("hipMalloc", &p, ~size_t{0}), kOutOfMemory);
  EXPECT_EQ(hip_("hipMalloc", &p, size_t{289} << 30), kOutOfMemory);
  EXPECT_EQ(hip_("hipMalloc", &p, size_t{0}), 0);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(hip_("hipMallocManaged", &p, size_t{4}, 7u), kInvalidValue);
  EXPECT_EQ(hip_("hipHostMalloc", &p, size_t{4}, 0x100u), kInvalidValue);
  EXPECT_EQ(hip_("hipFree", host), kInvalidValue);
  EXPECT_EQ(hip_("hipFree", nullptr), 0);
  float* device = Malloc<float>(4);
  EXPECT_EQ(hip_("hipFree", device + 1), kInvalidValue) << "inside";
  EXPECT_EQ(hip_("hipHostFree", device), kInvalidValue) << "not the host's";
  EXPECT_EQ(hip_("hipFree", device), 0);
  EXPECT_EQ(hip_("hipFree", device), kInvalidValue) << "freed twice";
  EXPECT_EQ(hip_("hipIpcGetMemHandle", host, device), kNotSupported);
}

TEST_F(HipMemory, FreeMemoryIsCounted) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(hip_("hipMemGetInfo", &before, &total), 0);
  EXPECT_EQ(total, size_t{288} << 30);
  void* p = nullptr;
  ASSERT_EQ(hip_("hipMalloc", &p, size_t{1} << 20), 0);
  ASSERT_EQ(hip_("hipMemGetInfo", &during, &total), 0);
  EXPECT_EQ(before - during, size_t{1} << 20);
  ASSERT_EQ(hip_("hipFree", p), 0);
  ASSERT_EQ(hip_("hipMemGetInfo", &after, &total), 0);
  EXPECT_EQ(after, before);
}

TEST_F(HipMemory, CopiesOfEveryDirection) {
  std::vector<int> in(256), out(256, 0);
  std::iota(in.begin(), in.end(), 7);
  int *a = Malloc<int>(256), *b = Malloc<int>(256);
  const size_t bytes = 1024;
  ASSERT_EQ(hip_("hipMemcpy", a, in.data(), bytes, kToDevice), 0);
  ASSERT_EQ(hip_("hipMemcpy", b, a, bytes, kOnDevice), 0);
  ASSERT_EQ(hip_("hipMemcpy", out.data(), b, bytes, kToHost), 0);
  EXPECT_EQ(out, in);
  std::fill(out.begin(), out.end(), 0);
  ASSERT_EQ(hip_("hipMemcpy", out.data(), in.data(), bytes, kAnyKind), 0);
  EXPECT_EQ(out, in);
  EXPECT_EQ(hip_("hipMemcpy", a, in.data(), bytes, 5), kInvalidMemcpyDirection);
  EXPECT_EQ(hip_("hipMemcpy", out.data(), in.data(), bytes, kOnDevice),
            kInvalidValue);
  EXPECT_EQ(hip_("hipMemcpy", a, nullptr, bytes, kToDevice), kInvalidValue);
  EXPECT_EQ(hip_("hipMemcpy", nullptr, a, bytes, kToHost), kInvalidValue);
  EXPECT_EQ(hip_("hipMemcpy", a + 1, in.data(), bytes, kToDevice),
            kInvalidValue)
      << "leaves the allocation";
  EXPECT_EQ(hip_("hipMemcpy", out.data(), b + 1, bytes, kToHost),
            kInvalidValue);
  EXPECT_EQ(hip_("hipMemcpyDtoH", out.data(), b + 1, bytes - 4), 0);
  EXPECT_EQ(out[0], 8);
}

// Rows of `width` bytes between pitches, by hand and by HIP.
TEST_F(HipMemory, PitchedCopiesAndFills) {
  void* device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(hip_("hipMallocPitch", &device, &pitch, size_t{100}, size_t{5}), 0);
  EXPECT_EQ(pitch % 256, 0u);
  EXPECT_GE(pitch, 100u);
  std::vector<unsigned char> host(5 * 120);
  std::iota(host.begin(), host.end(), 0);
  ASSERT_EQ(hip_("hipMemset2D", device, pitch, 0x11, pitch, size_t{5}), 0);
  ASSERT_EQ(hip_("hipMemcpy2D", device, pitch, host.data(), size_t{120},
                 size_t{100}, size_t{5}, kToDevice),
            0);
  auto* bytes = static_cast<unsigned char*>(device);
  for (size_t y = 0; y < 5; ++y) {
    for (size_t x = 0; x < pitch; ++x) {
      ASSERT_EQ(bytes[y * pitch + x], x < 100 ? host[y * 120 + x] : 0x11)
          << y << " " << x;
    }
  }
  ASSERT_EQ(hip_("hipMemset2D", device, pitch, 0x22, size_t{3}, size_t{5}), 0);
  for (size_t y = 0; y < 5; ++y) {
    EXPECT_EQ(bytes[y * pitch + 2], 0x22);
    EXPECT_EQ(bytes[y * pitch + 3], host[y * 120 + 3]);
  }
  EXPECT_EQ(hip_("hipMemcpy2D", device, size_t{99}, host.data(), size_t{120},
                 size_t{100}, size_t{5}, kToDevice),
            kInvalidPitchValue);
  EXPECT_EQ(hip_("hipMemcpy2D", device, pitch, host.data(), size_t{120},
                 size_t{100}, size_t{6}, kToDevice),
            kInvalidValue)
      << "a row too many";
  EXPECT_EQ(hip_("hipMemset2D", device, pitch, 0, pitch, size_t{6}),
            kInvalidValue);
  EXPECT_EQ(hip_("hipMemset2D", device, size_t{1} << 60, 0, size_t{1},
                 size_t{1} << 20),
            kInvalidValue);

  struct Side {
    size_t x, y;
    int type;
    const void* host;
    void *device, *array;
    size_t pitch;
  };
  struct {
    Side from, to;
    size_t width, height;
  } copy = {{1, 2, 2, nullptr, device, nullptr, pitch},
            {0, 0, 1, host.data(), nullptr, nullptr, 10},
            4,
            3};
  ASSERT_EQ(hip_("hipMemcpyParam2D", &copy), 0);
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 4; ++x)
      EXPECT_EQ(host[y * 10 + x], bytes[(y + 2) * pitch + x + 1]);
  }
  EXPECT_EQ(hip_("hipMemcpyParam2D", nullptr), kInvalidValue);
}

TEST_F(HipMemory, FillsOfEachWidth) {
  unsigned char* p = Malloc<unsigned char>(32);
  void* stream = Stream();
  ASSERT_EQ(hip_("hipMemsetAsync", p, 0x1ff, size_t{32}, stream), 0);
  ASSERT_EQ(hip_("hipMemsetD16Async", p, static_cast<unsigned short>(0xabcd),
                 size_t{2}, stream),
            0);
  ASSERT_EQ(hip_("hipMemsetD32Async", p + 8, 0x12345678, size_t{2}, stream), 0);
  ASSERT_EQ(hip_("hipMemsetD8Async", p + 20, static_cast<unsigned char>(9),
                 size_t{1}, stream),
            0);
  ASSERT_EQ(Sync(stream), 0);
  const std::vector<unsigned char> expected = {
      0xcd, 0xab, 0xcd, 0xab, 0xff, 0xff, 0xff, 0xff, 0x78, 0x56, 0x34,
      0x12, 0x78, 0x56, 0x34, 0x12, 0xff, 0xff, 0xff, 0xff, 9,    0xff};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), p));
  EXPECT_EQ(hip_("hipMemsetD32", p, 0, size_t{9}), kInvalidValue);
  unsigned char host[4];
  EXPECT_EQ(hip_("hipMemset", host, 0, size_t{4}), kInvalidValue)
      << "not the device's";
}

// A CPU tensor's memory can be launched on once it is registered.
TEST_F(HipMemory, RegisteredMemoryIsVisible) {
  void* function = Kernel("faults.hsaco", "clean");
  std::vector<uint32_t> in(64, 5), out(64, 0);
  EXPECT_EQ(LaunchTwo(function, in.data(), out.data()), 0);
  EXPECT_EQ(SyncAll(), kIllegalAddress);
  Forget();
  ASSERT_EQ(hip_("hipHostRegister", in.data(), size_t{256}, 0u), 0);
  ASSERT_EQ(hip_("hipHostRegister", out.data(), size_t{256}, 0u), 0);
  EXPECT_EQ(hip_("hipHostRegister", in.data() + 63, size_t{8}, 0u),
            kAlreadyRegistered);
  EXPECT_EQ(hip_("hipHostRegister", nullptr, size_t{8}, 0u), kInvalidValue);
  void* device = nullptr;
  ASSERT_EQ(hip_("hipHostGetDevicePointer", &device, in.data() + 1, 0u), 0);
  EXPECT_EQ(device, in.data() + 1);
  EXPECT_EQ(LaunchTwo(function, in.data(), out.data()), 0);
  EXPECT_EQ(SyncAll(), 0);
  EXPECT_EQ(out, in);
  EXPECT_EQ(hip_("hipHostUnregister", in.data()), 0);
  EXPECT_EQ(hip_("hipHostUnregister", in.data()), kNotRegistered);
  EXPECT_EQ(hip_("hipHostUnregister", out.data()), 0);
  EXPECT_EQ(hip_("hipHostGetDevicePointer", &device, in.data(), 0u),
            kInvalidValue);
}

TEST_F(HipMemory, StreamOrderedMemoryIsFreedInOrder) {
  void *stream = Stream(), *pool = nullptr;
  ASSERT_EQ(hip_("hipDeviceGetDefaultMemPool", &pool, 0), 0);
  const auto used = [&] {
    uint64_t bytes = 0;
    EXPECT_EQ(hip_("hipMemPoolGetAttribute", pool, 7, &bytes), 0);
    return bytes;
  };
  const uint64_t before = used();
  void* p = nullptr;
  ASSERT_EQ(hip_("hipMallocAsync", &p, size_t{4096}, stream), 0);
  EXPECT_EQ(used() - before, 4096u);
  void* own = nullptr;
  EXPECT_EQ(hip_("hipPointerGetAttribute", &own, 17, p), 0);
  EXPECT_EQ(own, pool);
  Gate gate;
  ASSERT_EQ(hip_("hipLaunchHostFunc", stream, &Gate::Pass, gate.data()), 0);
  ASSERT_EQ(hip_("hipMemsetAsync", p, 1, size_t{4096}, stream), 0);
  ASSERT_EQ(hip_("hipFreeAsync", p, stream), 0);
  EXPECT_EQ(hip_("hipFreeAsync", p, stream), kInvalidValue) << "freed twice";
  EXPECT_EQ(hip_("hipFree", p), kInvalidValue) << "freed twice";
  EXPECT_EQ(used() - before, 4096u) << "not its turn yet";
  gate.Open();
  ASSERT_EQ(Sync(stream), 0);
  EXPECT_EQ(used(), before);
  EXPECT_EQ(hip_("hipFreeAsync", nullptr, stream), 0);
}

TEST_F(HipMemory, PoolsOfTheHost) {
  struct {
    int type, handles, location, device;
    void* security;
    size_t max;
    char reserved[56];
  } properties = {1, 0, 1, 0, nullptr, 0, {}};
  void *pool = nullptr, *p = nullptr, *current = nullptr;
  ASSERT_EQ(hip_("hipMemPoolCreate", &pool, &properties), 0);
  uint64_t threshold = 1 << 20, read = 0;
  EXPECT_EQ(hip_("hipMemPoolSetAttribute", pool, 4, &threshold), 0);
  EXPECT_EQ(hip_("hipMemPoolGetAttribute", pool, 4, &read), 0);
  EXPECT_EQ(read, threshold);
  ASSERT_EQ(hip_("hipDeviceSetMemPool", 0, pool), 0);
  ASSERT_EQ(hip_("hipDeviceGetMemPool", &current, 0), 0);
  EXPECT_EQ(current, pool);
  void* stream = Stream();
  ASSERT_EQ(hip_("hipMallocFromPoolAsync", &p, size_t{64}, pool, stream), 0);
  EXPECT_EQ(hip_("hipMemPoolGetAttribute", pool, 7, &read), 0);
  EXPECT_EQ(read, 64u);
  ASSERT_EQ(hip_("hipFreeAsync", p, stream), 0);
  ASSERT_EQ(Sync(stream), 0);
  EXPECT_EQ(hip_("hipMemPoolDestroy", pool), 0);
  EXPECT_EQ(hip_("hipMemPoolDestroy", pool), kInvalidValue);
  EXPECT_EQ(hip_("hipMallocFromPoolAsync", &p, size_t{64}, pool, stream),
            kInvalidValue);
  ASSERT_EQ(hip_("hipDeviceGetMemPool", &current, 0), 0);
  EXPECT_NE(current, pool);
}

}  // namespace
}  // namespace ingot::emulator
