// Streams and events: what runs when, who waits for whom, and how faults show.
#include <atomic>
#include <thread>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

class HipStream : public HipTest {
 protected:
  // Stops `stream` until the gate is opened.
  void Block(void* stream, Gate* gate) {
    ASSERT_EQ(hip_("hipLaunchHostFunc", stream, &Gate::Pass, gate->data()), 0);
  }
  int Query(void* stream) { return hip_("hipStreamQuery", stream); }

  void* const legacy_ = nullptr;
  void* const per_thread_ = reinterpret_cast<void*>(2);
};

TEST_F(HipStream, WorkIsDoneInOrderBehindTheCaller) {
  void* stream = Stream();
  EXPECT_EQ(Query(stream), 0);
  Gate gate;
  Block(stream, &gate);
  float *a = Floats(64, 1), *b = Floats(64, 0);
  ASSERT_EQ(Add(a, a, b, 64, stream), 0);
  ASSERT_EQ(Add(b, b, b, 64, stream), 0);
  EXPECT_EQ(Query(stream), kNotReady);
  EXPECT_EQ(hip_("hipGetLastError"), 0) << "not ready is no error";
  EXPECT_EQ(b[0], 0.0f);
  gate.Open();
  ASSERT_EQ(Sync(stream), 0);
  EXPECT_EQ(Query(stream), 0);
  EXPECT_EQ(b[0], 4.0f);
}

TEST_F(HipStream, LegacyStreamAndBlockingStreamsWaitForEachOther) {
  void *blocking = Stream(), *free_running = Stream(1);
  float *one = Floats(64, 1), *x = Floats(64, 0), *y = Floats(64, 0),
        *z = Floats(64, 0);
  Gate first;
  Block(blocking, &first);
  ASSERT_EQ(Add(one, one, x, 64, legacy_), 0);      // waits for `blocking`
  ASSERT_EQ(Add(one, one, y, 64, per_thread_), 0);  // waits for the legacy one
  ASSERT_EQ(Add(one, one, z, 64, free_running), 0);
  ASSERT_EQ(Sync(free_running), 0);
  EXPECT_EQ(z[0], 2.0f);
  EXPECT_EQ(x[0], 0.0f);
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(Query(legacy_), kNotReady);
  EXPECT_EQ(Query(per_thread_), kNotReady);
  first.Open();
  ASSERT_EQ(Sync(per_thread_), 0);
  EXPECT_EQ(x[0], 2.0f);
  EXPECT_EQ(y[0], 2.0f);
}

TEST_F(HipStream, BlockingStreamsDoNotWaitForEachOther) {
  void *a = Stream(), *b = Stream();
  Gate gate;
  Block(a, &gate);
  float *one = Floats(64, 1), *x = Floats(64, 0);
  ASSERT_EQ(Add(one, one, x, 64, b), 0);
  ASSERT_EQ(Sync(b), 0);
  EXPECT_EQ(x[0], 2.0f);
  gate.Open();
}

TEST_F(HipStream, EachThreadHasAStreamOfItsOwn) {
  Gate gate;
  Block(per_thread_, &gate);
  std::thread([&] {
    float *one = Floats(64, 1), *x = Floats(64, 0);
    EXPECT_EQ(Add(one, one, x, 64, per_thread_), 0);
    EXPECT_EQ(Sync(per_thread_), 0);
    EXPECT_EQ(x[0], 2.0f);
  }).join();
  EXPECT_EQ(Query(per_thread_), kNotReady);
  gate.Open();
  EXPECT_EQ(Sync(per_thread_), 0);
}

TEST_F(HipStream, EventsOrderStreams) {
  void *a = Stream(1), *b = Stream(1), *event = Event();
  float *one = Floats(64, 1), *x = Floats(64, 0), *y = Floats(64, 0);
  EXPECT_EQ(hip_("hipEventQuery", event), 0) << "never recorded";
  Gate gate;
  Block(a, &gate);
  ASSERT_EQ(Add(one, one, x, 64, a), 0);
  ASSERT_EQ(hip_("hipEventRecord", event, a), 0);
  ASSERT_EQ(hip_("hipStreamWaitEvent", b, event, 0u), 0);
  ASSERT_EQ(Add(x, x, y, 64, b), 0);
  EXPECT_EQ(hip_("hipEventQuery", event), kNotReady);
  EXPECT_EQ(Query(b), kNotReady);
  gate.Open();
  ASSERT_EQ(Sync(b), 0);
  EXPECT_EQ(hip_("hipEventQuery", event), 0);
  EXPECT_EQ(y[0], 4.0f);
  // A wait is for the record there was, not for later ones.
  Gate again;
  Block(a, &again);
  ASSERT_EQ(hip_("hipStreamWaitEvent", b, event, 0u), 0);
  ASSERT_EQ(hip_("hipEventRecord", event, a), 0);
  EXPECT_EQ(Sync(b), 0);
  EXPECT_EQ(hip_("hipEventQuery", event), kNotReady);
  again.Open();
  EXPECT_EQ(hip_("hipEventSynchronize", event), 0);
}

