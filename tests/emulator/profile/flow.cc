#include "tests/emulator/profile/flow.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ingot::profile {
namespace {

using Program = std::map<uint64_t, Executed>;

struct Edge {
  int to = 0;
  uint64_t count = 0;
};

struct Block {
  std::vector<uint64_t> offsets;
  std::vector<Edge> next;
  std::vector<int> previous;
};

class Graph {
 public:
  explicit Graph(const Recording& recording) : recording_(recording) {
    FindLeaders();
    MakeBlocks();
    for (const auto& [jump, count] : recording_.jumps) {
      Connect(by_last_.at(jump.first), jump.second, count);
    }
    for (int block = 0; block < size(); ++block) FallThrough(block);
  }

  int size() const { return static_cast<int>(blocks_.size()); }
  const Block& at(int block) const { return blocks_[block]; }
  // The block that begins at `offset`, which is executed.
  int BlockAt(uint64_t offset) const { return by_first_.at(offset); }

 private:
  uint64_t After(Program::const_iterator at) const {
    return at->first + at->second.inst->size;
  }

  void FindLeaders() {
    leaders_ = recording_.functions;
    for (const auto& [jump, count] : recording_.jumps) {
      leaders_.insert(jump.second);
      leaders_.insert(After(recording_.program.find(jump.first)));
    }
  }

  void MakeBlocks() {
    uint64_t expected = ~uint64_t{0};
    for (auto at = recording_.program.begin(); at != recording_.program.end();
         ++at) {
      if (at->first != expected || leaders_.contains(at->first)) {
        by_first_[at->first] = size();
        blocks_.emplace_back();
      }
      blocks_.back().offsets.push_back(at->first);
      by_last_[at->first] = size() - 1;
      expected = at->second.facts.ends ? ~uint64_t{0} : After(at);
    }
  }

  void Connect(int from, uint64_t offset, uint64_t count) {
    const auto to = by_first_.find(offset);
    if (to == by_first_.end()) return;
    blocks_[from].next.push_back({to->second, count});
    blocks_[to->second].previous.push_back(from);
  }

  // What did not jump went on; a call comes back behind itself.
  void FallThrough(int block) {
    const auto last = recording_.program.find(blocks_[block].offsets.back());
    if (!last->second.facts.goes_on) return;
    uint64_t jumped = 0;
    for (const Edge& edge : blocks_[block].next) jumped += edge.count;
    const uint64_t count = last->second.count - jumped;
    if (count > 0) Connect(block, After(last), count);
  }

  const Recording& recording_;
  std::set<uint64_t> leaders_;
  std::vector<Block> blocks_;
  std::map<uint64_t, int> by_first_;
  std::map<uint64_t, int> by_last_;  // any instruction to its block
};

// The part of the graph that is reached from one function's start.
class Function {
 public:
  Function(const Graph& graph, int entry) : graph_(graph) {
    position_.assign(static_cast<size_t>(graph.size()), -1);
    Order(entry);
    FindDominators();
  }

  struct BackEdge {
    int from, to;
    uint64_t count;
  };
  // Jumps to a block that dominates them; others against the order go to
  // *irreducible.
  std::vector<BackEdge> BackEdges(int* irreducible) const {
    std::vector<BackEdge> found;
    for (const int block : order_) {
      for (const Edge& edge : graph_.at(block).next) {
        if (Dominates(edge.to, block)) {
          found.push_back({block, edge.to, edge.count});
        } else if (position_[edge.to] <= position_[block]) {
          ++*irreducible;
        }
      }
    }
    return found;
  }

  bool Has(int block) const { return position_[block] >= 0; }

 private:
  // Reverse postorder, without recursion.
  void Order(int entry) {
    std::vector<std::pair<int, size_t>> stack = {{entry, 0}};
    std::vector<bool> seen(position_.size(), false);
    seen[entry] = true;
    while (!stack.empty()) {
      auto& [block, edge] = stack.back();
      const std::vector<Edge>& next = graph_.at(block).next;
      if (edge == next.size()) {
        order_.push_back(block);
        stack.pop_back();
        continue;
      }
      const int to = next[edge++].to;
      if (!seen[to]) {
        seen[to] = true;
        stack.push_back({to, 0});
      }
    }
    std::reverse(order_.begin(), order_.end());
    for (size_t n = 0; n < order_.size(); ++n) {
      position_[order_[n]] = static_cast<int>(n);
    }
  }

