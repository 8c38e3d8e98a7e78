// Allocation: device, managed, host and registered memory.
#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/pool.h"
#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

using Kind = MemoryMap::Kind;

constexpr size_t kPitchGranule = 256;

// The flags of hipHostMalloc: portable, mapped, write-combined, NUMA, coherent,
// not coherent.
constexpr unsigned kHostFlags =
    0x1 | 0x2 | 0x4 | 0x20000000 | 0x40000000 | 0x80000000;
// Of hipHostRegister: portable, mapped, I/O memory, read-only.
constexpr unsigned kRegisterFlags = 0xf;
// Of hipExtMallocWithFlags: fine-grained, signal, uncached, contiguous.
constexpr unsigned kDeviceFlags = 0x1 | 0x2 | 0x3 | 0x4;

int New(void** pointer, size_t bytes, Kind kind, unsigned flags) {
  if (pointer == nullptr) return kInvalidValue;
  *pointer = nullptr;
  if (const int error = CheckCurrentDevice(); error != kSuccess) return error;
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  if (bytes == 0) return kSuccess;
  Allocation wanted;
  wanted.bytes = bytes;
  wanted.kind = kind;
  wanted.device = CurrentDevice();
  wanted.flags = flags;
  *pointer = R().allocations.Allocate(wanted);
  return *pointer != nullptr ? kSuccess : kOutOfMemory;
}

int NewHost(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kBoth = 0xc0000000;
  if ((flags & ~kHostFlags) != 0 || (flags & kBoth) == kBoth)
    return kInvalidValue;
  return New(pointer, bytes, Kind::kHost, flags);
}

int NewManaged(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kAttachGlobal = 1, kAttachHost = 2;
  if (bytes == 0 || (flags != kAttachGlobal && flags != kAttachHost))
    return kInvalidValue;
  return New(pointer, bytes, Kind::kManaged, flags);
}

int NewPitched(void** pointer, size_t* pitch, size_t width, size_t rows) {
  constexpr size_t kMost = size_t{1} << 40;
  if (pointer == nullptr || pitch == nullptr) return kInvalidValue;
  if (width > kMost || rows > kMost) return kOutOfMemory;
  *pitch = (width + kPitchGranule - 1) / kPitchGranule * kPitchGranule;
  if (rows != 0 && *pitch > kMost / rows) return kOutOfMemory;
  return New(pointer, *pitch * rows, Kind::kDevice, 0);
}

// Waits for the device first, as HIP does, so that nothing still uses the
// memory; stream-ordered memory is freed at once (HIP 7).
int Free(void* pointer, bool host_only) {
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  if (pointer == nullptr) return kSuccess;
  const auto known = R().allocations.Find(pointer);
  if (!known.has_value() ||
      known->begin != reinterpret_cast<uint64_t>(pointer) ||
      (host_only && !known->on_host())) {
    return kInvalidValue;
  }
  if (known->in_graph) return kSuccess;  // it goes with its graph
  if (Queue::InQueue()) return kIllegalState;
  if (!R().allocations.BeginFree(pointer).has_value()) return kInvalidValue;
  if (known->on_host() || known->kind == Kind::kManaged) {
    for (int d = 0; d < R().device_count(); ++d) R().WaitDevice(d);
  } else if (known->pool == nullptr) {
    R().WaitDevice(known->device);
  }
  ReleaseToPool(pointer);
  return kSuccess;
}

int RegisterHost(void* pointer, size_t bytes, unsigned flags) {
  if (pointer == nullptr || bytes == 0 || flags > kRegisterFlags)
    return kInvalidValue;
  if (const int error = CheckCurrentDevice(); error != kSuccess) return error;
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  Allocation about;
  about.bytes = bytes;
  about.kind = Kind::kRegistered;
  about.device = CurrentDevice();
  about.flags = flags;
  if (reinterpret_cast<uint64_t>(pointer) + bytes < bytes) return kInvalidValue;
  return R().allocations.Register(pointer, about)
             ? kSuccess
             : kHostMemoryAlreadyRegistered;
}

int UnregisterHost(void* pointer) {
  if (pointer == nullptr) return kInvalidValue;
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  const auto known = R().allocations.Find(pointer);
  if (!known.has_value() || known->kind != Kind::kRegistered ||
      known->begin != reinterpret_cast<uint64_t>(pointer)) {
    return kHostMemoryNotRegistered;
  }
  for (int d = 0; d < R().device_count(); ++d) {
    if (R().WaitDevice(d) == kIllegalState && Queue::InQueue())
      return kIllegalState;
  }
  return R().allocations.Release(pointer) ? kSuccess : kHostMemoryNotRegistered;
}

int DevicePointer(void** device, void* host, unsigned flags) {
  if (device == nullptr || flags != 0) return kInvalidValue;
  *device = nullptr;
  if (!R().allocations.Find(host).has_value()) return kInvalidValue;
  *device = host;
  return kSuccess;
}

int HostFlags(unsigned* flags, void* host) {
  if (flags == nullptr) return kInvalidValue;
  const auto known = R().allocations.Find(host);
  if (!known.has_value() || !known->on_host()) return kInvalidValue;
  *flags = known->flags;
  return kSuccess;
}

}  // namespace

