// The order in which a pipelined loop issues its instructions, worked out in
// the generator. Nothing here touches MLIR.
#ifndef INGOT_COMPILER_TILE_ISSUE_ORDER_H_
#define INGOT_COMPILER_TILE_ISSUE_ORDER_H_

#include <cstddef>
#include <vector>

namespace ingot::tile {

// Both lists as one, each in its order, `side` spread evenly among `main` and
// as early as that allows.
template <typename T>
std::vector<T> Interleave(const std::vector<T>& main,
                          const std::vector<T>& side) {
  std::vector<T> all;
  size_t taken = 0;
  for (size_t i = 0; i < main.size(); ++i) {
    // What belongs before main[i], rounded up.
    const size_t due = ((i + 1) * side.size() + main.size() - 1) / main.size();
    while (taken < due) all.push_back(side[taken++]);
    all.push_back(main[i]);
  }
  while (taken < side.size()) all.push_back(side[taken++]);
  return all;
}

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_ISSUE_ORDER_H_
