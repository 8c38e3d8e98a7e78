// The few HIP calls that loading and launching need, found at run time. HIP is
// never linked: prototypes are ours, and no struct of a ROCm version is relied
// on, because their layouts differ between versions.
#ifndef INGOT_CLIENT_SRC_HIP_API_H_
#define INGOT_CLIENT_SRC_HIP_API_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/src/fork_guard.h"
#include "client/src/status.h"

namespace ingot::client {

using HipError = int;
using HipModule = void*;
using HipFunction = void*;
using HipStream = void*;

inline constexpr HipError kHipSuccess = 0;
inline constexpr int kMaxDevices = 128;

// Values of hip_runtime_api.h that never changed.
inline constexpr int kHipAttributeMultiprocessorCount = 63;
inline constexpr int kHipCaptureModeRelaxed = 2;
inline constexpr uintptr_t kHipLaunchParamBufferPointer = 1;
inline constexpr uintptr_t kHipLaunchParamBufferSize = 2;
inline constexpr uintptr_t kHipLaunchParamEnd = 3;

struct HipFunctions {
  HipError (*init)(unsigned flags);
  HipError (*get_device)(int* device);
  HipError (*get_device_count)(int* count);
  // hipGetDevicePropertiesR0600 where there is one, else
  // hipGetDeviceProperties; either writes less than kHipPropertiesBytes.
  HipError (*get_device_properties)(void* properties, int device);
  HipError (*device_get_attribute)(int* value, int attribute, int device);
  HipError (*module_load_data)(HipModule* module, const void* image);
  HipError (*module_get_function)(HipFunction* function, HipModule module,
                                  const char* name);
  HipError (*module_unload)(HipModule module);
  HipError (*module_launch_kernel)(HipFunction function, unsigned grid_x,
                                   unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned lds_bytes,
                                   HipStream stream, void** params,
                                   void** extra);
  // May be null.
  HipError (*module_launch_cooperative)(HipFunction function, unsigned grid_x,
                                        unsigned grid_y, unsigned grid_z,
                                        unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned lds_bytes,
                                        HipStream stream, void** params);
  HipError (*thread_exchange_capture_mode)(int* mode);  // may be null
  HipError (*memset_d32_async)(void* to, int value, size_t count,
                               HipStream stream);
  const char* (*get_error_string)(HipError error);  // may be null
};

struct HipDevice {
  std::string target;  // "gfx950:sramecc+:xnack-", as HIP states it
  int cu_count = 0;
};

// One per HIP library and process. Thread-safe.
class HipApi : public ForkGuarded {
 public:
  // `library` empty: INGOT_HIP_LIBRARY, else the usual names, one that the
  // process has already loaded before any other. Opens nothing yet.
  explicit HipApi(std::string library) : library_(std::move(library)) {}
  ~HipApi() override = default;

  // Opens the library and initialises HIP, once. FAILED_PRECONDITION when there
  // is no library, no device, or HIP was in use before a fork.
  Status Open();

  // The rest only after Open succeeded.
  const HipFunctions& functions() const { return functions_; }

  // Whether Open succeeded, in this process and not in one that it is a fork
  // of. No lock; for launches.
  bool Ready() const {
    return ready_.load(std::memory_order_acquire) &&
           opened_in_.load(std::memory_order_relaxed) == ForkGeneration();
  }

  // The calling thread's current device, by index below kMaxDevices.
  Status CurrentDevice(int* device) const;

  // Facts of a device, read once; no lock after that. *facts stays valid as
  // long as this object.
  Status Device(int device, const HipDevice** facts);

  // Another function of the library, for callers with needs of their own;
  // nullptr when it has none of that name.
  void* Find(const char* name) const;

  // "hipModuleLoadData: invalid device function (98)" as INTERNAL.
  Status Failed(const char* call, HipError error) const;

 private:
  Status OpenLocked();
  Status LoadLibrary();
  Status Resolve();
  Status ReadDevice(int device, HipDevice* facts) const;

  const std::string library_;
  HipFunctions functions_ = {};
  void* handle_ = nullptr;  // never closed: HIP does not survive that
  std::string path_;
  bool opened_ = false;  // with this and the next, under mutex()
  Status open_status_;
  std::atomic<bool> ready_ = false;
  std::atomic<uint64_t> opened_in_ = 0;
  std::atomic<const HipDevice*> devices_[kMaxDevices] = {};
  std::vector<std::unique_ptr<const HipDevice>> owned_;  // under mutex()
};

// Finds "gfx..." in what hipGetDeviceProperties wrote. Empty when it is not
// there. Exposed for tests.
std::string FindGcnArchName(const char* properties, size_t size);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_HIP_API_H_
