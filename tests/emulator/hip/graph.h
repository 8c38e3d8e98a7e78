// Graphs and their instances.
#ifndef TESTS_EMULATOR_HIP_GRAPH_H_
#define TESTS_EMULATOR_HIP_GRAPH_H_

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "tests/emulator/hip/operation.h"

namespace ingot::emulator::hip {

// What a hipGraphNode_t stands for.
struct Node {
  Graph* graph = nullptr;
  Operation operation;
  std::vector<Node*> before, after;
  std::vector<void*> parameters;  // scratch of hipGraphKernelNodeGetParams
};

// What a hipGraph_t stands for. All under CaptureMutex().
struct Graph {
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  // `before` must be nodes of this graph.
  Node* Add(Operation operation, const std::vector<Node*>& before);
  void Connect(Node* from, Node* to);
  // False when there is no such edge.
  bool Disconnect(Node* from, Node* to);
  void Remove(Node* node);
  // False when the graph has a cycle. The order of creation where it is free.
  bool Order(std::vector<Node*>* order) const;
  // A copy of all; `twins`, if given, receives each node's copy in order.
  std::shared_ptr<Graph> Clone(std::vector<Node*>* twins = nullptr) const;

  std::vector<std::unique_ptr<Node>> nodes;
  bool instantiated = false;
  std::map<const void*, Node*> originals;  // of a clone: whose copies
};

// The node that a handle means; null when it is not live. CaptureMutex() held.
Node* FindNode(const void* handle);
// All handles of a list, each a node of `graph` and none twice.
bool FindNodes(const void* const* handles, size_t count, const Graph* graph,
               std::vector<Node*>* nodes);

// One operation of an instance, in an order that can be run.
struct Step {
  const void* node = nullptr;  // of the graph that was instantiated
  Operation operation;
  std::vector<size_t> before;  // earlier steps
  bool enabled = true;
};
using Steps = std::vector<Step>;
// False when the graph has a cycle.
bool MakeSteps(const Graph& graph, Steps* steps);

// What a hipGraphExec_t stands for. A launch runs the steps there were at the
// call, so they are replaced and never changed. Under CaptureMutex().
struct GraphExec {
  std::shared_ptr<const Steps> steps;
  unsigned long long flags = 0;
  CompletionPtr last;  // launches of one instance do not overlap
};

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_GRAPH_H_
