// Nodes of each kind: made, read and changed, in graphs and in instances.
#include <algorithm>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/copy.h"
#include "tests/emulator/hip/graph.h"
#include "tests/emulator/hip/launch.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// How a caller names where a node goes.
struct Place {
  void** out;
  void* graph;
  const void* const* before;
  size_t count;
};

int Check(const Operation& operation) {
  const auto* kernel = std::get_if<KernelOp>(&operation);
  const int device =
      kernel != nullptr ? kernel->function->module->device : CurrentDevice();
  return CheckOperation(operation, device);
}

int Add(const Place& place, Operation operation) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(place.graph);
  if (place.out == nullptr || graph == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  if (const int error = Check(operation); error != kSuccess) return error;
  std::vector<Node*> before;
  if (!FindNodes(place.before, place.count, graph.get(), &before))
    return kInvalidValue;
  *place.out = graph->Add(std::move(operation), before);
  return kSuccess;
}

// Replaces a node's operation by another of its kind.
int Change(void* handle, Operation operation) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindNode(handle);
  if (node == nullptr || node->operation.index() != operation.index())
    return kInvalidValue;
  if (const int error = Check(operation); error != kSuccess) return error;
  node->operation = std::move(operation);
  return kSuccess;
}

// The same for what an instance made of that node.
int ChangeStep(void* handle, void* node, Operation operation) {
  const std::shared_ptr<GraphExec> exec = R().graph_execs.Find(handle);
  if (exec == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  auto steps = std::make_shared<Steps>(*exec->steps);
  for (Step& step : *steps) {
    if (step.node != node) continue;
    if (step.operation.index() != operation.index()) return kInvalidValue;
    if (const int error = Check(operation); error != kSuccess) return error;
    step.operation = std::move(operation);
    exec->steps = std::move(steps);
    return kSuccess;
  }
  return kInvalidValue;
}

// A node of kind `Op`, or null. CaptureMutex() held.
template <class Op>
Node* FindKind(void* handle) {
  Node* node = FindNode(handle);
  return node != nullptr && std::holds_alternative<Op>(node->operation)
             ? node
             : nullptr;
}

int Kernel(const KernelNodeParams* params, KernelOp* op) {
  if (params == nullptr || params->function == nullptr) return kInvalidValue;
  const int error = MakeKernelOp(*params, op);
  // HIP's word for a function that graphs cannot take.
  return error == kInvalidHandle ? int{kInvalidDeviceFunction} : error;
}

// Calls `then` with the operation that `make` gives.
template <class Op, class Make, class Then>
int With(Make make, Then then) {
  Op op;
  const int error = make(&op);
  return error != kSuccess ? error : then(std::move(op));
}

int MemcpyOp(const Copy3dParams* params, CopyOp* op) {
  return params == nullptr ? int{kInvalidValue} : MakeCopy(*params, op);
}
int MemsetOp(const MemsetParams* params, FillOp* op) {
  return params == nullptr ? int{kInvalidValue} : MakeFill(*params, op);
}
int HostFunctionOp(const HostNodeParams* params, HostOp* op) {
  if (params == nullptr) return kInvalidValue;
  *op = HostOp{params->function, params->data};
  return kSuccess;
}
template <class Op>
int ForEvent(void* handle, Op* op) {
  op->event = R().events.Find(handle);
  return op->event == nullptr ? kInvalidHandle : kSuccess;
}
int Child(void* handle, ChildOp* op) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  op->graph = graph->Clone();
  return kSuccess;
}

PitchedPointer Side(const Region& r, size_t width) {
  return {r.base, r.pitch, width, r.pitch == 0 ? 0 : r.slice / r.pitch};
}

int GetKernelParams(void* handle, KernelNodeParams* out) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<KernelOp>(handle);
  if (node == nullptr || out == nullptr) return kInvalidValue;
  auto& k = std::get<KernelOp>(node->operation);
  node->parameters.clear();
  for (const KernelArg& a : k.function->kernel->args) {
    if (!a.hidden()) node->parameters.push_back(&k.kernarg[a.offset]);
  }
  const uint32_t *g = k.config.grid, *b = k.config.block;
  *out = {{b[0], b[1], b[2]},          nullptr,
          const_cast<void*>(k.handle), {g[0], g[1], g[2]},
          node->parameters.data(),     k.config.dynamic_lds};
  return kSuccess;
}

int GetMemcpyParams(void* handle, Copy3dParams* out) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<CopyOp>(handle);
  if (node == nullptr || out == nullptr) return kInvalidValue;
  const auto& c = std::get<CopyOp>(node->operation);
  *out = {};
  out->from = Side(c.from, c.width);
  out->to = Side(c.to, c.width);
  out->extent = {c.width, c.height, c.depth};
  out->kind = c.kind;
  return kSuccess;
}

