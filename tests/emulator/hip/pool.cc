// Stream-ordered memory and its pools.
#include "tests/emulator/hip/pool.h"

#include <algorithm>
#include <map>

#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// hipMemPoolAttr.
enum PoolAttribute : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kReleaseThreshold = 4,
  kReservedCurrent = 5,
  kReservedHigh = 6,
  kUsedCurrent = 7,
  kUsedHigh = 8,
};

// Each device's default pool and the one in use.
struct DevicePools {
  std::mutex mutex;
  std::map<int, std::shared_ptr<Pool>> standard, current;
};
DevicePools& Pools() {
  static auto* const pools = new DevicePools;
  return *pools;
}

std::shared_ptr<Pool> StandardPool(int device) {
  DevicePools& p = Pools();
  std::lock_guard<std::mutex> lock(p.mutex);
  std::shared_ptr<Pool>& pool = p.standard[device];
  if (pool == nullptr) {
    pool = std::make_shared<Pool>(device);
    R().pools.Add(pool);
  }
  return pool;
}

// Inside a capture: a node whose memory belongs to the graph.
int CaptureAllocation(void** out, size_t bytes, int device,
                      const StreamPtr& stream) {
  auto memory = std::make_shared<GraphMemory>();
  Allocation wanted;
  wanted.bytes = memory->bytes = bytes;
  wanted.device = memory->device = device;
  wanted.in_graph = true;
  memory->pointer = R().allocations.Allocate(wanted);
  if (memory->pointer == nullptr) return kOutOfMemory;
  void* const pointer = memory->pointer;
  const int error = Enqueue(stream, AllocateOp{std::move(memory)});
  if (error == kSuccess) *out = pointer;
  return error;
}

bool Capturing(const StreamPtr& stream) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  return stream->capture != nullptr;
}

int NewInStream(void** out, size_t bytes, std::shared_ptr<Pool> pool,
                void* handle) {
  if (out == nullptr) return kInvalidValue;
  *out = nullptr;
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  if (bytes == 0) return kSuccess;
  if (pool == nullptr) pool = CurrentPool(stream->device);
  if (Capturing(stream))
    return CaptureAllocation(out, bytes, pool->device, stream);
  Allocation wanted;
  wanted.bytes = bytes;
  wanted.device = pool->device;
  wanted.pool = pool.get();
  *out = R().allocations.Allocate(wanted);
  if (*out == nullptr) return kOutOfMemory;
  pool->Took(bytes);
  return kSuccess;
}

int FreeInStream(void* pointer, void* handle) {
  if (pointer == nullptr) return kSuccess;
  StreamPtr stream;
  if (const int error = FindStream(handle, &stream); error != kSuccess)
    return error;
  const auto known = R().allocations.Find(pointer);
  if (!known.has_value() ||
      known->begin != reinterpret_cast<uint64_t>(pointer)) {
    return kInvalidValue;
  }
  // A graph may only free what a graph allocated.
  if (Capturing(stream) && !known->in_graph) return kInvalidValue;
  if (!known->in_graph && !R().allocations.BeginFree(pointer).has_value())
    return kInvalidValue;
  return Enqueue(stream, FreeOp{pointer});
}

int NewPool(void** out, const PoolProperties* properties) {
  if (out == nullptr || properties == nullptr ||
      properties->allocation_type != 1 || properties->location.type != 1) {
    return kInvalidValue;
  }
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  if (!R().valid_device(properties->location.id)) return kInvalidValue;
  if (properties->handle_types != 0) return kNotSupported;  // shared pools
  *out = R().pools.Add(std::make_shared<Pool>(properties->location.id));
  return kSuccess;
}

int DestroyPool(void* handle) {
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  const std::shared_ptr<Pool> pool = R().pools.Find(handle);
  if (pool == nullptr || pool == StandardPool(pool->device))
    return kInvalidValue;
  {
    DevicePools& p = Pools();
    std::lock_guard<std::mutex> lock(p.mutex);
    if (p.current[pool->device] == pool) p.current.erase(pool->device);
  }
  // Memory of the pool still refers to it: it stays until the process ends.
  std::lock_guard<std::mutex> lock(pool->mutex);
  if (pool->used == 0) R().pools.Drop(handle);
  return kSuccess;
}

int SetPool(int device, void* handle) {
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  const std::shared_ptr<Pool> pool = R().pools.Find(handle);
  if (!R().valid_device(device)) return kInvalidDevice;
  if (pool == nullptr || pool->device != device) return kInvalidValue;
  DevicePools& p = Pools();
  std::lock_guard<std::mutex> lock(p.mutex);
  p.current[device] = pool;
  return kSuccess;
}

