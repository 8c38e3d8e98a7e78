#include "compiler/tile/issue_order.h"

#include <algorithm>

namespace ingot::tile {

void Interleave(const std::vector<Emit>& main, const std::vector<Emit>& side) {
  size_t emitted = 0;
  for (size_t i = 0; i < main.size(); ++i) {
    // Side operations that belong before main operation i, rounded up.
    const size_t due = ((i + 1) * side.size() + main.size() - 1) / main.size();
    while (emitted < due) side[emitted++]();
    main[i]();
  }
  while (emitted < side.size()) side[emitted++]();
}

int LoadCounter::LeftAfter(int step, int most) const {
  const auto last = std::find_if(steps_.rbegin(), steps_.rend(),
                                 [&](int issued) { return issued <= step; });
  return static_cast<int>(
      std::min<ptrdiff_t>(most, std::distance(steps_.rbegin(), last)));
}

}  // namespace ingot::tile
