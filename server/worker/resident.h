// How much memory this process holds, for the daemon's figures and for a worker
// to say when it should be recycled.
#ifndef INGOT_SERVER_WORKER_RESIDENT_H_
#define INGOT_SERVER_WORKER_RESIDENT_H_

#include <cstdint>

namespace ingot {

// Resident bytes of the calling process; 0 where /proc does not tell.
uint64_t ResidentBytes();

}  // namespace ingot

#endif  // INGOT_SERVER_WORKER_RESIDENT_H_
