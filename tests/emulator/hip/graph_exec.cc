// Instances of graphs: made, launched, updated.
#include <cstdio>
#include <cstring>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/graph.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

constexpr unsigned long long kAutoFree = 1, kUpload = 2, kUsePriority = 8;

// hipGraphExecUpdateResult.
enum UpdateResult : int {
  kUpdated = 0,
  kTopologyChanged = 2,
  kNodeTypeChanged = 3,
  kParametersChanged = 5,
};

// hipGraphInstantiateParams.
struct InstantiateParams {
  void* error_node;
  unsigned long long flags;
  int result;
  void* upload_stream;
};

bool HasMemoryNodes(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (std::holds_alternative<AllocateOp>(node->operation) ||
        std::holds_alternative<FreeOp>(node->operation)) {
      return true;
    }
  }
  return false;
}

int Instantiate(void** out, void* handle, unsigned long long flags) {
  if (out == nullptr) return kInvalidValue;
  *out = nullptr;
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr) return kInvalidValue;
  if ((flags & ~(kAutoFree | kUpload | kUsePriority)) != 0)
    return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  // Two instances would hand out the same memory.
  if (graph->instantiated && HasMemoryNodes(*graph)) return kNotSupported;
  auto steps = std::make_shared<Steps>();
  if (!MakeSteps(*graph, steps.get())) return kInvalidValue;
  graph->instantiated = true;
  auto exec = std::make_shared<GraphExec>();
  exec->steps = std::move(steps);
  exec->flags = flags;
  *out = R().graph_execs.Add(std::move(exec));
  return kSuccess;
}

int DeviceOf(const Operation& operation, int otherwise) {
  const auto* kernel = std::get_if<KernelOp>(&operation);
  return kernel != nullptr ? kernel->function->module->device : otherwise;
}

int CheckSteps(const Steps& steps, int device) {
  for (const Step& step : steps) {
    if (!step.enabled) continue;
    const auto* copy = std::get_if<CopyOp>(&step.operation);
    const auto* fill = std::get_if<FillOp>(&step.operation);
    // Those are looked at when their turn comes.
    if (copy != nullptr || fill != nullptr) continue;
    const int error =
        CheckOperation(step.operation, DeviceOf(step.operation, device));
    if (error != kSuccess) return error;
  }
  return kSuccess;
}

// Launched into a stream that captures, a graph becomes a child of its graph.
int CaptureLaunch(const StreamPtr& stream, const Steps& steps) {
  auto child = std::make_shared<Graph>();
  std::vector<Node*> nodes;
  for (const Step& step : steps) {
    std::vector<Node*> before;
    for (const size_t b : step.before) before.push_back(nodes[b]);
    nodes.push_back(child->Add(step.operation, before));
  }
  return Enqueue(stream, ChildOp{std::move(child)});
}

void Run(const Steps& steps, int device) {
  for (const Step& step : steps) {
    if (step.enabled) Perform(step.operation, DeviceOf(step.operation, device));
  }
}

int Launch(void* handle, void* stream_handle) {
  const std::shared_ptr<GraphExec> exec = R().graph_execs.Find(handle);
  if (exec == nullptr) return kInvalidValue;
  StreamPtr stream;
  if (const int error = FindUsableStream(stream_handle, &stream);
      error != kSuccess) {
    return error;
  }
  if (stream->kind == Stream::Kind::kLegacy) {
    if (const int error = CheckNotCapturing(*stream); error != kSuccess)
      return error;
  }
  std::unique_lock<std::mutex> lock(CaptureMutex());
  const std::shared_ptr<const Steps> steps = exec->steps;
  const int device = stream->device;
  if (const int error = CheckSteps(*steps, device); error != kSuccess)
    return error;
  if (stream->capture != nullptr) {
    lock.unlock();
    return CaptureLaunch(stream, *steps);
  }
  std::vector<CompletionPtr> after;
  if (exec->last != nullptr) after.push_back(exec->last);
  for (const Step& step : *steps) {
    const auto* wait = std::get_if<EventWaitOp>(&step.operation);
    if (wait != nullptr && wait->event->recorded != nullptr)
      after.push_back(wait->event->recorded);
  }
  exec->last = R().Submit(
      *stream, [steps, device] { Run(*steps, device); }, std::move(after));
  for (const Step& step : *steps) {
    if (auto* record = std::get_if<EventRecordOp>(&step.operation)) {
      record->event->recorded = exec->last;
      record->event->capture = nullptr;
    }
  }
  return kSuccess;
}