TEST_F(HipStream, TimesOfEvents) {
  void *stream = Stream(), *start = Event(), *stop = Event(),
       *untimed = Event(2), *unused = Event();
  float milliseconds = -1;
  ASSERT_EQ(hip_("hipEventRecord", start, stream), 0);
  Gate gate;
  Block(stream, &gate);
  ASSERT_EQ(hip_("hipEventRecord", stop, stream), 0);
  ASSERT_EQ(hip_("hipEventRecord", untimed, stream), 0);
  EXPECT_EQ(hip_("hipEventElapsedTime", &milliseconds, start, stop), kNotReady);
  gate.Open();
  ASSERT_EQ(hip_("hipEventSynchronize", stop), 0);
  ASSERT_EQ(hip_("hipEventElapsedTime", &milliseconds, start, stop), 0);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(hip_("hipEventElapsedTime", &milliseconds, start, untimed),
            kInvalidHandle);
  EXPECT_EQ(hip_("hipEventElapsedTime", &milliseconds, start, unused),
            kInvalidHandle);
  EXPECT_EQ(hip_("hipEventElapsedTime", nullptr, start, stop), kInvalidValue);
  void* event = nullptr;
  EXPECT_EQ(hip_("hipEventCreateWithFlags", &event, 0x8u), kInvalidValue);
  EXPECT_EQ(hip_("hipEventCreateWithFlags", &event, 4u), kInvalidValue);
  EXPECT_EQ(hip_("hipEventDestroy", stop), 0);
  EXPECT_EQ(hip_("hipEventDestroy", stop), kInvalidHandle);
  EXPECT_EQ(hip_("hipEventRecord", stop, stream), kInvalidHandle);
}

struct Called {
  std::atomic<int> count = 0;
  std::atomic<int> status = -1;
  void* stream = nullptr;
};
void CountCallback(void* stream, int status, void* data) {
  auto* c = static_cast<Called*>(data);
  c->stream = stream;
  c->status = status;
  ++c->count;
}
void CountHost(void* data) { ++static_cast<Called*>(data)->count; }

TEST_F(HipStream, FaultsShowAtTheNextSynchronisationAndStick) {
  void* stream = Stream();
  void* bad = Kernel("faults.hsaco", "store_past_end");
  uint32_t* out = Malloc<uint32_t>(64);
  Called callback, host;
  Gate gate;
  Block(stream, &gate);
  EXPECT_EQ(LaunchTwo(bad, out, out, stream), 0) << "a launch only submits";
  EXPECT_EQ(hip_("hipStreamAddCallback", stream, &CountCallback, &callback, 0u),
            0);
  gate.Open();
  EXPECT_EQ(Sync(stream), kIllegalAddress);
  EXPECT_EQ(callback.count, 1);
  EXPECT_EQ(callback.status, kIllegalAddress);
  EXPECT_EQ(callback.stream, stream);
  EXPECT_EQ(SyncAll(), kIllegalAddress);
  EXPECT_EQ(LaunchTwo(bad, out, out, stream), kIllegalAddress);
  EXPECT_EQ(hip_("hipLaunchHostFunc", stream, &CountHost, &host),
            kIllegalAddress);
  void* p = nullptr;
  EXPECT_EQ(hip_("hipMalloc", &p, size_t{4}), kIllegalAddress);
  EXPECT_EQ(hip_("hipMemcpy", out, out, size_t{4}, kOnDevice), kIllegalAddress);
  EXPECT_NE(hip_.Report().find("lane 63"), std::string::npos);
  Forget();
  EXPECT_EQ(SyncAll(), 0);
  EXPECT_EQ(hip_.Report(), "");
  EXPECT_EQ(host.count, 0);
  EXPECT_EQ(LaunchTwo(Kernel("faults.hsaco", "aborts"), out, out), 0);
  EXPECT_EQ(SyncAll(), kLaunchFailure);
}

TEST_F(HipStream, WorkBehindAFaultIsNotDone) {
  void* stream = Stream();
  float *one = Floats(64, 1), *x = Floats(64, 0);
  Called host;
  Gate gate;
  Block(stream, &gate);
  ASSERT_EQ(LaunchTwo(Kernel("faults.hsaco", "store_past_end"), x, x, stream),
            0);
  ASSERT_EQ(Add(one, one, x, 64, stream), 0);
  ASSERT_EQ(hip_("hipLaunchHostFunc", stream, &CountHost, &host), 0);
  gate.Open();
  EXPECT_EQ(Sync(stream), kIllegalAddress);
  EXPECT_EQ(x[0], 0.0f);
  EXPECT_EQ(host.count, 0);
}

