// Graphs built by hand: nodes, their parameters, instances and their updates.
#include <cstring>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

struct Dim3 {
  unsigned x, y, z;
};
struct KernelParams {
  Dim3 block;
  void** extra;
  void* function;
  Dim3 grid;
  void** params;
  unsigned lds;
};
struct MemsetParams {  // as HIP 7 has it
  void* to;
  size_t pitch;
  unsigned value, element;
  size_t width, height;
};
struct HostParams {
  void (*function)(void*);
  void* data;
};

class HipGraph : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    stream_ = Stream();
    one_ = Floats(64, 1);
    x_ = Floats(64, 0);
    vadd_ = Kernel("kernels_O2.hsaco", "vadd");
    ASSERT_EQ(hip_("hipGraphCreate", &graph_, 0u), 0);
  }
  // Adds to `graph_` after `before`.
  template <class... Args>
  void* Node(const char* call, std::vector<void*> before, Args... args) {
    void* node = nullptr;
    EXPECT_EQ(hip_(call, &node, graph_, before.data(), before.size(), args...),
              0)
        << call;
    return node;
  }
  void* AddKernel(std::vector<void*> before, float* a, float* b, float* c) {
    int count = 64;
    void* params[] = {&a, &b, &c, &count};
    KernelParams k = {{64, 1, 1}, nullptr, vadd_, {1, 1, 1}, params, 0};
    return Node("hipGraphAddKernelNode", std::move(before), &k);
  }
  void* Instance() {
    void* exec = nullptr;
    EXPECT_EQ(hip_("hipGraphInstantiateWithFlags", &exec, graph_, 0ull), 0);
    return exec;
  }
  void Run(void* exec) {
    ASSERT_EQ(hip_("hipGraphLaunch", exec, stream_), 0);
    ASSERT_EQ(Sync(stream_), 0);
  }

  void *stream_ = nullptr, *graph_ = nullptr;
  float *one_ = nullptr, *x_ = nullptr;
};

void AddOne(void* data) { ++*static_cast<int*>(data); }

TEST_F(HipGraph, NodesOfEachKindRunInTheOrderOfTheirEdges) {
  int calls = 0;
  std::vector<float> host(64, 0);
  MemsetParams fill = {x_, 0, 0x40400000, 4, 64, 1};  // 3.0f
  HostParams count = {&AddOne, &calls};
  void* copy = Node("hipGraphAddMemcpyNode1D", {}, host.data(), x_, size_t{256},
                    kToHost);
  void* kernel = AddKernel({}, x_, one_, x_);
  void* memset = Node("hipGraphAddMemsetNode", {}, &fill);
  void* empty = Node("hipGraphAddEmptyNode", {memset});
  Node("hipGraphAddHostNode", {copy}, &count);
  void* from[] = {empty, kernel};
  void* to[] = {kernel, copy};
  ASSERT_EQ(hip_("hipGraphAddDependencies", graph_, from, to, size_t{2}), 0);
  EXPECT_EQ(hip_("hipGraphAddDependencies", graph_, from, to, size_t{1}),
            kInvalidValue)
      << "twice";
  void* exec = Instance();
  Run(exec);
  EXPECT_EQ(host[63], 4.0f);
  EXPECT_EQ(calls, 1);
  void* roots[4] = {};
  size_t n = 4;
  ASSERT_EQ(hip_("hipGraphGetRootNodes", graph_, roots, &n), 0);
  EXPECT_EQ(n, 1u);
  EXPECT_EQ(roots[0], memset);
  EXPECT_EQ(roots[1], nullptr);
  const struct {
    void* node;
    int type;
  } kTypes[] = {{kernel, 0}, {copy, 1}, {memset, 2}, {empty, 5}};
  for (const auto& t : kTypes) {
    int type = -1;
    EXPECT_EQ(hip_("hipGraphNodeGetType", t.node, &type), 0);
    EXPECT_EQ(type, t.type);
  }
}

