#include "tests/emulator/hip/graph.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// Every node that lives. CaptureMutex() held, but for graphs that no handle
// reaches any more: so it has a lock of its own.
class LiveNodes {
 public:
  void Add(Node* node) {
    std::lock_guard<std::mutex> lock(mutex_);
    live_.insert(node);
  }
  void Drop(Node* node) {
    std::lock_guard<std::mutex> lock(mutex_);
    live_.erase(node);
  }
  Node* Find(const void* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = live_.find(handle);
    return it == live_.end() ? nullptr
                             : static_cast<Node*>(const_cast<void*>(*it));
  }

 private:
  std::mutex mutex_;
  std::set<const void*> live_;
};

LiveNodes& Live() {
  static auto* const live = new LiveNodes;
  return *live;
}

bool Erase(std::vector<Node*>* list, Node* node) {
  const auto it = std::find(list->begin(), list->end(), node);
  if (it == list->end()) return false;
  list->erase(it);
  return true;
}

// Instances and copies own what they run.
Operation Copied(const Operation& operation) {
  const auto* child = std::get_if<ChildOp>(&operation);
  if (child == nullptr) return operation;
  return ChildOp{child->graph->Clone()};
}

}  // namespace

Graph::~Graph() {
  for (const auto& node : nodes) Live().Drop(node.get());
}

Node* Graph::Add(Operation operation, const std::vector<Node*>& before) {
  Node* node = nodes.emplace_back(std::make_unique<Node>()).get();
  node->graph = this;
  node->operation = std::move(operation);
  for (Node* b : before) Connect(b, node);
  Live().Add(node);
  return node;
}

void Graph::Connect(Node* from, Node* to) {
  from->after.push_back(to);
  to->before.push_back(from);
}

bool Graph::Disconnect(Node* from, Node* to) {
  return Erase(&from->after, to) && Erase(&to->before, from);
}

void Graph::Remove(Node* node) {
  for (Node* b : node->before) Erase(&b->after, node);
  for (Node* a : node->after) Erase(&a->before, node);
  Live().Drop(node);
  nodes.erase(std::find_if(nodes.begin(), nodes.end(),
                           [node](const auto& n) { return n.get() == node; }));
}

bool Graph::Order(std::vector<Node*>* order) const {
  std::map<const Node*, size_t> missing;
  for (const auto& node : nodes) {
    missing[node.get()] = node->before.size();
    if (node->before.empty()) order->push_back(node.get());
  }
  for (size_t n = 0; n < order->size(); ++n) {
    for (Node* next : (*order)[n]->after) {
      if (--missing[next] == 0) order->push_back(next);
    }
  }
  return order->size() == nodes.size();
}

std::shared_ptr<Graph> Graph::Clone(std::vector<Node*>* twins) const {
  auto copy = std::make_shared<Graph>();
  std::map<const Node*, Node*> twin;
  for (const auto& node : nodes) {
    twin[node.get()] = copy->Add(Copied(node->operation), {});
    if (twins != nullptr) twins->push_back(twin[node.get()]);
  }
  for (const auto& node : nodes) {
    for (const Node* b : node->before) copy->Connect(twin[b], twin[node.get()]);
  }
  return copy;
}

Node* FindNode(const void* handle) { return Live().Find(handle); }

bool FindNodes(const void* const* handles, size_t count, const Graph* graph,
               std::vector<Node*>* nodes) {
  if (handles == nullptr) return count == 0;
  for (size_t n = 0; n < count; ++n) {
    Node* node = FindNode(handles[n]);
    if (node == nullptr || node->graph != graph ||
        std::find(nodes->begin(), nodes->end(), node) != nodes->end()) {
      return false;
    }
    nodes->push_back(node);
  }
  return true;
}

bool MakeSteps(const Graph& graph, Steps* steps) {
  std::vector<Node*> order;
  if (!graph.Order(&order)) return false;
  std::map<const Node*, size_t> place;
  for (const Node* node : order) {
    Step step{node, Copied(node->operation), {}};
    for (const Node* b : node->before) step.before.push_back(place[b]);
    std::sort(step.before.begin(), step.before.end());
    place[node] = steps->size();
    steps->push_back(std::move(step));
  }
  return true;
}

}  // namespace ingot::emulator::hip
