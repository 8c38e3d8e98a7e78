// Which kernels of a plan a caller wants, and whether they are here.
#ifndef INGOT_CLIENT_SRC_FETCH_H_
#define INGOT_CLIENT_SRC_FETCH_H_

#include <cstdint>

#include "client/include/ingot/ingot.h"
#include "client/src/prepared.h"

namespace ingot::client {

// Whether `fetched` holds what INGOT_FETCH_* `fetch` asks for: objects, or
// without `bytes` at least their records.
bool Suffices(const FetchedPlan& fetched, const ingot_spec& spec,
              uint32_t fetch, bool bytes);

// Whether recipe and record of every kernel that is known agree on how it is
// launched. INTERNAL naming the kernel.
Status CheckContracts(const FetchedPlan& fetched);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_FETCH_H_
