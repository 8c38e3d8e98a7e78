// Stream capture: modes, forks and joins, and what ends it badly.
#include <thread>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

constexpr int kGlobal = 0, kThreadLocal = 1, kRelaxed = 2;
constexpr int kNone = 0, kActive = 1, kInvalidated = 2;

class HipCapture : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    stream_ = Stream();
    one_ = Floats(64, 1);
    x_ = Floats(64, 0);
    // Loads the kernel before any capture.
    ASSERT_EQ(Add(one_, one_, x_, 64, stream_), 0);
    ASSERT_EQ(Sync(stream_), 0);
    x_[0] = 0;
  }
  int Begin(void* stream, int mode = kGlobal) {
    return hip_("hipStreamBeginCapture", stream, mode);
  }
  // The error of the end; the graph goes to graph_.
  int End(void* stream) { return hip_("hipStreamEndCapture", stream, &graph_); }
  int Status(void* stream) {
    int status = -1;
    EXPECT_EQ(hip_("hipStreamIsCapturing", stream, &status), 0);
    return status;
  }
  // x += 1 in `stream`.
  int Step(void* stream) { return Add(one_, x_, x_, 64, stream); }
  size_t NodesOf(void* graph) {
    size_t count = 0;
    void** const none = nullptr;
    EXPECT_EQ(hip_("hipGraphGetNodes", graph, none, &count), 0);
    return count;
  }
  // Runs the captured graph once.
  void Run() {
    void *exec = nullptr, *error = nullptr;
    char* const log = nullptr;
    ASSERT_EQ(
        hip_("hipGraphInstantiate", &exec, graph_, &error, log, size_t{0}), 0);
    ASSERT_EQ(hip_("hipGraphLaunch", exec, stream_), 0);
    ASSERT_EQ(Sync(stream_), 0);
    ASSERT_EQ(hip_("hipGraphExecDestroy", exec), 0);
  }
  // `call` within a capture of mode `mode` gives `error` and ends it badly.
  template <class Call>
  void ExpectInvalidates(Call call, int error, int mode = kGlobal) {
    ASSERT_EQ(Begin(stream_, mode), 0);
    EXPECT_EQ(call(), error);
    EXPECT_EQ(Status(stream_), kInvalidated);
    EXPECT_EQ(Step(stream_), kCaptureInvalidated);
    EXPECT_EQ(End(stream_), kCaptureInvalidated);
    EXPECT_EQ(graph_, nullptr);
    EXPECT_EQ(Status(stream_), kNone);
  }

  void *stream_ = nullptr, *graph_ = nullptr;
  float *one_ = nullptr, *x_ = nullptr;
};