int GetMemsetParams(void* handle, MemsetParams* out) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<FillOp>(handle);
  if (node == nullptr || out == nullptr) return kInvalidValue;
  const auto& f = std::get<FillOp>(node->operation);
  *out = {f.to.base, f.to.pitch, f.value, f.element, f.width, f.height};
  return kSuccess;
}

int GetHostParams(void* handle, HostNodeParams* out) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<HostOp>(handle);
  if (node == nullptr || out == nullptr) return kInvalidValue;
  const auto& h = std::get<HostOp>(node->operation);
  *out = {h.function, h.data};
  return kSuccess;
}

template <class Op>
int GetEvent(void* handle, void** event) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<Op>(handle);
  if (node == nullptr || event == nullptr) return kInvalidValue;
  *event = std::get<Op>(node->operation).event.get();
  return kSuccess;
}

int GetChild(void* handle, void** graph) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<ChildOp>(handle);
  if (node == nullptr || graph == nullptr) return kInvalidValue;
  *graph = R().graphs.Add(std::get<ChildOp>(node->operation).graph);
  return kSuccess;
}

int AddAllocation(const Place& place, AllocationNodeParams* params) {
  if (params == nullptr || params->bytes == 0) return kInvalidValue;
  if (!R().valid_device(params->pool.location.id)) return kInvalidDevice;
  auto memory = std::make_shared<GraphMemory>();
  Allocation wanted;
  wanted.bytes = memory->bytes = params->bytes;
  wanted.device = memory->device = params->pool.location.id;
  wanted.in_graph = true;
  memory->pointer = R().allocations.Allocate(wanted);
  if (memory->pointer == nullptr) return kOutOfMemory;
  params->pointer = memory->pointer;
  return Add(place, AllocateOp{std::move(memory)});
}

int AddFree(const Place& place, void* pointer) {
  const auto found = R().allocations.Find(pointer);
  if (!found.has_value() || !found->in_graph) return kInvalidValue;
  return Add(place, FreeOp{pointer});
}

int GetAllocation(void* handle, AllocationNodeParams* out) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<AllocateOp>(handle);
  if (node == nullptr || out == nullptr) return kInvalidValue;
  const GraphMemory& m = *std::get<AllocateOp>(node->operation).memory;
  *out = {};
  out->pool.allocation_type = 1;
  out->pool.location = {1, m.device};
  out->bytes = m.bytes;
  out->pointer = m.pointer;
  return kSuccess;
}

int GetFree(void* handle, void* out) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindKind<FreeOp>(handle);
  if (node == nullptr || out == nullptr) return kInvalidValue;
  *static_cast<void**>(out) = std::get<FreeOp>(node->operation).pointer;
  return kSuccess;
}

}  // namespace

#define INGOT_PLACE void **out, void *graph, const void *const *before, size_t n
#define INGOT_AT \
  Place { out, graph, before, n }

INGOT_HIP_EXPORT int hipGraphAddEmptyNode(INGOT_PLACE) {
  return Done(Add(INGOT_AT, EmptyOp{}));
}

// For each kind with parameters: Add, GetParams, SetParams and, for instances,
// ExecSetParams.
#define INGOT_NODE(Kind, Params, Op, make, get)                                \
  INGOT_HIP_EXPORT int hipGraphAdd##Kind##Node(INGOT_PLACE, const Params* p) { \
    return Done(With<Op>([&](Op* op) { return make(p, op); },                  \
                         [&](Op op) { return Add(INGOT_AT, op); }));           \
  }                                                                            \
  INGOT_HIP_EXPORT int hipGraph##Kind##NodeGetParams(void* node, Params* p) {  \
    return Done(get(node, p));                                                 \
  }                                                                            \
  INGOT_HIP_EXPORT int hipGraph##Kind##NodeSetParams(void* node,               \
                                                     const Params* p) {        \
    return Done(With<Op>([&](Op* op) { return make(p, op); },                  \
                         [&](Op op) { return Change(node, op); }));            \
  }                                                                            \
  INGOT_HIP_EXPORT int hipGraphExec##Kind##NodeSetParams(                      \
      void* exec, void* node, const Params* p) {                               \
    return Done(With<Op>([&](Op* op) { return make(p, op); },                  \
                         [&](Op op) { return ChangeStep(exec, node, op); }));  \
  }
INGOT_NODE(Kernel, KernelNodeParams, KernelOp, Kernel, GetKernelParams)
INGOT_NODE(Memcpy, Copy3dParams, CopyOp, MemcpyOp, GetMemcpyParams)
INGOT_NODE(Memset, MemsetParams, FillOp, MemsetOp, GetMemsetParams)
INGOT_NODE(Host, HostNodeParams, HostOp, HostFunctionOp, GetHostParams)
#undef INGOT_NODE