  // Each block's immediate dominator, as positions, by the iteration of Cooper,
  // Harvey and Kennedy.
  void FindDominators() {
    dominator_.assign(order_.size(), -1);
    dominator_[0] = 0;
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t n = 1; n < order_.size(); ++n) {
        int best = -1;
        for (const int previous : graph_.at(order_[n]).previous) {
          const int at = position_[previous];
          if (at < 0 || dominator_[at] < 0) continue;
          best = best < 0 ? at : Common(best, at);
        }
        changed = changed || dominator_[n] != best;
        dominator_[n] = best;
      }
    }
  }
  int Common(int a, int b) const {
    while (a != b) {
      while (a > b) a = dominator_[a];
      while (b > a) b = dominator_[b];
    }
    return a;
  }
  bool Dominates(int over, int block) const {
    const int wanted = position_[over];
    int at = position_[block];
    while (at > wanted) at = dominator_[at];
    return at == wanted;
  }

  const Graph& graph_;
  std::vector<int> order_;
  std::vector<int> position_;   // in order_, by block; -1: not reached
  std::vector<int> dominator_;  // by position
};

// The blocks that reach `from` without passing `header`, and both.
void Collect(const Graph& graph, const Function& function, int header, int from,
             std::set<int>* blocks) {
  blocks->insert(header);
  std::vector<int> open = {from};
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    if (!blocks->insert(block).second) continue;
    for (const int previous : graph.at(block).previous) {
      if (function.Has(previous)) open.push_back(previous);
    }
  }
}

struct Found {
  std::set<int> blocks;
  uint64_t back = 0;  // jumps back to the header
};

Loop MakeLoop(const Graph& graph, const Recording& recording, int header,
              const Found& found) {
  Loop loop;
  loop.header = graph.at(header).offsets.front();
  for (const int block : found.blocks) {
    const std::vector<uint64_t>& offsets = graph.at(block).offsets;
    loop.offsets.insert(loop.offsets.end(), offsets.begin(), offsets.end());
  }
  loop.calls = std::any_of(loop.offsets.begin(), loop.offsets.end(),
                           [&](uint64_t offset) {
                             return recording.program.at(offset).facts.calls;
                           });
  std::sort(loop.offsets.begin(), loop.offsets.end());
  loop.iterations = recording.program.at(loop.header).count;
  loop.entries = loop.iterations - found.back;
  return loop;
}

// The index of the smallest of the first `count` loops, which are sorted from
// large to small, that has `header`; -1 when none has.
int Around(const std::vector<Loop>& loops, size_t count, uint64_t header) {
  for (size_t n = count; n-- > 0;) {
    const std::vector<uint64_t>& offsets = loops[n].offsets;
    if (std::binary_search(offsets.begin(), offsets.end(), header)) {
      return static_cast<int>(n);
    }
  }
  return -1;
}

// Appends the loops whose parent is `parent`, and behind each what is in it.
void AppendInside(const std::vector<Loop>& from, int parent, int parent_in_to,
                  int depth, std::vector<Loop>* to) {
  for (size_t n = 0; n < from.size(); ++n) {
    if (from[n].parent != parent) continue;
    const int index = static_cast<int>(to->size());
    to->push_back(from[n]);
    to->back().parent = parent_in_to;
    to->back().depth = depth;
    AppendInside(from, static_cast<int>(n), index, depth + 1, to);
  }
}

std::vector<Loop> Nested(std::vector<Loop> loops) {
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) {
                     return a.offsets.size() > b.offsets.size();
                   });
  for (size_t n = 0; n < loops.size(); ++n) {
    loops[n].parent = Around(loops, n, loops[n].header);
  }
  std::vector<Loop> nested;
  AppendInside(loops, -1, -1, 0, &nested);
  return nested;
}

}  // namespace

Flow FlowOf(const Recording& recording) {
  Flow flow;
  const Graph graph(recording);
  flow.blocks = graph.size();
  std::map<int, Found> by_header;
  for (const uint64_t start : recording.functions) {
    if (!recording.program.contains(start)) continue;
    const Function function(graph, graph.BlockAt(start));
    std::map<int, Found> found;
    for (const Function::BackEdge& edge :
         function.BackEdges(&flow.irreducible)) {
      Found& loop = found[edge.to];
      loop.back += edge.count;
      Collect(graph, function, edge.to, edge.from, &loop.blocks);
    }
    // A block that several functions share is looked at once.
    by_header.merge(found);
  }
  for (const auto& [header, found] : by_header) {
    flow.loops.push_back(MakeLoop(graph, recording, header, found));
  }
  flow.loops = Nested(std::move(flow.loops));
  return flow;
}

}  // namespace ingot::profile
