// The order in which a pipelined loop issues its instructions, worked out in
// the generator: side operations spread among MFMAs, and what an s_waitcnt may
// leave outstanding, by counting what was issued since. Nothing here touches
// MLIR.
#ifndef INGOT_COMPILER_TILE_ISSUE_ORDER_H_
#define INGOT_COMPILER_TILE_ISSUE_ORDER_H_

#include <cstddef>
#include <functional>
#include <vector>

namespace ingot::tile {

using Emit = std::function<void()>;

// Runs all of both lists, each in its order, the side operations spread evenly
// and as early as that allows.
void Interleave(const std::vector<Emit>& main, const std::vector<Emit>& side);

// Loads that complete in order and are waited for by how many may be left.
class LoadCounter {
 public:
  // A load that belongs to `step` was issued. Steps are issued in order.
  void Issued(int step) { steps_.push_back(step); }
  // How many younger loads may stay outstanding when everything up to and with
  // `step` must have landed; at most `most`, the counter's largest value.
  int LeftAfter(int step, int most = 63) const;

 private:
  std::vector<int> steps_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_ISSUE_ORDER_H_