INGOT_HIP_EXPORT int hipMalloc(void** p, size_t n) {
  return Done(New(p, n, Kind::kDevice, 0));
}
INGOT_HIP_EXPORT int hipExtMallocWithFlags(void** p, size_t n, unsigned flags) {
  if ((flags & ~kDeviceFlags) != 0) return Done(kInvalidValue);
  return Done(New(p, n, Kind::kDevice, flags));
}
INGOT_HIP_EXPORT int hipMallocManaged(void** p, size_t n, unsigned flags) {
  return Done(NewManaged(p, n, flags));
}
INGOT_HIP_EXPORT int hipHostMalloc(void** p, size_t n, unsigned flags) {
  return Done(NewHost(p, n, flags));
}
INGOT_HIP_EXPORT int hipHostAlloc(void** p, size_t n, unsigned flags) {
  return Done(NewHost(p, n, flags));
}
INGOT_HIP_EXPORT int hipExtHostAlloc(void** p, size_t n, unsigned flags) {
  return Done(NewHost(p, n, flags));
}
INGOT_HIP_EXPORT int hipMallocHost(void** p, size_t n) {
  return Done(NewHost(p, n, 0));
}
INGOT_HIP_EXPORT int hipMemAllocHost(void** p, size_t n) {
  return Done(NewHost(p, n, 0));
}
INGOT_HIP_EXPORT int hipMallocPitch(void** p, size_t* pitch, size_t width,
                                    size_t height) {
  return Done(NewPitched(p, pitch, width, height));
}
INGOT_HIP_EXPORT int hipMemAllocPitch(void** p, size_t* pitch, size_t width,
                                      size_t height, unsigned) {
  return Done(NewPitched(p, pitch, width, height));
}
INGOT_HIP_EXPORT int hipMalloc3D(PitchedPointer* p, Extent e) {
  if (p == nullptr) return Done(kInvalidValue);
  if (e.depth != 0 && e.height > (size_t{1} << 40) / e.depth)
    return Done(kOutOfMemory);
  p->width = e.width;
  p->height = e.height;
  return Done(NewPitched(&p->pointer, &p->pitch, e.width, e.height * e.depth));
}

INGOT_HIP_EXPORT int hipFree(void* p) { return Done(Free(p, false)); }
INGOT_HIP_EXPORT int hipHostFree(void* p) { return Done(Free(p, true)); }
INGOT_HIP_EXPORT int hipFreeHost(void* p) { return Done(Free(p, true)); }

INGOT_HIP_EXPORT int hipHostRegister(void* p, size_t n, unsigned flags) {
  return Done(RegisterHost(p, n, flags));
}
INGOT_HIP_EXPORT int hipHostUnregister(void* p) {
  return Done(UnregisterHost(p));
}
INGOT_HIP_EXPORT int hipHostGetDevicePointer(void** device, void* host,
                                             unsigned flags) {
  return Done(DevicePointer(device, host, flags));
}
INGOT_HIP_EXPORT int hipHostGetFlags(unsigned* flags, void* host) {
  return Done(HostFlags(flags, host));
}

INGOT_HIP_EXPORT int hipMemGetInfo(size_t* available, size_t* total) {
  const int device = CurrentDevice();
  if (!R().valid_device(device)) return Done(kNoDevice);
  if (available == nullptr || total == nullptr) return Done(kInvalidValue);
  *available = kMemoryBytes - R().allocations.used(device);
  *total = kMemoryBytes;
  return Done(kSuccess);
}

// Managed memory is the host's and every device's at once.
INGOT_HIP_EXPORT int hipMemPrefetchAsync(const void* p, size_t n, int device,
                                         void* stream) {
  constexpr int kHostDevice = -1;
  if (p == nullptr || n == 0 || !R().allocations.Fits(p, n))
    return Done(kInvalidValue);
  if (device != kHostDevice && !R().valid_device(device))
    return Done(kInvalidDevice);
  return Done(EnqueueOn(stream, EmptyOp{}));
}
INGOT_HIP_EXPORT int hipMemAdvise(const void* p, size_t n, int, int device) {
  constexpr int kHostDevice = -1;
  if (const int error = CheckUnsafeCall(); error != kSuccess)
    return Done(error);
  if (p == nullptr || n == 0 || !R().allocations.Fits(p, n))
    return Done(kInvalidValue);
  if (device != kHostDevice && !R().valid_device(device))
    return Done(kInvalidDevice);
  return Done(kSuccess);
}

// Handing memory to another process is not emulated.
INGOT_HIP_EXPORT int hipIpcGetMemHandle(void*, void*) {
  return Done(kNotSupported);
}
// A handle is 64 bytes, passed by value.
struct IpcHandle {
  char bytes[64];
};
INGOT_HIP_EXPORT int hipIpcOpenMemHandle(void**, IpcHandle, unsigned) {
  return Done(kNotSupported);
}
INGOT_HIP_EXPORT int hipIpcCloseMemHandle(void*) { return Done(kNotSupported); }
INGOT_HIP_EXPORT int hipIpcGetEventHandle(void*, void*) {
  return Done(kNotSupported);
}
INGOT_HIP_EXPORT int hipIpcOpenEventHandle(void**, IpcHandle) {
  return Done(kNotSupported);
}

}  // namespace ingot::emulator::hip