INGOT_HIP_EXPORT int hipGraphAddMemcpyNode1D(INGOT_PLACE, void* to,
                                             const void* from, size_t bytes,
                                             int kind) {
  return Done(Add(INGOT_AT, LinearCopy(to, from, bytes, kind)));
}
INGOT_HIP_EXPORT int hipGraphMemcpyNodeSetParams1D(void* node, void* to,
                                                   const void* from,
                                                   size_t bytes, int kind) {
  return Done(Change(node, LinearCopy(to, from, bytes, kind)));
}
INGOT_HIP_EXPORT int hipGraphExecMemcpyNodeSetParams1D(void* exec, void* node,
                                                       void* to,
                                                       const void* from,
                                                       size_t bytes, int kind) {
  return Done(ChangeStep(exec, node, LinearCopy(to, from, bytes, kind)));
}
INGOT_HIP_EXPORT int hipDrvGraphAddMemcpyNode(INGOT_PLACE,
                                              const DriverCopy3dParams* p,
                                              void*) {
  if (p == nullptr) return Done(kInvalidValue);
  return Done(With<CopyOp>([&](CopyOp* op) { return MakeCopy(*p, op); },
                           [&](CopyOp op) { return Add(INGOT_AT, op); }));
}
INGOT_HIP_EXPORT int hipDrvGraphAddMemsetNode(INGOT_PLACE,
                                              const MemsetParams* p, void*) {
  return hipGraphAddMemsetNode(out, graph, before, n, p);
}

#define INGOT_EVENT_NODE(Kind, Op)                                             \
  INGOT_HIP_EXPORT int hipGraphAdd##Kind##Node(INGOT_PLACE, void* event) {     \
    return Done(With<Op>([&](Op* op) { return ForEvent(event, op); },          \
                         [&](Op op) { return Add(INGOT_AT, op); }));           \
  }                                                                            \
  INGOT_HIP_EXPORT int hipGraph##Kind##NodeGetEvent(void* node,                \
                                                    void** event) {            \
    return Done(GetEvent<Op>(node, event));                                    \
  }                                                                            \
  INGOT_HIP_EXPORT int hipGraph##Kind##NodeSetEvent(void* node, void* event) { \
    return Done(With<Op>([&](Op* op) { return ForEvent(event, op); },          \
                         [&](Op op) { return Change(node, op); }));            \
  }                                                                            \
  INGOT_HIP_EXPORT int hipGraphExec##Kind##NodeSetEvent(                       \
      void* exec, void* node, void* event) {                                   \
    return Done(With<Op>([&](Op* op) { return ForEvent(event, op); },          \
                         [&](Op op) { return ChangeStep(exec, node, op); }));  \
  }
INGOT_EVENT_NODE(EventRecord, EventRecordOp)
INGOT_EVENT_NODE(EventWait, EventWaitOp)
#undef INGOT_EVENT_NODE

INGOT_HIP_EXPORT int hipGraphAddChildGraphNode(INGOT_PLACE, void* child) {
  return Done(With<ChildOp>([&](ChildOp* op) { return Child(child, op); },
                            [&](ChildOp op) { return Add(INGOT_AT, op); }));
}
INGOT_HIP_EXPORT int hipGraphChildGraphNodeGetGraph(void* node, void** graph) {
  return Done(GetChild(node, graph));
}
INGOT_HIP_EXPORT int hipGraphExecChildGraphNodeSetParams(void* exec, void* node,
                                                         void* child) {
  return Done(
      With<ChildOp>([&](ChildOp* op) { return Child(child, op); },
                    [&](ChildOp op) { return ChangeStep(exec, node, op); }));
}

INGOT_HIP_EXPORT int hipGraphAddMemAllocNode(INGOT_PLACE,
                                             AllocationNodeParams* params) {
  return Done(AddAllocation(INGOT_AT, params));
}
INGOT_HIP_EXPORT int hipGraphMemAllocNodeGetParams(
    void* node, AllocationNodeParams* params) {
  return Done(GetAllocation(node, params));
}
INGOT_HIP_EXPORT int hipGraphAddMemFreeNode(INGOT_PLACE, void* pointer) {
  return Done(AddFree(INGOT_AT, pointer));
}
INGOT_HIP_EXPORT int hipGraphMemFreeNodeGetParams(void* node, void* pointer) {
  return Done(GetFree(node, pointer));
}

#undef INGOT_PLACE
#undef INGOT_AT

}  // namespace ingot::emulator::hip
