#include "client/src/hip_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace ingot::client {
namespace {

// hipDeviceProp_t has 792 bytes in ROCm 5.2 and 1472 in 6 and 7.
constexpr size_t kHipPropertiesBytes = 16384;
// Where ROCm 6 and 7 keep gcnArchName.
constexpr size_t kGcnArchNameOffset = 1160;

constexpr HipError kHipErrorNoDevice = 100;
constexpr HipError kHipErrorInvalidDevice = 101;

const char* const kLibraryNames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                     "libamdhip64.so.5", "libamdhip64.so"};

bool StartsArchName(const char* text) {
  return strncmp(text, "gfx", 3) == 0 && text[3] >= '0' && text[3] <= '9';
}

}  // namespace

std::string FindGcnArchName(const char* properties, size_t size) {
  const auto read = [&](size_t at) {
    return std::string(properties + at, strnlen(properties + at, size - at));
  };
  if (kGcnArchNameOffset + 4 < size &&
      StartsArchName(properties + kGcnArchNameOffset)) {
    return read(kGcnArchNameOffset);
  }
  // Another version's layout: the only other text that such a struct holds is
  // the device's name, at its start.
  for (size_t at = 256; at + 4 < size; ++at) {
    if (properties[at - 1] == '\0' && StartsArchName(properties + at)) {
      return read(at);
    }
  }
  return "";
}

Status HipApi::LoadLibrary() {
  const char* override_name = getenv("INGOT_HIP_LIBRARY");
  std::string only = library_;
  if (only.empty() && override_name != nullptr) only = override_name;
  if (!only.empty()) {
    handle_ = dlopen(only.c_str(), RTLD_NOW | RTLD_LOCAL);
    path_ = only;
    if (handle_ != nullptr) return Status();
    return Error(INGOT_FAILED_PRECONDITION, "no HIP runtime: %s", dlerror());
  }
  // Two copies of HIP in one process do not know each other's streams: one that
  // a framework brought is always the right one.
  for (const int extra : {RTLD_NOLOAD, 0}) {
    for (const char* name : kLibraryNames) {
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | extra);
      path_ = name;
      if (handle_ != nullptr) return Status();
    }
  }
  return Error(INGOT_FAILED_PRECONDITION,
               "no HIP runtime: tried libamdhip64.so.7, .6, .5 and plain; set "
               "INGOT_HIP_LIBRARY to its path");
}

Status HipApi::Resolve() {
  const struct {
    const char* name;
    void** slot;
    bool optional;
  } wanted[] = {
#define INGOT_HIP(field, name, optional) \
  {name, reinterpret_cast<void**>(&functions_.field), optional}
      INGOT_HIP(init, "hipInit", false),
      INGOT_HIP(get_device, "hipGetDevice", false),
      INGOT_HIP(get_device_count, "hipGetDeviceCount", false),
      INGOT_HIP(get_device_properties, "hipGetDevicePropertiesR0600", true),
      INGOT_HIP(device_get_attribute, "hipDeviceGetAttribute", false),
      INGOT_HIP(module_load_data, "hipModuleLoadData", false),
      INGOT_HIP(module_get_function, "hipModuleGetFunction", false),
      INGOT_HIP(module_unload, "hipModuleUnload", false),
      INGOT_HIP(module_launch_kernel, "hipModuleLaunchKernel", false),
      INGOT_HIP(module_launch_cooperative, "hipModuleLaunchCooperativeKernel",
                true),
      INGOT_HIP(thread_exchange_capture_mode,
                "hipThreadExchangeStreamCaptureMode", true),
      INGOT_HIP(memset_d32_async, "hipMemsetD32Async", false),
      INGOT_HIP(get_error_string, "hipGetErrorString", true),
#undef INGOT_HIP
  };
  for (const auto& entry : wanted) {
    *entry.slot = dlsym(handle_, entry.name);
    if (*entry.slot == nullptr && !entry.optional) {
      return Error(INGOT_FAILED_PRECONDITION, "%s has no %s", path_.c_str(),
                   entry.name);
    }
  }
  if (functions_.get_device_properties == nullptr) {
    functions_.get_device_properties =
        reinterpret_cast<HipError (*)(void*, int)>(
            dlsym(handle_, "hipGetDeviceProperties"));
  }
  if (functions_.get_device_properties != nullptr) return Status();
  return Error(INGOT_FAILED_PRECONDITION, "%s has no hipGetDeviceProperties",
               path_.c_str());
}