int GetAttribute(void* handle, int attribute, void* value) {
  const std::shared_ptr<Pool> pool = R().pools.Find(handle);
  if (pool == nullptr || value == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(pool->mutex);
  auto* const number = static_cast<uint64_t*>(value);
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    *static_cast<int*>(value) = pool->reuse[attribute - kReuseFirst];
  } else if (attribute == kReleaseThreshold) {
    *number = pool->release_threshold;
  } else if (attribute == kReservedCurrent || attribute == kUsedCurrent) {
    *number = pool->used;
  } else if (attribute == kReservedHigh || attribute == kUsedHigh) {
    *number = pool->high;
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}

int SetAttribute(void* handle, int attribute, const void* value) {
  const std::shared_ptr<Pool> pool = R().pools.Find(handle);
  if (pool == nullptr || value == nullptr) return kInvalidValue;
  std::lock_guard<std::mutex> lock(pool->mutex);
  const uint64_t number =
      attribute <= kReuseLast ? 0 : *static_cast<const uint64_t*>(value);
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    pool->reuse[attribute - kReuseFirst] = *static_cast<const int*>(value);
  } else if (attribute == kReleaseThreshold) {
    pool->release_threshold = number;
  } else if (attribute == kReservedHigh || attribute == kUsedHigh) {
    if (number != 0) return kInvalidValue;  // it can only be reset
    pool->high = pool->used;
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}

}  // namespace

void Pool::Took(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  used += bytes;
  high = std::max(high, used);
}

void Pool::GaveBack(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  used -= bytes;
}

std::shared_ptr<Pool> CurrentPool(int device) {
  {
    DevicePools& p = Pools();
    std::lock_guard<std::mutex> lock(p.mutex);
    const auto it = p.current.find(device);
    if (it != p.current.end() && it->second != nullptr) return it->second;
  }
  return StandardPool(device);
}

void ReleaseToPool(void* pointer) {
  const auto known = R().allocations.Find(pointer);
  if (!known.has_value() || !R().allocations.Release(pointer)) return;
  if (known->pool != nullptr) known->pool->GaveBack(known->bytes);
}

INGOT_HIP_EXPORT int hipMallocAsync(void** p, size_t n, void* stream) {
  return Done(NewInStream(p, n, nullptr, stream));
}
INGOT_HIP_EXPORT int hipMallocFromPoolAsync(void** p, size_t n, void* pool,
                                            void* stream) {
  const std::shared_ptr<Pool> found = R().pools.Find(pool);
  return Done(found == nullptr ? int{kInvalidValue}
                               : NewInStream(p, n, found, stream));
}
INGOT_HIP_EXPORT int hipFreeAsync(void* p, void* stream) {
  return Done(FreeInStream(p, stream));
}

INGOT_HIP_EXPORT int hipMemPoolCreate(void** pool,
                                      const PoolProperties* properties) {
  return Done(NewPool(pool, properties));
}
INGOT_HIP_EXPORT int hipMemPoolDestroy(void* pool) {
  return Done(DestroyPool(pool));
}
INGOT_HIP_EXPORT int hipDeviceGetDefaultMemPool(void** pool, int device) {
  if (pool == nullptr) return Done(kInvalidValue);
  if (!R().valid_device(device)) return Done(kInvalidDevice);
  *pool = StandardPool(device).get();
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDeviceGetMemPool(void** pool, int device) {
  if (pool == nullptr) return Done(kInvalidValue);
  if (!R().valid_device(device)) return Done(kInvalidDevice);
  *pool = CurrentPool(device).get();
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDeviceSetMemPool(int device, void* pool) {
  return Done(SetPool(device, pool));
}
INGOT_HIP_EXPORT int hipMemPoolGetAttribute(void* pool, int attribute,
                                            void* value) {
  return Done(GetAttribute(pool, attribute, value));
}
INGOT_HIP_EXPORT int hipMemPoolSetAttribute(void* pool, int attribute,
                                            void* value) {
  return Done(SetAttribute(pool, attribute, value));
}
// Nothing is kept that could be trimmed.
INGOT_HIP_EXPORT int hipMemPoolTrimTo(void* pool, size_t) {
  return Done(R().pools.Find(pool) == nullptr ? kInvalidValue : kSuccess);
}
// What graphs own: used and reserved memory, now and at its highest, as one.
INGOT_HIP_EXPORT int hipDeviceGetGraphMemAttribute(int device, int attribute,
                                                   void* value) {
  if (value == nullptr || attribute < 0 || attribute > 3)
    return Done(kInvalidValue);
  if (!R().valid_device(device)) return Done(kInvalidDevice);
  const auto [now, highest] = R().allocations.graph_bytes(device);
  *static_cast<uint64_t*>(value) = attribute % 2 == 0 ? now : highest;
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDeviceGraphMemTrim(int device) {
  return Done(R().valid_device(device) ? kSuccess : kInvalidDevice);
}

// Peers reach a pool's memory by hipDeviceEnablePeerAccess alone.
INGOT_HIP_EXPORT int hipMemPoolSetAccess(void*, const MemoryAccess*, size_t) {
  return Done(kNotSupported);
}
INGOT_HIP_EXPORT int hipMemPoolGetAccess(int* flags, void* pool,
                                         MemoryLocation* location) {
  const std::shared_ptr<Pool> found = R().pools.Find(pool);
  if (found == nullptr || flags == nullptr || location == nullptr ||
      !R().valid_device(location->id)) {
    return Done(kInvalidValue);
  }
  *flags = location->id == found->device ? 3 : 0;
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