TEST_F(HipGraph, CyclesAndForeignNodesAreRefused) {
  void *a = AddKernel({}, x_, x_, x_), *b = AddKernel({a}, x_, x_, x_);
  ASSERT_EQ(hip_("hipGraphAddDependencies", graph_, &b, &a, size_t{1}), 0);
  void *exec = nullptr, *other = nullptr, *node = nullptr;
  EXPECT_EQ(hip_("hipGraphInstantiateWithFlags", &exec, graph_, 0ull),
            kInvalidValue);
  EXPECT_EQ(exec, nullptr);
  ASSERT_EQ(hip_("hipGraphRemoveDependencies", graph_, &b, &a, size_t{1}), 0);
  EXPECT_EQ(hip_("hipGraphRemoveDependencies", graph_, &b, &a, size_t{1}),
            kInvalidValue);
  EXPECT_NE(Instance(), nullptr);
  ASSERT_EQ(hip_("hipGraphCreate", &other, 0u), 0);
  EXPECT_EQ(hip_("hipGraphAddEmptyNode", &node, other, &a, size_t{1}),
            kInvalidValue);
  void* twice[] = {a, a};
  EXPECT_EQ(hip_("hipGraphAddEmptyNode", &node, graph_, twice, size_t{2}),
            kInvalidValue);
  EXPECT_EQ(hip_("hipGraphInstantiateWithFlags", &exec, graph_, 1ull << 20),
            kInvalidValue);
  EXPECT_EQ(hip_("hipGraphLaunch", graph_, stream_), kInvalidValue);
  EXPECT_EQ(hip_("hipGraphDestroyNode", b), 0);
  EXPECT_EQ(hip_("hipGraphDestroyNode", b), kInvalidValue);
  int type = 0;
  EXPECT_EQ(hip_("hipGraphNodeGetType", b, &type), kInvalidValue);
}

TEST_F(HipGraph, ParametersAreReadAndChanged) {
  float *y = Floats(64, 0), *two = Floats(64, 2);
  void* kernel = AddKernel({}, one_, one_, x_);
  KernelParams k = {};
  ASSERT_EQ(hip_("hipGraphKernelNodeGetParams", kernel, &k), 0);
  EXPECT_EQ(k.function, vadd_);
  EXPECT_EQ(k.block.x, 64u);
  EXPECT_EQ(*static_cast<float**>(k.params[2]), x_);
  EXPECT_EQ(*static_cast<int*>(k.params[3]), 64);
  void* exec = Instance();
  // An instance keeps what it was made of.
  int count = 64;
  void* params[] = {&two, &two, &y, &count};
  k.params = params;
  ASSERT_EQ(hip_("hipGraphKernelNodeSetParams", kernel, &k), 0);
  Run(exec);
  EXPECT_EQ(x_[0], 2.0f);
  EXPECT_EQ(y[0], 0.0f);
  ASSERT_EQ(hip_("hipGraphExecKernelNodeSetParams", exec, kernel, &k), 0);
  Run(exec);
  EXPECT_EQ(y[0], 4.0f);
  Run(Instance());
  EXPECT_EQ(y[0], 4.0f);
  k.block.x = 2048;
  EXPECT_EQ(hip_("hipGraphExecKernelNodeSetParams", exec, kernel, &k),
            kInvalidConfiguration);
  k.function = &k;
  EXPECT_EQ(hip_("hipGraphKernelNodeSetParams", kernel, &k),
            kInvalidDeviceFunction);
  MemsetParams fill = {x_, 0, 0, 4, 64, 1};
  EXPECT_EQ(hip_("hipGraphMemsetNodeSetParams", kernel, &fill), kInvalidValue)
      << "another kind of node";
  fill.element = 3;
  void* node = nullptr;
  void** const none = nullptr;
  EXPECT_EQ(
      hip_("hipGraphAddMemsetNode", &node, graph_, none, size_t{0}, &fill),
      kInvalidValue);
}

