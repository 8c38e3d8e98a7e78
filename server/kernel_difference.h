// In which fields two kernels differ, for people who wonder about a miss.
#ifndef INGOT_SERVER_KERNEL_DIFFERENCE_H_
#define INGOT_SERVER_KERNEL_DIFFERENCE_H_

#include <string>
#include <vector>

#include "compiler/kernel_spec.h"

namespace ingot::server {

struct KernelDifference {
  std::string field;   // "param tile_m", "argument 3", "target"
  std::string wanted;  // as text; empty: it has none
  std::string stored;
};

// Every field that is part of a key; the name of the entry point only when
// nothing else differs.
std::vector<KernelDifference> DifferencesOf(const KernelSpec& wanted,
                                            const KernelSpec& stored);

}  // namespace ingot::server

#endif  // INGOT_SERVER_KERNEL_DIFFERENCE_H_
