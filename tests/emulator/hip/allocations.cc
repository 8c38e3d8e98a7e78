#include "tests/emulator/hip/allocations.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

using Kind = MemoryMap::Kind;

uint64_t Address(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// What this machine can give without swapping; fresh memory is written to.
uint64_t AvailableOnThisMachine() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return ~uint64_t{0};
  char line[128];
  uint64_t kib = ~uint64_t{0} / 1024;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) break;
  }
  std::fclose(file);
  return kib * 1024;
}

constexpr size_t kWorthAsking = size_t{256} << 20;

}  // namespace

MemoryMap& Allocations::MapOf(const Allocation& allocation) {
  return allocation.kind == Kind::kDevice
             ? Runtime::Get().device(allocation.device).emulated.memory()
             : shared_;
}

void* Allocations::Allocate(Allocation wanted) {
  if (wanted.bytes > kMemoryBytes) return nullptr;
  if (wanted.kind == Kind::kDevice &&
      wanted.bytes > kMemoryBytes - used(wanted.device)) {
    return nullptr;
  }
  if (wanted.bytes > kWorthAsking && wanted.bytes > AvailableOnThisMachine())
    return nullptr;
  void* const pointer = MapOf(wanted).Allocate(wanted.bytes, wanted.kind);
  if (pointer == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  wanted.begin = Address(pointer);
  wanted.id = next_id_++;
  live_[wanted.begin] = wanted;
  if (wanted.kind == Kind::kDevice) used_[wanted.device] += wanted.bytes;
  if (wanted.in_graph) {
    auto& [now, highest] = graphs_[wanted.device];
    now += wanted.bytes;
    highest = std::max(highest, now);
  }
  return pointer;
}

bool Allocations::Register(void* pointer, Allocation about) {
  if (Address(pointer) + about.bytes < Address(pointer)) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  about.begin = Address(pointer);
  about.id = next_id_++;
  const auto after = live_.lower_bound(about.begin);
  if (after != live_.end() && after->first < about.end()) return false;
  if (after != live_.begin() && std::prev(after)->second.end() > about.begin)
    return false;
  if (!MapOf(about).Register(pointer, about.bytes)) return false;
  live_[about.begin] = about;
  return true;
}

bool Allocations::Release(void* pointer) {
  Allocation gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = live_.find(Address(pointer));
    if (it == live_.end()) return false;
    gone = it->second;
    live_.erase(it);
    if (gone.kind == Kind::kDevice && !gone.image)
      used_[gone.device] -= gone.bytes;
    if (gone.in_graph) graphs_[gone.device].first -= gone.bytes;
  }
  MemoryMap& map = MapOf(gone);
  return gone.image || gone.kind == Kind::kRegistered ? map.Unregister(pointer)
                                                      : map.Free(pointer);
}

std::vector<void*> Allocations::OwnedBy(int device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<void*> all;
  for (const auto& [begin, a] : live_) {
    if (a.device == device && a.kind == Kind::kDevice && !a.image &&
        !a.in_graph) {
      all.push_back(reinterpret_cast<void*>(begin));
    }
  }
  return all;
}

std::optional<Allocation> Allocations::Find(const void* pointer) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = live_.upper_bound(Address(pointer));
  if (it == live_.begin()) return std::nullopt;
  --it;
  if (Address(pointer) >= it->second.end()) return std::nullopt;
  return it->second;
}

std::optional<Allocation> Allocations::BeginFree(const void* pointer) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.find(Address(pointer));
  if (it == live_.end()) return std::nullopt;
  Allocation& a = it->second;
  if (a.to_free || a.image || a.kind == Kind::kRegistered) return std::nullopt;
  a.to_free = true;
  return a;
}

bool Allocations::Fits(const void* pointer, size_t bytes) const {
  const std::optional<Allocation> a = Find(pointer);
  return !a.has_value() || a->end() - Address(pointer) >= bytes;
}

std::pair<uint64_t, uint64_t> Allocations::graph_bytes(int device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = graphs_.find(device);
  return it == graphs_.end() ? std::pair<uint64_t, uint64_t>() : it->second;
}

uint64_t Allocations::used(int device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = used_.find(device);
  return it == used_.end() ? 0 : it->second;
}

}  // namespace ingot::emulator::hip