TEST_F(HipGraph, StepsCanBeSwitchedOff) {
  void* kernel = AddKernel({}, one_, x_, x_);
  void* exec = Instance();
  ASSERT_EQ(hip_("hipGraphNodeSetEnabled", exec, kernel, 0u), 0);
  Run(exec);
  EXPECT_EQ(x_[0], 0.0f);
  unsigned enabled = 9;
  ASSERT_EQ(hip_("hipGraphNodeGetEnabled", exec, kernel, &enabled), 0);
  EXPECT_EQ(enabled, 0u);
  ASSERT_EQ(hip_("hipGraphNodeSetEnabled", exec, kernel, 1u), 0);
  Run(exec);
  EXPECT_EQ(x_[0], 1.0f);
}

TEST_F(HipGraph, InstancesTakeOverGraphsOfTheSameShape) {
  float* y = Floats(64, 0);
  void* first = AddKernel({}, one_, one_, x_);
  AddKernel({first}, x_, x_, x_);
  void *exec = Instance(), *node = nullptr;
  int result = -1;
  ASSERT_EQ(hip_("hipGraphCreate", &graph_, 0u), 0);
  first = AddKernel({}, one_, one_, y);
  void* second = AddKernel({}, y, y, y);
  EXPECT_EQ(hip_("hipGraphExecUpdate", exec, graph_, &node, &result),
            kExecUpdateFailure);
  EXPECT_EQ(result, 2) << "topology";
  EXPECT_EQ(node, second);
  ASSERT_EQ(hip_("hipGraphAddDependencies", graph_, &first, &second, size_t{1}),
            0);
  ASSERT_EQ(hip_("hipGraphExecUpdate", exec, graph_, &node, &result), 0);
  EXPECT_EQ(result, 0);
  Run(exec);
  EXPECT_EQ(y[0], 4.0f);
  EXPECT_EQ(x_[0], 0.0f);
  Node("hipGraphAddEmptyNode", {second});
  EXPECT_EQ(hip_("hipGraphExecUpdate", exec, graph_, &node, &result),
            kExecUpdateFailure);
  EXPECT_EQ(result, 2);
  ASSERT_EQ(hip_("hipGraphCreate", &graph_, 0u), 0);
  first = AddKernel({}, one_, one_, y);
  Node("hipGraphAddEmptyNode", {first});
  EXPECT_EQ(hip_("hipGraphExecUpdate", exec, graph_, &node, &result),
            kExecUpdateFailure);
  EXPECT_EQ(result, 3) << "type";
}

TEST_F(HipGraph, ChildrenAndClonesAreCopies) {
  void* kernel = AddKernel({}, one_, x_, x_);
  void *child = graph_, *clone = nullptr, *twin = nullptr;
  ASSERT_EQ(hip_("hipGraphClone", &clone, graph_), 0);
  ASSERT_EQ(hip_("hipGraphNodeFindInClone", &twin, kernel, clone), 0);
  EXPECT_NE(twin, kernel);
  ASSERT_EQ(hip_("hipGraphCreate", &graph_, 0u), 0);
  void* a = Node("hipGraphAddChildGraphNode", {}, child);
  Node("hipGraphAddChildGraphNode", {a}, child);
  ASSERT_EQ(hip_("hipGraphDestroy", child), 0);
  Run(Instance());
  EXPECT_EQ(x_[0], 2.0f);
  // An instance does not see what becomes of the child.
  void *whole = Instance(), *inner = nullptr, *step = nullptr;
  size_t count = 1;
  ASSERT_EQ(hip_("hipGraphChildGraphNodeGetGraph", a, &inner), 0);
  ASSERT_EQ(hip_("hipGraphGetNodes", inner, &step, &count), 0);
  ASSERT_EQ(hip_("hipGraphDestroyNode", step), 0);
  Run(whole);
  EXPECT_EQ(x_[0], 4.0f);
  Run(Instance());
  EXPECT_EQ(x_[0], 5.0f) << "the other child alone";
  // Launched while the stream captures, an instance becomes a child.
  void *exec = Instance(), *captured = nullptr;
  ASSERT_EQ(hip_("hipStreamBeginCapture", stream_, 0), 0);
  ASSERT_EQ(hip_("hipGraphLaunch", exec, stream_), 0);
  ASSERT_EQ(hip_("hipStreamEndCapture", stream_, &captured), 0);
  EXPECT_EQ(x_[0], 5.0f);
  graph_ = captured;
  Run(Instance());
  EXPECT_EQ(x_[0], 6.0f);
  graph_ = clone;
  Run(Instance());
  EXPECT_EQ(x_[0], 7.0f);
}

