// Memory pools: what stream-ordered allocations are counted in.
#ifndef TESTS_EMULATOR_HIP_POOL_H_
#define TESTS_EMULATOR_HIP_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace ingot::emulator::hip {

// What a hipMemPool_t stands for. Memory goes back to the device as soon as it
// is freed, so reserved and used memory are the same. Thread-safe.
struct Pool {
  explicit Pool(int d) : device(d) {}
  void Took(size_t bytes);
  void GaveBack(size_t bytes);

  const int device;
  std::mutex mutex;
  uint64_t used = 0, high = 0;
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // the three reuse policies, as set
};

// The pool that hipMallocAsync of a device uses.
std::shared_ptr<Pool> CurrentPool(int device);

// Frees stream-ordered memory whose turn has come.
void ReleaseToPool(void* pointer);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_POOL_H_
