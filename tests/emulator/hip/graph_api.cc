// Graphs as wholes: making, copying, asking about nodes and edges.
#include <algorithm>
#include <cstring>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/graph.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// Gives out a list by HIP's convention: without a buffer only the length; a
// buffer that is longer than the list ends in nulls.
template <class T>
int GiveOut(const std::vector<T*>& list, void** buffer, size_t* count) {
  if (buffer == nullptr) {
    *count = list.size();
    return kSuccess;
  }
  for (size_t n = 0; n < *count; ++n)
    buffer[n] = n < list.size() ? list[n] : nullptr;
  *count = std::min(*count, list.size());
  return kSuccess;
}

int GetNodes(void* handle, void** buffer, size_t* count, bool roots) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr || count == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  std::vector<Node*> nodes;
  if (!graph->Order(&nodes) && !roots) return kInvalidValue;
  if (roots) {
    nodes.erase(
        std::remove_if(nodes.begin(), nodes.end(),
                       [](const Node* n) { return !n->before.empty(); }),
        nodes.end());
  }
  return GiveOut(nodes, buffer, count);
}

int GetEdges(void* handle, void** from, void** to, size_t* count) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr || count == nullptr ||
      (from == nullptr) != (to == nullptr)) {
    return kInvalidValue;
  }
  std::lock_guard<std::mutex> lock(CaptureMutex());
  std::vector<Node*> froms, tos;
  for (const auto& node : graph->nodes) {
    for (Node* next : node->after) {
      froms.push_back(node.get());
      tos.push_back(next);
    }
  }
  size_t same = *count;
  GiveOut(froms, from, &same);
  return GiveOut(tos, to, count);
}

int GetNeighbours(void* handle, void** buffer, size_t* count,
                  std::vector<Node*> Node::* side) {
  if (count == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const Node* node = FindNode(handle);
  return node == nullptr ? int{kInvalidValue}
                         : GiveOut(node->*side, buffer, count);
}

bool HasEdge(const Node* from, const Node* to) {
  return std::find(from->after.begin(), from->after.end(), to) !=
         from->after.end();
}

// All edges or none.
int ChangeEdges(void* handle, const void* const* from, const void* const* to,
                size_t count, bool add) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr) return kInvalidValue;
  if (count == 0) return kSuccess;
  if (from == nullptr || to == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  for (size_t n = 0; n < count; ++n) {
    Node *f = FindNode(from[n]), *t = FindNode(to[n]);
    if (f == nullptr || t == nullptr || f == t || f->graph != graph.get() ||
        t->graph != graph.get() || HasEdge(f, t) == add) {
      return kInvalidValue;
    }
  }
  for (size_t n = 0; n < count; ++n) {
    Node *f = FindNode(from[n]), *t = FindNode(to[n]);
    if (!add) {
      graph->Disconnect(f, t);
    } else if (!HasEdge(f, t)) {
      graph->Connect(f, t);
    }
  }
  return kSuccess;
}

int CloneGraph(void** out, void* handle) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr || out == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  std::vector<Node*> twins;
  std::shared_ptr<Graph> copy = graph->Clone(&twins);
  for (size_t n = 0; n < twins.size(); ++n)
    copy->originals[graph->nodes[n].get()] = twins[n];
  *out = R().graphs.Add(std::move(copy));
  return kSuccess;
}

int FindInClone(void** out, void* original, void* handle) {
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr || out == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const auto it = graph->originals.find(original);
  if (it == graph->originals.end() || FindNode(it->second) == nullptr)
    return kInvalidValue;
  *out = it->second;
  return kSuccess;
}

int DestroyNode(void* handle) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  Node* node = FindNode(handle);
  if (node == nullptr) return kInvalidValue;
  if (std::holds_alternative<AllocateOp>(node->operation) ||
      std::holds_alternative<FreeOp>(node->operation)) {
    return kNotSupported;
  }
  node->graph->Remove(node);
  return kSuccess;
}

}  // namespace

INGOT_HIP_EXPORT int hipGraphCreate(void** graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return Done(kInvalidValue);
  *graph = R().graphs.Add(std::make_shared<Graph>());
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipGraphDestroy(void* graph) {
  if (graph == nullptr) return Done(kInvalidValue);
  return Done(R().graphs.Drop(graph) != nullptr ? kSuccess : kIllegalState);
}
INGOT_HIP_EXPORT int hipGraphClone(void** clone, void* graph) {
  return Done(CloneGraph(clone, graph));
}
INGOT_HIP_EXPORT int hipGraphNodeFindInClone(void** node, void* original,
                                             void* clone) {
  return Done(FindInClone(node, original, clone));
}
INGOT_HIP_EXPORT int hipGraphGetNodes(void* graph, void** nodes,
                                      size_t* count) {
  return Done(GetNodes(graph, nodes, count, false));
}
INGOT_HIP_EXPORT int hipGraphGetRootNodes(void* graph, void** nodes,
                                          size_t* count) {
  return Done(GetNodes(graph, nodes, count, true));
}
INGOT_HIP_EXPORT int hipGraphGetEdges(void* graph, void** from, void** to,
                                      size_t* count) {
  return Done(GetEdges(graph, from, to, count));
}
INGOT_HIP_EXPORT int hipGraphNodeGetDependencies(void* node, void** nodes,
                                                 size_t* count) {
  return Done(GetNeighbours(node, nodes, count, &Node::before));
}
INGOT_HIP_EXPORT int hipGraphNodeGetDependentNodes(void* node, void** nodes,
                                                   size_t* count) {
  return Done(GetNeighbours(node, nodes, count, &Node::after));
}
INGOT_HIP_EXPORT int hipGraphAddDependencies(void* graph,
                                             const void* const* from,
                                             const void* const* to,
                                             size_t count) {
  return Done(ChangeEdges(graph, from, to, count, true));
}
INGOT_HIP_EXPORT int hipGraphRemoveDependencies(void* graph,
                                                const void* const* from,
                                                const void* const* to,
                                                size_t count) {
  return Done(ChangeEdges(graph, from, to, count, false));
}
INGOT_HIP_EXPORT int hipGraphDestroyNode(void* node) {
  return Done(DestroyNode(node));
}
INGOT_HIP_EXPORT int hipGraphNodeGetType(void* handle, int* type) {
  if (type == nullptr) return Done(kInvalidValue);
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const Node* node = FindNode(handle);
  if (node == nullptr) return Done(kInvalidValue);
  *type = NodeType(node->operation);
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
