// Who owns which memory: the devices, the host, the caller.
#ifndef TESTS_EMULATOR_HIP_ALLOCATIONS_H_
#define TESTS_EMULATOR_HIP_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tests/emulator/memory_map.h"

namespace ingot::emulator::hip {

struct Pool;

struct Allocation {
  uint64_t begin = 0;
  size_t bytes = 0;
  MemoryMap::Kind kind = MemoryMap::Kind::kDevice;
  int device = 0;         // the owner, or the current device for host memory
  unsigned flags = 0;     // as given to the allocating call
  uint64_t id = 0;        // never used twice
  Pool* pool = nullptr;   // of stream-ordered memory
  bool image = false;     // globals of a module
  bool to_free = false;   // a stream-ordered free is under way
  bool in_graph = false;  // belongs to a graph's allocation node

  uint64_t end() const { return begin + bytes; }
  bool on_host() const {
    return kind == MemoryMap::Kind::kHost ||
           kind == MemoryMap::Kind::kRegistered;
  }
};

// All memory that HIP calls know. Device memory is entered in its device's
// MemoryMap, everything else in one that every device includes. Thread-safe.
class Allocations {
 public:
  // The map of host, managed and registered memory.
  MemoryMap& shared_map() { return shared_; }

  // Null when the device or this machine has too little memory. The fields
  // `begin` and `id` of `wanted` are filled in.
  void* Allocate(Allocation wanted);
  // Enters the caller's memory; false when it overlaps memory known already.
  bool Register(void* pointer, Allocation about);
  // Ends an allocation or registration that begins at `pointer`.
  bool Release(void* pointer);

  // The allocation that `pointer` lies in.
  std::optional<Allocation> Find(const void* pointer) const;
  // The starts of what a device's callers allocated on it.
  std::vector<void*> OwnedBy(int device) const;
  // Like Find, for the start of an allocation that may be freed now; marks it
  // so that no one frees it again.
  std::optional<Allocation> BeginFree(const void* pointer);
  // False when [pointer, pointer + bytes) starts in known memory and leaves it.
  bool Fits(const void* pointer, size_t bytes) const;

  uint64_t used(int device) const;
  // What graphs own on a device: now, and the most there was.
  std::pair<uint64_t, uint64_t> graph_bytes(int device) const;

 private:
  MemoryMap& MapOf(const Allocation& allocation);

  MemoryMap shared_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> live_;
  std::map<int, uint64_t> used_;
  std::map<int, std::pair<uint64_t, uint64_t>> graphs_;
  uint64_t next_id_ = 1;
};

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_ALLOCATIONS_H_
