// Handles that mean nothing are refused by every call, and nothing crashes.
#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

class HipHandles : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    // A stale handle of each kind, an address that never was one, and memory of
    // the device, which looks like an object but is none.
    void *stream = Stream(), *event = Event(), *graph = nullptr,
         *module = Load("launch.hsaco");
    EXPECT_EQ(hip_("hipGraphCreate", &graph, 0u), 0);
    EXPECT_EQ(hip_("hipStreamDestroy", stream), 0);
    EXPECT_EQ(hip_("hipEventDestroy", event), 0);
    EXPECT_EQ(hip_("hipGraphDestroy", graph), 0);
    EXPECT_EQ(hip_("hipModuleUnload", module), 0);
    handles_ = {stream,
                event,
                graph,
                module,
                Malloc<char>(4096),
                &local_,
                reinterpret_cast<void*>(0x1234567)};
  }

  std::vector<void*> handles_;
  char local_ = 0;
};

TEST_F(HipHandles, AloneOrFirst) {
  for (void* h : handles_) {
    for (const char* call :
         {"hipStreamDestroy", "hipStreamSynchronize", "hipStreamQuery",
          "hipEventDestroy", "hipEventSynchronize", "hipEventQuery",
          "hipModuleUnload", "hipGraphDestroy", "hipGraphExecDestroy",
          "hipGraphDestroyNode", "hipMemPoolDestroy", "hipCtxSetCurrent",
          "hipCtxPushCurrent", "hipCtxDestroy", "hipHostUnregister"}) {
      EXPECT_NE(hip_(call, h), 0) << call;
    }
    char out[256] = {};
    void* const o = out;
    for (const char* call :
         {"hipStreamGetFlags", "hipStreamGetPriority", "hipStreamGetDevice",
          "hipStreamIsCapturing", "hipStreamEndCapture",
          "hipModuleGetFunctionCount", "hipGraphKernelNodeGetParams",
          "hipGraphMemcpyNodeGetParams", "hipGraphMemsetNodeGetParams",
          "hipGraphHostNodeGetParams", "hipGraphNodeGetType",
          "hipGraphEventRecordNodeGetEvent", "hipGraphChildGraphNodeGetGraph",
          "hipGraphMemAllocNodeGetParams", "hipGraphExecGetFlags"}) {
      EXPECT_NE(hip_(call, h, o), 0) << call;
    }
  }
  EXPECT_EQ(SyncAll(), 0);
}

TEST_F(HipHandles, BesideOthers) {
  void *stream = Stream(), *out = nullptr, *graph = nullptr;
  ASSERT_EQ(hip_("hipGraphCreate", &graph, 0u), 0);
  size_t count = 4;
  void* list[4] = {};
  int number = 0;
  for (void* h : handles_) {
    EXPECT_NE(hip_("hipEventRecord", h, stream), 0);
    EXPECT_NE(hip_("hipEventRecord", Event(), h), 0);
    EXPECT_NE(hip_("hipStreamWaitEvent", stream, h, 0u), 0);
    EXPECT_NE(hip_("hipStreamWaitEvent", h, Event(), 0u), 0);
    EXPECT_NE(hip_("hipStreamBeginCapture", h, 0), 0);
    EXPECT_NE(hip_("hipMemcpyAsync", handles_[4], handles_[4], size_t{4},
                   kOnDevice, h),
              0);
    EXPECT_NE(hip_("hipMemsetAsync", handles_[4], 0, size_t{4}, h), 0);
    EXPECT_NE(hip_("hipMallocAsync", &out, size_t{4}, h), 0);
    EXPECT_NE(hip_("hipLaunchHostFunc", h, &Gate::Pass, nullptr), 0);
    EXPECT_NE(hip_("hipModuleGetFunction", &out, h, "where"), 0);
    EXPECT_NE(hip_("hipFuncGetAttribute", &number, 0, h), 0);
    EXPECT_NE(hip_("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
                   &number, h, 64, size_t{0}),
              0);
    EXPECT_NE(hip_("hipGraphInstantiateWithFlags", &out, h, 0ull), 0);
    EXPECT_NE(hip_("hipGraphLaunch", h, stream), 0);
    EXPECT_NE(hip_("hipGraphGetNodes", h, list, &count), 0);
    EXPECT_NE(hip_("hipGraphGetEdges", h, list, list, &count), 0);
    EXPECT_NE(hip_("hipGraphClone", &out, h), 0);
    EXPECT_NE(hip_("hipGraphAddEmptyNode", &out, graph, &h, size_t{1}), 0);
    EXPECT_NE(
        hip_("hipGraphAddChildGraphNode", &out, graph, list, size_t{0}, h), 0);
    EXPECT_NE(hip_("hipGraphExecUpdate", h, graph, &out, &number), 0);
    EXPECT_NE(hip_("hipMemPoolGetAttribute", h, 7, list), 0);
    EXPECT_NE(Launch(h, 1, 64, list, stream), 0);
  }
  EXPECT_EQ(SyncAll(), 0);
}

}  // namespace
}  // namespace ingot::emulator