// Reads pageable memory before the call returns, as HIP's staging does.
TEST_F(HipStream, PageableMemoryMayBeReusedAtOnce) {
  void* stream = Stream();
  std::vector<int> host(64, 3);
  int* device = Malloc<int>(64);
  for (int n = 0; n < 50; ++n) {
    std::fill(host.begin(), host.end(), n);
    ASSERT_EQ(hip_("hipMemcpyAsync", device, host.data(), size_t{256},
                   kToDevice, stream),
              0);
    std::fill(host.begin(), host.end(), -1);
    ASSERT_EQ(hip_("hipMemcpyAsync", host.data(), device, size_t{256}, kToHost,
                   stream),
              0);
    ASSERT_EQ(host[63], n);
  }
}

struct FromQueue {
  Hip* hip;
  int sync = -1, free = -1;
  void* memory;
};
void CallBack(void* data) {
  auto* q = static_cast<FromQueue*>(data);
  q->sync = (*q->hip)("hipDeviceSynchronize");
  q->free = (*q->hip)("hipFree", q->memory);
}

TEST_F(HipStream, HostFunctionsMayNotWait) {
  void* stream = Stream();
  FromQueue q{&hip_, -1, -1, Malloc<int>(1)};
  ASSERT_EQ(hip_("hipLaunchHostFunc", stream, &CallBack, &q), 0);
  ASSERT_EQ(Sync(stream), 0);
  EXPECT_EQ(q.sync, kIllegalState);
  EXPECT_EQ(q.free, kIllegalState);
  EXPECT_EQ(hip_("hipFree", q.memory), 0);
  EXPECT_EQ(hip_("hipLaunchHostFunc", stream, nullptr, &q), kInvalidValue);
}

TEST_F(HipStream, StreamsDieAfterTheirWork) {
  void* stream = Stream();
  float *one = Floats(64, 1), *x = Floats(64, 0);
  Gate gate;
  Block(stream, &gate);
  ASSERT_EQ(Add(one, one, x, 64, stream), 0);
  ASSERT_EQ(hip_("hipStreamDestroy", stream), 0);
  EXPECT_EQ(hip_("hipStreamDestroy", stream), kContextIsDestroyed);
  EXPECT_EQ(Sync(stream), kContextIsDestroyed);
  EXPECT_EQ(hip_("hipStreamDestroy", nullptr), kInvalidHandle);
  gate.Open();
  ASSERT_EQ(SyncAll(), 0);
  EXPECT_EQ(x[0], 2.0f);
}

TEST_F(HipStream, FlagsAndPriorities) {
  int least = 9, greatest = 9, priority = 9, device = 9;
  unsigned flags = 9;
  void* stream = nullptr;
  ASSERT_EQ(hip_("hipDeviceGetStreamPriorityRange", &least, &greatest), 0);
  EXPECT_EQ(least, 1);
  EXPECT_EQ(greatest, -1);
  ASSERT_EQ(hip_("hipStreamCreateWithPriority", &stream, 1u, -7), 0);
  EXPECT_EQ(hip_("hipStreamGetPriority", stream, &priority), 0);
  EXPECT_EQ(priority, -1);
  EXPECT_EQ(hip_("hipStreamGetFlags", stream, &flags), 0);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(hip_("hipStreamGetDevice", stream, &device), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hip_("hipStreamCreateWithFlags", &stream, 2u), kInvalidValue);
}

TEST_F(HipStream, ValuesInMemoryOrderStreamsToo) {
  void *a = Stream(1), *b = Stream(1);
  uint32_t* flag = Malloc<uint32_t>(1);
  *flag = 0;
  float *one = Floats(64, 1), *x = Floats(64, 0);
  ASSERT_EQ(hip_("hipStreamWaitValue32", a, flag, 5u, 0u, ~0u), 0);
  ASSERT_EQ(Add(one, one, x, 64, a), 0);
  EXPECT_EQ(Query(a), kNotReady);
  ASSERT_EQ(hip_("hipStreamWriteValue32", b, flag, 7u, 0u), 0);
  ASSERT_EQ(Sync(a), 0);
  EXPECT_EQ(x[0], 2.0f);
}

// Many threads, each with streams of its own, on one device.
TEST_F(HipStream, ThreadsShareADevice) {
  ASSERT_EQ(Add(Floats(64, 0), Floats(64, 0), Floats(64, 0), 64, nullptr), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      void *stream = Stream(t % 2 == 0 ? 0u : 1u), *event = Event();
      float *one = Floats(64, 1), *x = Floats(64, 0);
      for (int n = 0; n < 10; ++n) {
        EXPECT_EQ(Add(one, x, x, 64, stream), 0);
        EXPECT_EQ(hip_("hipEventRecord", event, stream), 0);
      }
      EXPECT_EQ(hip_("hipEventSynchronize", event), 0);
      EXPECT_EQ(x[63], 10.0f);
      EXPECT_EQ(hip_("hipStreamDestroy", stream), 0);
      EXPECT_EQ(hip_("hipEventDestroy", event), 0);
      EXPECT_EQ(hip_("hipFree", one), 0);
      EXPECT_EQ(hip_("hipFree", x), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(SyncAll(), 0);
}

}  // namespace
}  // namespace ingot::emulator