TEST_F(HipGraph, EventsAndMemoryInGraphs) {
  struct {
    int type, handles, location, device;
    void* security;
    size_t max;
    char reserved[56];
    void* access;
    size_t access_count, bytes;
    void* pointer;
  } memory = {1, 0, 1, 0, nullptr, 0, {}, nullptr, 0, 256, nullptr};
  void* event = Event();
  void* allocate = Node("hipGraphAddMemAllocNode", {}, &memory);
  ASSERT_NE(memory.pointer, nullptr);
  auto* t = static_cast<float*>(memory.pointer);
  void* kernel = AddKernel({allocate}, one_, one_, t);
  void* out = AddKernel({kernel}, t, t, x_);
  void* free = Node("hipGraphAddMemFreeNode", {out}, memory.pointer);
  Node("hipGraphAddEventRecordNode", {free}, event);
  void *exec = Instance(), *second = nullptr;
  EXPECT_EQ(hip_("hipGraphInstantiateWithFlags", &second, graph_, 0ull),
            kNotSupported)
      << "two instances cannot own the memory";
  ASSERT_EQ(hip_("hipGraphLaunch", exec, stream_), 0);
  void* other = Stream(1);
  ASSERT_EQ(hip_("hipStreamWaitEvent", other, event, 0u), 0);
  ASSERT_EQ(Sync(other), 0);
  EXPECT_EQ(x_[0], 4.0f);
  ASSERT_EQ(hip_("hipGraphExecDestroy", exec), 0);
  EXPECT_EQ(hip_("hipGraphExecDestroy", exec), kInvalidValue);
  ASSERT_EQ(hip_("hipGraphDestroy", graph_), 0);
  EXPECT_EQ(hip_("hipFree", memory.pointer), kInvalidValue) << "gone with it";
}

TEST_F(HipGraph, FaultsInGraphsShowAtTheNextSynchronisation) {
  float* gone = Floats(64, 0);
  Node("hipGraphAddMemcpyNode1D", {}, gone, x_, size_t{256}, kOnDevice);
  void* exec = Instance();
  Run(exec);
  ASSERT_EQ(hip_("hipFree", gone), 0);
  ASSERT_EQ(hip_("hipGraphLaunch", exec, stream_), 0);
  EXPECT_EQ(Sync(stream_), kIllegalAddress);
  EXPECT_EQ(hip_("hipGraphLaunch", exec, stream_), kIllegalAddress);
}

TEST_F(HipGraph, KernelsOfUnloadedModulesAreNotRun) {
  void *module = Load("kernels_O2.hsaco"), *exec = nullptr;
  ASSERT_EQ(hip_("hipModuleGetFunction", &vadd_, module, "vadd"), 0);
  AddKernel({}, one_, one_, x_);
  exec = Instance();
  ASSERT_EQ(hip_("hipModuleUnload", module), 0);
  EXPECT_EQ(hip_("hipGraphLaunch", exec, stream_), kInvalidHandle);
}

}  // namespace
}  // namespace ingot::emulator