int Update(void* handle, void* graph_handle, void** error_node, int* result) {
  const std::shared_ptr<GraphExec> exec = R().graph_execs.Find(handle);
  const std::shared_ptr<Graph> graph = R().graphs.Find(graph_handle);
  if (exec == nullptr || graph == nullptr || error_node == nullptr ||
      result == nullptr) {
    return kInvalidValue;
  }
  std::lock_guard<std::mutex> lock(CaptureMutex());
  *error_node = nullptr;
  *result = kTopologyChanged;
  auto steps = std::make_shared<Steps>();
  if (!MakeSteps(*graph, steps.get())) return kInvalidValue;
  const Steps& old = *exec->steps;
  if (steps->size() != old.size()) return kGraphExecUpdateFailure;
  for (size_t n = 0; n < old.size(); ++n) {
    Step& step = (*steps)[n];
    *error_node = const_cast<void*>(step.node);
    *result = kNodeTypeChanged;
    if (step.operation.index() != old[n].operation.index())
      return kGraphExecUpdateFailure;
    *result = kTopologyChanged;
    if (step.before != old[n].before) return kGraphExecUpdateFailure;
    *result = kParametersChanged;
    const auto* copy = std::get_if<CopyOp>(&step.operation);
    if (copy != nullptr &&
        copy->kind != std::get<CopyOp>(old[n].operation).kind) {
      return kGraphExecUpdateFailure;
    }
    // Later calls still name the nodes of the first graph.
    step.node = old[n].node;
    step.enabled = old[n].enabled;
  }
  *error_node = nullptr;
  *result = kUpdated;
  exec->steps = std::move(steps);
  return kSuccess;
}

int Enable(void* handle, void* node, bool set, unsigned* enabled) {
  const std::shared_ptr<GraphExec> exec = R().graph_execs.Find(handle);
  if (exec == nullptr || enabled == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  auto steps = std::make_shared<Steps>(*exec->steps);
  for (Step& step : *steps) {
    if (step.node != node) continue;
    const int type = NodeType(step.operation);
    if (type > 2) return kInvalidValue;  // kernels, copies and fills alone
    if (!set) {
      *enabled = step.enabled ? 1 : 0;
      return kSuccess;
    }
    step.enabled = *enabled != 0;
    exec->steps = std::move(steps);
    return kSuccess;
  }
  return kInvalidValue;
}

const char* KindName(int type) {
  static constexpr const char* kNames[] = {
      "kernel", "memcpy", "memset",     "host",     "graph",    "empty",
      "wait",   "record", "ext signal", "ext wait", "allocate", "free"};
  return type >= 0 && type < 12 ? kNames[type] : "?";
}

int PrintDot(void* handle, const char* path) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr || path == nullptr) return kInvalidValue;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return kOperatingSystem;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  std::fputs("digraph graph_ {\n", file);
  for (const auto& node : graph->nodes) {
    const auto* kernel = std::get_if<KernelOp>(&node->operation);
    std::fprintf(
        file, "  n%p [label=\"%s %s\"];\n", static_cast<void*>(node.get()),
        KindName(NodeType(node->operation)),
        kernel == nullptr ? "" : kernel->function->kernel->name.c_str());
    for (const Node* next : node->after) {
      std::fprintf(file, "  n%p -> n%p;\n", static_cast<void*>(node.get()),
                   static_cast<const void*>(next));
    }
  }
  std::fputs("}\n", file);
  return std::fclose(file) == 0 ? kSuccess : kOperatingSystem;
}

}  // namespace

INGOT_HIP_EXPORT int hipGraphInstantiate(void** exec, void* graph,
                                         void** error_node, char* log,
                                         size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = 0;
  return Done(Instantiate(exec, graph, 0));
}
INGOT_HIP_EXPORT int hipGraphInstantiateWithFlags(void** exec, void* graph,
                                                  unsigned long long flags) {
  return Done(Instantiate(exec, graph, flags));
}
INGOT_HIP_EXPORT int hipGraphInstantiateWithParams(void** exec, void* graph,
                                                   InstantiateParams* params) {
  if (params == nullptr) return Done(kInvalidValue);
  const int error = Instantiate(exec, graph, params->flags);
  params->error_node = nullptr;
  params->result = error == kSuccess ? 0 : 1;
  return Done(error);
}
INGOT_HIP_EXPORT int hipGraphExecGetFlags(void* exec,
                                          unsigned long long* flags) {
  const std::shared_ptr<GraphExec> found = R().graph_execs.Find(exec);
  if (found == nullptr || flags == nullptr) return Done(kInvalidValue);
  *flags = found->flags;
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipGraphLaunch(void* exec, void* stream) {
  return Done(Launch(exec, stream));
}
// There is nothing to upload; the handles are checked.
INGOT_HIP_EXPORT int hipGraphUpload(void* exec, void* stream) {
  StreamPtr found;
  if (R().graph_execs.Find(exec) == nullptr) return Done(kInvalidValue);
  return Done(FindUsableStream(stream, &found));
}
INGOT_HIP_EXPORT int hipGraphExecDestroy(void* exec) {
  return Done(R().graph_execs.Drop(exec) != nullptr ? kSuccess : kInvalidValue);
}
INGOT_HIP_EXPORT int hipGraphExecUpdate(void* exec, void* graph,
                                        void** error_node, int* result) {
  return Done(Update(exec, graph, error_node, result));
}
INGOT_HIP_EXPORT int hipGraphNodeSetEnabled(void* exec, void* node,
                                            unsigned enabled) {
  return Done(Enable(exec, node, true, &enabled));
}
INGOT_HIP_EXPORT int hipGraphNodeGetEnabled(void* exec, void* node,
                                            unsigned* enabled) {
  return Done(Enable(exec, node, false, enabled));
}
INGOT_HIP_EXPORT int hipGraphDebugDotPrint(void* graph, const char* path,
                                           unsigned) {
  return Done(PrintDot(graph, path));
}

}  // namespace ingot::emulator::hip
