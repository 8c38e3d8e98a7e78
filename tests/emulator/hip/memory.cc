// Memory: device, host, registered, managed; copies and fills. Device memory is
// host memory, so every copy is a checked memmove.
#include <cstdlib>
#include <cstring>

#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

using MemoryKind = MemoryMap::Kind;

Runtime& R() { return Runtime::Get(); }

int NewMemory(void** pointer, size_t bytes, MemoryKind kind) {
  const int device = CurrentDevice();
  if (pointer == nullptr) return kInvalidValue;
  *pointer = nullptr;
  if (!R().valid_device(device)) return kNoDevice;
  if (const int sticky = R().sticky(device); sticky != kSuccess) return sticky;
  if (bytes == 0) return kSuccess;
  if (bytes > kMemoryBytes) return kOutOfMemory;
  *pointer = R().device(device).memory().Allocate(bytes, kind);
  return *pointer != nullptr ? kSuccess : kOutOfMemory;
}

int FreeMemory(void* pointer) {
  if (pointer == nullptr) return kSuccess;
  for (int d = 0; d < R().device_count(); ++d) {
    if (R().device(d).memory().Free(pointer)) return kSuccess;
  }
  return kInvalidValue;
}

// Memory of any device; `*device` says whose.
bool Known(const void* pointer, size_t bytes, int* device, Interval* found,
           MemoryKind* kind) {
  for (int d = 0; d < R().device_count(); ++d) {
    if (R().device(d).memory().Contains(pointer, bytes, found, kind)) {
      *device = d;
      return true;
    }
  }
  return false;
}

// True unless the range starts inside device memory and leaves it. Plain host
// pointers are the caller's business.
bool RangeOk(const void* pointer, size_t bytes) {
  int device;
  Interval found;
  MemoryKind kind;
  if (!Known(pointer, 1, &device, &found, &kind)) return pointer != nullptr;
  return Known(pointer, bytes, &device, &found, &kind);
}

int Copy(void* to, const void* from, size_t bytes, void* stream) {
  int device;
  if (const int error = CheckStream(stream, &device); error != kSuccess)
    return error;
  if (bytes == 0) return kSuccess;
  if (!RangeOk(to, bytes) || !RangeOk(from, bytes)) return kInvalidValue;
  std::memmove(to, from, bytes);
  return kSuccess;
}

int Copy2d(void* to, size_t to_pitch, const void* from, size_t from_pitch,
           size_t width, size_t height, void* stream) {
  int device;
  if (const int error = CheckStream(stream, &device); error != kSuccess)
    return error;
  if (width > to_pitch || width > from_pitch) return kInvalidValue;
  for (size_t row = 0; row < height && width > 0; ++row) {
    char* t = static_cast<char*>(to) + row * to_pitch;
    const char* f = static_cast<const char*>(from) + row * from_pitch;
    if (!RangeOk(t, width) || !RangeOk(f, width)) return kInvalidValue;
    std::memmove(t, f, width);
  }
  return kSuccess;
}

template <class T>
int FillWith(void* to, T value, size_t count, void* stream) {
  int device;
  if (const int error = CheckStream(stream, &device); error != kSuccess)
    return error;
  if (count == 0) return kSuccess;
  if (!RangeOk(to, count * sizeof(T))) return kInvalidValue;
  char* at = static_cast<char*>(to);
  for (size_t n = 0; n < count; ++n)
    std::memcpy(at + n * sizeof(T), &value, sizeof(T));
  return kSuccess;
}

}  // namespace

INGOT_HIP_EXPORT int hipMalloc(void** p, size_t n) {
  return R().Set(NewMemory(p, n, MemoryKind::kDevice));
}
INGOT_HIP_EXPORT int hipExtMallocWithFlags(void** p, size_t n, unsigned) {
  return R().Set(NewMemory(p, n, MemoryKind::kDevice));
}
INGOT_HIP_EXPORT int hipMallocAsync(void** p, size_t n, void* stream) {
  int device;
  const int error = CheckStream(stream, &device);
  return R().Set(error != kSuccess ? error
                                   : NewMemory(p, n, MemoryKind::kDevice));
}
INGOT_HIP_EXPORT int hipMallocManaged(void** p, size_t n, unsigned) {
  return R().Set(NewMemory(p, n, MemoryKind::kManaged));
}
INGOT_HIP_EXPORT int hipHostMalloc(void** p, size_t n, unsigned) {
  return R().Set(NewMemory(p, n, MemoryKind::kHost));
}
INGOT_HIP_EXPORT int hipMallocHost(void** p, size_t n) {
  return R().Set(NewMemory(p, n, MemoryKind::kHost));
}
INGOT_HIP_EXPORT int hipFree(void* p) { return R().Set(FreeMemory(p)); }
INGOT_HIP_EXPORT int hipFreeAsync(void* p, void*) {
  return R().Set(FreeMemory(p));
}
INGOT_HIP_EXPORT int hipHostFree(void* p) { return R().Set(FreeMemory(p)); }
INGOT_HIP_EXPORT int hipFreeHost(void* p) { return R().Set(FreeMemory(p)); }

