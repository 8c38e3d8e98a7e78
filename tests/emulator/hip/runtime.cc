#include "tests/emulator/hip/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/emulator/program.h"

namespace ingot::emulator::hip {
namespace {

thread_local int current_device = 0;
thread_local int last_error = kSuccess;

struct ErrorRow {
  int code;
  const char* name;
  const char* text;
};
constexpr ErrorRow kErrors[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {kNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {kInvalidDeviceFunction, "hipErrorInvalidDeviceFunction",
     "invalid device function"},
    {kNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {kInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {kInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    {kNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {kFileNotFound, "hipErrorFileNotFound", "file not found"},
    {kInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {kNotFound, "hipErrorNotFound", "named symbol not found"},
    {kNotReady, "hipErrorNotReady", "device not ready"},
    {kIllegalAddress, "hipErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "hipErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {kPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {kPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {kHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {kHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {kLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {kCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {kNotSupported, "hipErrorNotSupported", "operation not supported"},
};

int DeviceCountFromEnvironment() {
  const char* value = std::getenv("INGOT_EMULATOR_DEVICES");
  return value == nullptr ? 1 : std::clamp(std::atoi(value), 0, 64);
}

}  // namespace

const char* ErrorName(int error) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == error) return row.name;
  }
  return "hipErrorUnknown";
}
const char* ErrorText(int error) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == error) return row.text;
  }
  return "unknown error";
}

// Never destroyed: other threads and exit handlers may still call in.
Runtime& Runtime::Get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() {
  const int count = DeviceCountFromEnvironment();
  for (int n = 0; n < count; ++n)
    devices_.push_back(std::make_unique<Device>());
  sticky_.assign(static_cast<size_t>(count), kSuccess);
}

int Runtime::Set(int error) {
  if (error != kSuccess) last_error = error;
  return error;
}
int Runtime::TakeLastError() {
  const int error = last_error;
  last_error = kSuccess;
  return error;
}
int Runtime::PeekLastError() const { return last_error; }

int Runtime::sticky(int device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return sticky_[static_cast<size_t>(device)];
}

void Runtime::Fault(int device, int error, std::string report) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::fprintf(stderr, "gfx950 emulator, device %d: %s\n", device,
               report.c_str());
  sticky_[static_cast<size_t>(device)] = error;
  report_ = std::move(report);
}

const char* Runtime::last_report() {
  std::lock_guard<std::mutex> lock(mutex_);
  shown_report_ = report_;
  return shown_report_.c_str();
}

void Runtime::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::fill(sticky_.begin(), sticky_.end(), kSuccess);
  report_.clear();
  last_error = kSuccess;
}

Module* Runtime::AddModule(std::unique_ptr<Module> module) {
  std::lock_guard<std::mutex> lock(mutex_);
  Module* key = module.get();
  modules_[key] = std::move(module);
  return key;
}

bool Runtime::DropModule(Module* module) {
  std::unique_ptr<Module> owned;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = modules_.find(module);
    if (it == modules_.end()) return false;
    owned = std::move(it->second);
    modules_.erase(it);
    for (const auto& [name, function] : owned->functions)
      functions_.erase(function.get());
  }
  device(owned->device).Unload(owned->program);
  return true;
}

bool Runtime::IsFunction(const Function* function) {
  std::lock_guard<std::mutex> lock(mutex_);
  return functions_.count(function) != 0;
}

Stream* Runtime::AddStream(const Stream& stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto owned = std::make_unique<Stream>(stream);
  Stream* key = owned.get();
  streams_[key] = std::move(owned);
  return key;
}
bool Runtime::DropStream(Stream* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  return streams_.erase(stream) != 0;
}
bool Runtime::IsStream(const Stream* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  return streams_.count(const_cast<Stream*>(stream)) != 0;
}

Event* Runtime::AddEvent(const Event& event) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto owned = std::make_unique<Event>(event);
  Event* key = owned.get();
  events_[key] = std::move(owned);
  return key;
}
bool Runtime::DropEvent(Event* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  return events_.erase(event) != 0;
}
bool Runtime::IsEvent(const Event* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  return events_.count(const_cast<Event*>(event)) != 0;
}

int CurrentDevice() { return current_device; }
void SetCurrentDevice(int device) { current_device = device; }

bool IsDefaultStream(const void* stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}

int CheckStream(void* stream, int* device) {
  Runtime& r = Runtime::Get();
  *device = CurrentDevice();
  if (!IsDefaultStream(stream)) {
    if (!r.IsStream(static_cast<Stream*>(stream))) return kInvalidHandle;
    *device = static_cast<Stream*>(stream)->device;
  }
  if (!r.valid_device(*device)) return kNoDevice;
  return r.sticky(*device);
}

int GetFunction(void** out, Module* module, const char* name) {
  Runtime& r = Runtime::Get();
  std::lock_guard<std::mutex> lock(r.mutex_);
  if (r.modules_.count(module) == 0) return kInvalidHandle;
  auto it = module->functions.find(name);
  if (it == module->functions.end()) {
    const KernelInfo* kernel = module->program->object().FindKernel(name);
    if (kernel == nullptr) return kNotFound;
    auto function = std::make_unique<Function>(Function{module, kernel});
    r.functions_[function.get()] = module;
    it = module->functions.emplace(name, std::move(function)).first;
  }
  *out = it->second.get();
  return kSuccess;
}

}  // namespace ingot::emulator::hip
