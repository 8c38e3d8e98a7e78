#include "tests/emulator/access.h"

namespace ingot::emulator {

void AccessList::SpellOut() const {
  for (uint64_t todo = row_[0].lanes; todo != 0; todo &= todo - 1) {
    const int lane = __builtin_ctzll(todo);
    for (int n = 0; n < rows_; ++n) list_[count_++] = row_[n][lane];
  }
}

}  // namespace ingot::emulator