// Registered memory is everybody's.
INGOT_HIP_EXPORT int hipHostRegister(void* p, size_t n, unsigned) {
  if (p == nullptr || n == 0) return R().Set(kInvalidValue);
  for (int d = 0; d < R().device_count(); ++d) {
    if (R().device(d).memory().Register(p, n)) continue;
    for (int undo = 0; undo < d; ++undo)
      R().device(undo).memory().Unregister(p);
    return R().Set(kHostMemoryAlreadyRegistered);
  }
  return kSuccess;
}
INGOT_HIP_EXPORT int hipHostUnregister(void* p) {
  bool found = false;
  for (int d = 0; d < R().device_count(); ++d)
    found |= R().device(d).memory().Unregister(p);
  return R().Set(found ? kSuccess : kHostMemoryNotRegistered);
}
INGOT_HIP_EXPORT int hipHostGetDevicePointer(void** device, void* host,
                                             unsigned) {
  if (device == nullptr) return R().Set(kInvalidValue);
  *device = host;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipMemcpy(void* to, const void* from, size_t n, int) {
  return R().Set(Copy(to, from, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemcpyAsync(void* to, const void* from, size_t n, int,
                                    void* stream) {
  return R().Set(Copy(to, from, n, stream));
}
INGOT_HIP_EXPORT int hipMemcpyWithStream(void* to, const void* from, size_t n,
                                         int, void* stream) {
  return R().Set(Copy(to, from, n, stream));
}
INGOT_HIP_EXPORT int hipMemcpyHtoD(void* to, const void* from, size_t n) {
  return R().Set(Copy(to, from, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemcpyDtoH(void* to, void* from, size_t n) {
  return R().Set(Copy(to, from, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemcpyDtoD(void* to, void* from, size_t n) {
  return R().Set(Copy(to, from, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemcpyHtoDAsync(void* to, const void* from, size_t n,
                                        void* stream) {
  return R().Set(Copy(to, from, n, stream));
}
INGOT_HIP_EXPORT int hipMemcpyDtoHAsync(void* to, void* from, size_t n,
                                        void* stream) {
  return R().Set(Copy(to, from, n, stream));
}
INGOT_HIP_EXPORT int hipMemcpyDtoDAsync(void* to, void* from, size_t n,
                                        void* stream) {
  return R().Set(Copy(to, from, n, stream));
}
INGOT_HIP_EXPORT int hipMemcpy2D(void* to, size_t to_pitch, const void* from,
                                 size_t from_pitch, size_t width, size_t height,
                                 int) {
  return R().Set(
      Copy2d(to, to_pitch, from, from_pitch, width, height, nullptr));
}
INGOT_HIP_EXPORT int hipMemcpy2DAsync(void* to, size_t to_pitch,
                                      const void* from, size_t from_pitch,
                                      size_t width, size_t height, int,
                                      void* stream) {
  return R().Set(Copy2d(to, to_pitch, from, from_pitch, width, height, stream));
}

INGOT_HIP_EXPORT int hipMemset(void* to, int value, size_t n) {
  return R().Set(FillWith(to, static_cast<uint8_t>(value), n, nullptr));
}
INGOT_HIP_EXPORT int hipMemsetAsync(void* to, int value, size_t n,
                                    void* stream) {
  return R().Set(FillWith(to, static_cast<uint8_t>(value), n, stream));
}
INGOT_HIP_EXPORT int hipMemsetD8(void* to, unsigned char value, size_t n) {
  return R().Set(FillWith(to, value, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemsetD8Async(void* to, unsigned char value, size_t n,
                                      void* stream) {
  return R().Set(FillWith(to, value, n, stream));
}
INGOT_HIP_EXPORT int hipMemsetD16(void* to, unsigned short value, size_t n) {
  return R().Set(FillWith(to, value, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemsetD16Async(void* to, unsigned short value, size_t n,
                                       void* stream) {
  return R().Set(FillWith(to, value, n, stream));
}
INGOT_HIP_EXPORT int hipMemsetD32(void* to, int value, size_t n) {
  return R().Set(FillWith(to, value, n, nullptr));
}
INGOT_HIP_EXPORT int hipMemsetD32Async(void* to, int value, size_t n,
                                       void* stream) {
  return R().Set(FillWith(to, value, n, stream));
}

INGOT_HIP_EXPORT int hipMemGetInfo(size_t* available, size_t* total) {
  const int device = CurrentDevice();
  if (!R().valid_device(device)) return R().Set(kNoDevice);
  const size_t used = R().device(device).memory().bytes_in_use();
  if (available != nullptr) *available = kMemoryBytes - used;
  if (total != nullptr) *total = kMemoryBytes;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipMemGetAddressRange(void** base, size_t* bytes,
                                           void* pointer) {
  int device;
  Interval found;
  MemoryKind kind;
  if (!Known(pointer, 1, &device, &found, &kind)) return R().Set(kInvalidValue);
  if (base != nullptr) *base = reinterpret_cast<void*>(found.begin);
  if (bytes != nullptr) *bytes = found.end - found.begin;
  return kSuccess;
}

}  // namespace ingot::emulator::hip