Status HipApi::OpenLocked() {
  INGOT_CLIENT_RETURN_IF_ERROR(LoadLibrary());
  INGOT_CLIENT_RETURN_IF_ERROR(Resolve());
  const auto no_device = [](HipError error) {
    return error == kHipErrorNoDevice || error == kHipErrorInvalidDevice;
  };
  HipError error = functions_.init(0);
  int count = 0;
  if (error == kHipSuccess) error = functions_.get_device_count(&count);
  if (no_device(error) || (error == kHipSuccess && count == 0)) {
    return Error(INGOT_FAILED_PRECONDITION, "%s finds no GPU", path_.c_str());
  }
  if (error != kHipSuccess) return Failed("hipInit", error);
  return Status();
}

Status HipApi::Open() {
  const std::lock_guard<std::mutex> lock(mutex());
  if (!opened_) {
    open_status_ = OpenLocked();
    opened_in_.store(ForkGeneration());
    opened_ = true;
    ready_.store(open_status_.ok(), std::memory_order_release);
  }
  if (open_status_.ok() && !Ready()) {
    return Error(
        INGOT_FAILED_PRECONDITION,
        "this process was forked from one that already used HIP; "
        "start it with spawn, or prepare and launch only in the child");
  }
  return open_status_;
}

Status HipApi::CurrentDevice(int* device) const {
  const HipError error = functions_.get_device(device);
  if (error != kHipSuccess) return Failed("hipGetDevice", error);
  if (*device >= 0 && *device < kMaxDevices) return Status();
  return Error(INGOT_FAILED_PRECONDITION, "device: found %d, allowed below %d",
               *device, kMaxDevices);
}

Status HipApi::ReadDevice(int device, HipDevice* facts) const {
  // On the heap and far larger than any version's struct.
  std::vector<char> properties(kHipPropertiesBytes, '\0');
  HipError error = functions_.get_device_properties(properties.data(), device);
  if (error != kHipSuccess) return Failed("hipGetDeviceProperties", error);
  facts->target = FindGcnArchName(properties.data(), properties.size());
  if (facts->target.empty()) {
    return Error(INGOT_FAILED_PRECONDITION,
                 "%s does not say which gfx device %d is", path_.c_str(),
                 device);
  }
  error = functions_.device_get_attribute(
      &facts->cu_count, kHipAttributeMultiprocessorCount, device);
  if (error != kHipSuccess) return Failed("hipDeviceGetAttribute", error);
  return Status();
}

Status HipApi::Device(int device, const HipDevice** facts) {
  std::atomic<const HipDevice*>& known = devices_[device];
  *facts = known.load(std::memory_order_acquire);
  if (*facts != nullptr) return Status();
  const std::lock_guard<std::mutex> lock(mutex());
  *facts = known.load(std::memory_order_acquire);
  if (*facts != nullptr) return Status();
  auto read = std::make_unique<HipDevice>();
  INGOT_CLIENT_RETURN_IF_ERROR(ReadDevice(device, read.get()));
  *facts = read.get();
  owned_.push_back(std::move(read));
  known.store(*facts, std::memory_order_release);
  return Status();
}

void* HipApi::Find(const char* name) const { return dlsym(handle_, name); }

Status HipApi::Failed(const char* call, HipError error) const {
  const char* text = functions_.get_error_string != nullptr
                         ? functions_.get_error_string(error)
                         : "HIP error";
  return Error(INGOT_INTERNAL, "%s: %s (%d)", call, text, error);
}

}  // namespace ingot::client