TEST_F(HipCapture, RecordsWorkInsteadOfDoingIt) {
  EXPECT_EQ(Status(stream_), kNone);
  ASSERT_EQ(Begin(stream_), 0);
  EXPECT_EQ(Status(stream_), kActive);
  ASSERT_EQ(hip_("hipMemsetAsync", x_, 0, size_t{256}, stream_), 0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(Step(stream_), 0);
  int status = -1;
  unsigned long long id = 0;
  void* graph = nullptr;
  void** tail = nullptr;
  size_t count = 0;
  ASSERT_EQ(hip_("hipStreamGetCaptureInfo_v2", stream_, &status, &id, &graph,
                 &tail, &count),
            0);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  int type = -1;
  EXPECT_EQ(hip_("hipGraphNodeGetType", tail[0], &type), 0);
  EXPECT_EQ(type, 0) << "a kernel";
  x_[5] = 100;
  ASSERT_EQ(End(stream_), 0);
  EXPECT_EQ(graph_, graph);
  EXPECT_EQ(Status(stream_), kNone);
  EXPECT_EQ(x_[5], 100.0f);
  EXPECT_EQ(NodesOf(graph_), 3u);
  Run();
  EXPECT_EQ(x_[5], 2.0f);
  Run();
  EXPECT_EQ(x_[5], 2.0f);
  EXPECT_EQ(hip_("hipGraphDestroy", graph_), 0);
  EXPECT_EQ(hip_("hipGraphDestroy", graph_), kIllegalState);
}

TEST_F(HipCapture, ArgumentsAreThoseOfTheCapture) {
  float* y = Floats(64, 0);
  ASSERT_EQ(Begin(stream_), 0);
  {
    float *a = one_, *c = y;
    int count = 64;
    void* params[] = {&a, &a, &c, &count};
    ASSERT_EQ(Launch(vadd_, 1, 64, params, stream_), 0);
    a = c = nullptr;
  }
  ASSERT_EQ(End(stream_), 0);
  Run();
  EXPECT_EQ(y[63], 2.0f);
}

TEST_F(HipCapture, BeginsAndEndsByTheRules) {
  EXPECT_EQ(Begin(nullptr), kCaptureUnsupported) << "the legacy stream";
  EXPECT_EQ(Begin(stream_, 3), kInvalidValue);
  EXPECT_EQ(End(stream_), kIllegalState);
  ASSERT_EQ(Begin(stream_), 0);
  EXPECT_EQ(Begin(stream_), kIllegalState);
  std::thread([&] { EXPECT_EQ(End(stream_), kCaptureWrongThread); }).join();
  EXPECT_EQ(End(stream_), 0);
  ASSERT_EQ(Begin(stream_, kRelaxed), 0);
  std::thread([&] { EXPECT_EQ(End(stream_), 0); }).join();
}

TEST_F(HipCapture, EventsForkAndJoin) {
  void *side = Stream(1), *fork = Event(), *join = Event();
  float* y = Floats(64, 0);
  ASSERT_EQ(Begin(stream_), 0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(hip_("hipEventRecord", fork, stream_), 0);
  ASSERT_EQ(hip_("hipStreamWaitEvent", side, fork, 0u), 0);
  EXPECT_EQ(Status(side), kActive);
  ASSERT_EQ(Add(x_, x_, y, 64, side), 0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(hip_("hipEventRecord", join, side), 0);
  EXPECT_EQ(End(side), kCaptureUnmatched);
  ASSERT_EQ(hip_("hipStreamWaitEvent", stream_, join, 0u), 0);
  ASSERT_EQ(Add(x_, y, y, 64, stream_), 0);
  ASSERT_EQ(End(stream_), 0);
  EXPECT_EQ(Status(side), kNone);
  EXPECT_EQ(NodesOf(graph_), 4u);
  size_t edges = 0;
  void** const none = nullptr;
  ASSERT_EQ(hip_("hipGraphGetEdges", graph_, none, none, &edges), 0);
  EXPECT_EQ(edges, 4u) << "a diamond";
  x_[0] = 0;
  Run();
  EXPECT_EQ(x_[0], 2.0f);
}

TEST_F(HipCapture, WorkThatDoesNotJoinSpoilsIt) {
  void *side = Stream(1), *fork = Event();
  ASSERT_EQ(Begin(stream_), 0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(hip_("hipEventRecord", fork, stream_), 0);
  ASSERT_EQ(hip_("hipStreamWaitEvent", side, fork, 0u), 0);
  ASSERT_EQ(Step(side), 0);
  EXPECT_EQ(End(stream_), kCaptureUnjoined);
  EXPECT_EQ(graph_, nullptr);
  EXPECT_EQ(Status(side), kNone);
  EXPECT_EQ(hip_("hipStreamWaitEvent", side, fork, 0u), 0)
      << "an event of an ended capture";
  EXPECT_EQ(Status(side), kNone);
}

TEST_F(HipCapture, CapturesDoNotTouchOtherWork) {
  void *other = Stream(1), *event = Event();
  ASSERT_EQ(Step(other), 0);
  ASSERT_EQ(hip_("hipEventRecord", event, other), 0);
  ExpectInvalidates(
      [&] { return hip_("hipStreamWaitEvent", stream_, event, 0u); },
      kCaptureIsolation);
  // Two captures cannot become one.
  ASSERT_EQ(Begin(stream_), 0);
  ASSERT_EQ(Begin(other), 0);
  ASSERT_EQ(Step(other), 0);
  ASSERT_EQ(hip_("hipEventRecord", event, other), 0);
  EXPECT_EQ(hip_("hipStreamWaitEvent", stream_, event, 0u), kCaptureMerge);
  EXPECT_EQ(End(stream_), kCaptureInvalidated);
  EXPECT_EQ(End(other), kCaptureInvalidated);
}

TEST_F(HipCapture, WaitingAndAskingAreForbidden) {
  void* event = Event();
  ExpectInvalidates([&] { return Sync(stream_); }, kCaptureUnsupported);
  ExpectInvalidates([&] { return hip_("hipStreamQuery", stream_); },
                    kCaptureUnsupported);
  ExpectInvalidates([&] { return SyncAll(); }, kCaptureUnsupported, kRelaxed);
  const auto recorded = [&](const char* call) {
    EXPECT_EQ(hip_("hipEventRecord", event, stream_), 0);
    return hip_(call, event);
  };
  ExpectInvalidates([&] { return recorded("hipEventQuery"); }, kCapturedEvent);
  ExpectInvalidates([&] { return recorded("hipEventSynchronize"); },
                    kCapturedEvent);
  ExpectInvalidates(
      [&] {
        void (*const callback)(void*, int, void*) = [](void*, int, void*) {};
        return hip_("hipStreamAddCallback", stream_, callback, nullptr, 0u);
      },
      kCaptureUnsupported);
}

TEST_F(HipCapture, TheLegacyStreamWouldWaitForIt) {
  ExpectInvalidates([&] { return Step(nullptr); }, kCaptureImplicit);
  ExpectInvalidates(
      [&] { return hip_("hipMemcpy", x_, one_, size_t{4}, kOnDevice); },
      kCaptureImplicit, kRelaxed);
  ExpectInvalidates([&] { return hip_("hipMemset", x_, 0, size_t{4}); },
                    kCaptureImplicit);
  // One that does not block it is not in its way.
  void* free_running = Stream(1);
  ASSERT_EQ(Begin(free_running), 0);
  EXPECT_EQ(Step(nullptr), 0);
  EXPECT_EQ(End(free_running), 0);
}

// Who may allocate while whose capture is under way, by the modes of both.
TEST_F(HipCapture, UnsafeCallsByMode) {
  void* p = nullptr;
  const auto allocate = [&] { return hip_("hipMalloc", &p, size_t{4}); };
  const auto load = [&] {
    const std::string object = Bytes("launch.hsaco");
    return hip_("hipModuleLoadData", &p, object.data());
  };
  const auto as_thread = [&](int mode, auto call) {
    int result = -1;
    std::thread([&] {
      EXPECT_EQ(hip_("hipThreadExchangeStreamCaptureMode", &mode), 0);
      result = call();
    }).join();
    return result;
  };
  ExpectInvalidates(allocate, kCaptureUnsupported, kGlobal);
  ExpectInvalidates(allocate, kCaptureUnsupported, kThreadLocal);
  ExpectInvalidates(load, kCaptureUnsupported, kGlobal);
  ExpectInvalidates([&] { return as_thread(kGlobal, allocate); },
                    kCaptureUnsupported, kGlobal);
  const auto expect_allowed = [&](auto call, int mode) {
    ASSERT_EQ(Begin(stream_, mode), 0);
    EXPECT_EQ(call(), 0);
    EXPECT_EQ(End(stream_), 0);
  };
  expect_allowed(allocate, kRelaxed);
  expect_allowed([&] { return as_thread(kGlobal, allocate); }, kThreadLocal);
  expect_allowed([&] { return as_thread(kThreadLocal, allocate); }, kGlobal);
  expect_allowed([&] { return as_thread(kRelaxed, load); }, kGlobal);
  int mode = kRelaxed;
  ASSERT_EQ(hip_("hipThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(mode, kGlobal);
  expect_allowed(load, kGlobal);
  ASSERT_EQ(hip_("hipThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(mode, kRelaxed);
  mode = 3;
  EXPECT_EQ(hip_("hipThreadExchangeStreamCaptureMode", &mode), kInvalidValue);
}

TEST_F(HipCapture, EveryKindOfWorkIsCaptured) {
  std::vector<float> host(64, 0);
  static int calls = 0;
  calls = 0;
  void (*const count)(void*) = [](void*) { ++calls; };
  void* temporary = nullptr;
  ASSERT_EQ(Begin(stream_), 0);
  ASSERT_EQ(hip_("hipMallocAsync", &temporary, size_t{256}, stream_), 0);
  ASSERT_EQ(
      hip_("hipMemcpyAsync", temporary, one_, size_t{256}, kOnDevice, stream_),
      0);
  auto* t = static_cast<float*>(temporary);
  ASSERT_EQ(Add(t, one_, t, 64, stream_), 0);
  ASSERT_EQ(hip_("hipMemcpyAsync", host.data(), temporary, size_t{256}, kToHost,
                 stream_),
            0);
  ASSERT_EQ(hip_("hipLaunchHostFunc", stream_, count, nullptr), 0);
  ASSERT_EQ(hip_("hipFreeAsync", temporary, stream_), 0);
  EXPECT_EQ(hip_("hipFreeAsync", one_, stream_), kInvalidValue)
      << "memory that no graph allocated";
  ASSERT_EQ(End(stream_), 0);
  EXPECT_EQ(NodesOf(graph_), 6u);
  Run();
  EXPECT_EQ(host[63], 2.0f);
  EXPECT_EQ(calls, 1);
}

TEST_F(HipCapture, IntoAGraphAndWithOtherDependencies) {
  void *graph = nullptr, *first = nullptr;
  ASSERT_EQ(hip_("hipGraphCreate", &graph, 0u), 0);
  void** const none = nullptr;
  ASSERT_EQ(hip_("hipGraphAddEmptyNode", &first, graph, none, size_t{0}), 0);
  ASSERT_EQ(hip_("hipStreamBeginCaptureToGraph", stream_, graph, &first,
                 nullptr, size_t{1}, kGlobal),
            0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(hip_("hipStreamUpdateCaptureDependencies", stream_, &first,
                 size_t{1}, 1u),
            0);
  ASSERT_EQ(hip_("hipMemsetAsync", x_ + 32, 0, size_t{4}, stream_), 0);
  EXPECT_EQ(End(stream_), 0) << "the step was taken out on purpose";
  EXPECT_EQ(graph_, graph);
  size_t count = 0;
  ASSERT_EQ(hip_("hipGraphNodeGetDependentNodes", first, none, &count), 0);
  EXPECT_EQ(count, 2u);
}

TEST_F(HipCapture, NodesMayBeDestroyedMeanwhile) {
  int status = -1;
  unsigned long long id = 0;
  void *graph = nullptr, **tail = nullptr;
  size_t count = 0;
  ASSERT_EQ(Begin(stream_), 0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(hip_("hipStreamGetCaptureInfo_v2", stream_, &status, &id, &graph,
                 &tail, &count),
            0);
  ASSERT_EQ(hip_("hipGraphDestroyNode", tail[0]), 0);
  ASSERT_EQ(Step(stream_), 0);
  ASSERT_EQ(End(stream_), 0);
  EXPECT_EQ(NodesOf(graph_), 1u);
}

TEST_F(HipCapture, DestroyingTheStreamEndsIt) {
  void* other = Stream();
  ASSERT_EQ(Begin(other), 0);
  ASSERT_EQ(Step(other), 0);
  ASSERT_EQ(hip_("hipStreamDestroy", other), 0);
  void* p = nullptr;
  EXPECT_EQ(hip_("hipMalloc", &p, size_t{4}), 0);
  EXPECT_EQ(SyncAll(), 0);
}

}  // namespace
}  // namespace ingot::emulator
