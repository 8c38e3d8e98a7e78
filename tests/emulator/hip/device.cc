// Devices, versions, limits, peers.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/context.h"
#include "tests/emulator/hip/module.h"
#include "tests/emulator/hip/pool.h"
#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// Calls `give` with a valid device and output; else says what is wrong.
template <class T, class Give>
int Answer(T* out, int device, Give give) {
  if (out == nullptr) return kInvalidValue;
  if (!R().valid_device(device)) return kInvalidDevice;
  give(out);
  return kSuccess;
}

int Synchronize() {
  const int device = CurrentDevice();
  if (!R().valid_device(device)) return kNoDevice;
  if (const int error = CheckNoCapture(kStreamCaptureUnsupported);
      error != kSuccess) {
    return error;
  }
  return R().WaitDevice(device);
}

// Everything of the device goes: streams, events, modules, memory, faults.
int Reset() {
  const int device = CurrentDevice();
  if (!R().valid_device(device)) return kNoDevice;
  if (R().WaitDevice(device) == kIllegalState && Queue::InQueue())
    return kIllegalState;
  for (const StreamPtr& stream : R().streams.All()) {
    if (stream->device != device) continue;
    DropFromCapture(*stream);
    R().streams.Drop(stream.get());
  }
  for (const EventPtr& event : R().events.All()) {
    if (event->device == device) R().events.Drop(event.get());
  }
  for (const std::shared_ptr<Module>& module : R().modules.All()) {
    if (module->device != device) continue;
    R().modules.Drop(module.get());
    Retire(module);
  }
  for (void* memory : R().allocations.OwnedBy(device)) ReleaseToPool(memory);
  R().ForgetFaults(device);
  return kSuccess;
}

int CanAccess(int* can, int device, int peer) {
  if (can == nullptr) return kInvalidValue;
  if (!R().valid_device(device) || !R().valid_device(peer))
    return kInvalidDevice;
  *can = device != peer ? 1 : 0;
  return kSuccess;
}

int ChangePeer(int peer, bool enable) {
  const int device = CurrentDevice();
  int can = 0;
  if (CanAccess(&can, device, peer) != kSuccess || can == 0)
    return kInvalidDevice;
  // Kernels under way keep what they had when they were launched.
  return R().ChangePeer(device, peer, enable);
}

// hipDeviceP2PAttr: rank, access, native atomics, arrays.
int PeerAttribute(int* value, int attribute, int from, int to) {
  if (value == nullptr || attribute < 0 || attribute > 3) return kInvalidValue;
  if (!R().valid_device(from) || !R().valid_device(to) || from == to)
    return kInvalidDevice;
  *value = attribute == 0 ? 0 : 1;
  return kSuccess;
}

// hipLimit_t.
int Limit(size_t* value, int limit) {
  constexpr int kStackSize = 0, kPrintfFifo = 1, kMallocHeap = 2;
  if (value == nullptr || limit < kStackSize || limit > kMallocHeap)
    return kInvalidValue;
  if (limit == kPrintfFifo) return kUnsupportedLimit;
  *value = limit == kStackSize ? 1024 : 8 << 20;
  return kSuccess;
}

int Wish(int config, int most) {
  if (config < 0 || config > most) return kInvalidValue;
  return CheckUnsafeCall();
}

int FindByBusId(int* device, const char* text) {
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (device == nullptr || text == nullptr ||
      std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
    return kInvalidValue;
  }
  for (int d = 0; d < R().device_count(); ++d) {
    if (domain != 0 || slot != 0 || function != 0 ||
        bus != static_cast<unsigned>(PciBus(d))) {
      continue;
    }
    *device = d;
    return kSuccess;
  }
  return kInvalidValue;
}

int FindProcedure(const char* name, void** function, int* status) {
  constexpr int kFound = 0, kMissing = 1;
  if (name == nullptr || *name == 0 || function == nullptr)
    return kInvalidValue;
  Dl_info own;
  *function = nullptr;
  if (dladdr(reinterpret_cast<void*>(&FindProcedure), &own) != 0) {
    void* library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) {
      *function = dlsym(library, name);
      dlclose(library);
    }
  }
  if (status != nullptr) *status = *function != nullptr ? kFound : kMissing;
  return *function != nullptr ? kSuccess : kInvalidValue;
}

}  // namespace

INGOT_HIP_EXPORT int hipInit(unsigned flags) {
  if (flags != 0) return Done(kInvalidValue);
  return Done(R().device_count() == 0 ? kNoDevice : kSuccess);
}
INGOT_HIP_EXPORT int hipDriverGetVersion(int* version) {
  if (version == nullptr) return Done(kInvalidValue);
  *version = kVersion;
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipRuntimeGetVersion(int* version) {
  return hipDriverGetVersion(version);
}
INGOT_HIP_EXPORT int hipGetProcAddress(const char* name, void** function, int,
                                       uint64_t, int* status) {
  return Done(FindProcedure(name, function, status));
}

INGOT_HIP_EXPORT int hipGetDeviceCount(int* count) {
  if (count == nullptr) return Done(kInvalidValue);
  *count = R().device_count();
  return Done(*count == 0 ? kNoDevice : kSuccess);
}
INGOT_HIP_EXPORT int hipSetDevice(int device) {
  if (!R().valid_device(device)) return Done(kInvalidDevice);
  SetCurrentDevice(device);
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipGetDevice(int* device) {
  if (device == nullptr) return Done(kInvalidValue);
  *device = CurrentDevice();
  return Done(R().device_count() == 0 ? kNoDevice : kSuccess);
}
INGOT_HIP_EXPORT int hipDeviceGet(int* device, int ordinal) {
  return Done(Answer(device, ordinal, [ordinal](int* d) { *d = ordinal; }));
}
INGOT_HIP_EXPORT int hipDeviceGetName(char* name, int length, int device) {
  if (length <= 0) return Done(kInvalidValue);
  return Done(Answer(name, device, [length](char* n) {
    std::snprintf(n, static_cast<size_t>(length), "%s", kDeviceName);
  }));
}
INGOT_HIP_EXPORT int hipDeviceTotalMem(size_t* bytes, int device) {
  return Done(Answer(bytes, device, [](size_t* b) { *b = kMemoryBytes; }));
}
INGOT_HIP_EXPORT int hipDeviceComputeCapability(int* major, int* minor,
                                                int device) {
  if (minor == nullptr) return Done(kInvalidValue);
  return Done(Answer(major, device, [minor](int* m) {
    *m = 9;
    *minor = 5;
  }));
}
INGOT_HIP_EXPORT int hipDeviceGetUuid(char* uuid, int device) {
  return Done(Answer(uuid, device, [device](char* u) { FillUuid(device, u); }));
}
INGOT_HIP_EXPORT int hipDeviceGetPCIBusId(char* text, int length, int device) {
  constexpr int kNeeded = 13;
  if (length < kNeeded) return Done(kInvalidValue);
  return Done(Answer(text, device, [length, device](char* t) {
    std::snprintf(t, static_cast<size_t>(length), "0000:%02x:00.0",
                  static_cast<unsigned>(PciBus(device)));
  }));
}
INGOT_HIP_EXPORT int hipDeviceGetByPCIBusId(int* device, const char* text) {
  return Done(FindByBusId(device, text));
}

INGOT_HIP_EXPORT int hipDeviceSynchronize() { return Done(Synchronize()); }
INGOT_HIP_EXPORT int hipCtxSynchronize() { return Done(Synchronize()); }
INGOT_HIP_EXPORT int hipDeviceReset() { return Done(Reset()); }

// Caches and LDS banks have one configuration; the wish is checked. HIP 7
// refuses both in captures.
INGOT_HIP_EXPORT int hipDeviceSetCacheConfig(int config) {
  return Done(Wish(config, 3));
}
INGOT_HIP_EXPORT int hipDeviceSetSharedMemConfig(int config) {
  return Done(Wish(config, 2));
}
INGOT_HIP_EXPORT int hipDeviceGetCacheConfig(int* config) {
  if (config == nullptr) return Done(kInvalidValue);
  *config = 0;  // no preference
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDeviceGetSharedMemConfig(int* config) {
  if (config == nullptr) return Done(kInvalidValue);
  *config = 1;  // banks of four bytes
  return Done(kSuccess);
}

// Spin, yield or block: every wait here blocks.
INGOT_HIP_EXPORT int hipSetDeviceFlags(unsigned flags) {
  constexpr unsigned kKnown = 0x1f;
  return Done((flags & ~kKnown) != 0 ? kInvalidValue : kSuccess);
}
INGOT_HIP_EXPORT int hipGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return Done(kInvalidValue);
  *flags = 0;
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDeviceGetLimit(size_t* value, int limit) {
  return Done(Limit(value, limit));
}
INGOT_HIP_EXPORT int hipDeviceSetLimit(int, size_t) {
  return Done(kUnsupportedLimit);
}

INGOT_HIP_EXPORT int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return Done(CanAccess(can, device, peer));
}
INGOT_HIP_EXPORT int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Done(flags != 0 ? int{kInvalidValue} : ChangePeer(peer, true));
}
INGOT_HIP_EXPORT int hipDeviceDisablePeerAccess(int peer) {
  return Done(ChangePeer(peer, false));
}
INGOT_HIP_EXPORT int hipDeviceGetP2PAttribute(int* value, int attribute,
                                              int from, int to) {
  return Done(PeerAttribute(value, attribute, from, to));
}
// XGMI, one hop.
INGOT_HIP_EXPORT int hipExtGetLinkTypeAndHopCount(int from, int to,
                                                  uint32_t* type,
                                                  uint32_t* hops) {
  constexpr uint32_t kXgmi = 4;
  if (type == nullptr || hops == nullptr) return Done(kInvalidValue);
  if (!R().valid_device(from) || !R().valid_device(to) || from == to)
    return Done(kInvalidDevice);
  *type = kXgmi;
  *hops = 1;
  return Done(kSuccess);
}

// The report of the last kernel fault in the process, or "". Valid until the
// next call.
INGOT_HIP_EXPORT const char* ingot_emulator_last_report() {
  return R().last_report();
}
// Waits for the devices and forgets their faults, so that they work again.
INGOT_HIP_EXPORT void ingot_emulator_reset() {
  for (int d = 0; d < R().device_count(); ++d) {
    R().WaitDevice(d);
    R().ForgetFaults(d);
  }
  ForgetLastError();
}
// The interpreter build in use, "x86-64-v3".
INGOT_HIP_EXPORT const char* ingot_emulator_level() {
  return InterpreterLevel();
}

}  // namespace ingot::emulator::hip
