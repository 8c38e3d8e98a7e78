// The state behind the HIP entry points: devices, modules, streams, errors.
#ifndef TESTS_EMULATOR_HIP_RUNTIME_H_
#define TESTS_EMULATOR_HIP_RUNTIME_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/hip/hip.h"

namespace ingot::emulator::hip {

struct Function;

// What a hipModule_t points to.
struct Module {
  int device = 0;
  Program* program = nullptr;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

// What a hipFunction_t points to.
struct Function {
  Module* module = nullptr;
  const KernelInfo* kernel = nullptr;
};

// What a hipStream_t points to. Work runs when it is submitted, in the caller's
// thread, so every stream is always idle and in order.
struct Stream {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
};

// What a hipEvent_t points to.
struct Event {
  unsigned flags = 0;
  bool recorded = false;
  int64_t nanoseconds = 0;
};

// Process-wide; thread-safe. Lives until the process ends.
class Runtime {
 public:
  static Runtime& Get();

  int device_count() const { return static_cast<int>(devices_.size()); }
  // Index must be valid.
  Device& device(int index) { return *devices_[static_cast<size_t>(index)]; }
  bool valid_device(int index) const {
    return index >= 0 && index < device_count();
  }

  // Remembers and returns an error of the calling thread.
  int Set(int error);
  int TakeLastError();
  int PeekLastError() const;

  // A fault of a kernel stays with its device.
  int sticky(int device) const;
  void Fault(int device, int error, std::string report);
  const char* last_report();
  void Reset();

  // Handles; false from Drop* when the handle is not live.
  Module* AddModule(std::unique_ptr<Module> module);
  bool DropModule(Module* module);
  bool IsFunction(const Function* function);
  Stream* AddStream(const Stream& stream);
  bool DropStream(Stream* stream);
  bool IsStream(const Stream* stream);
  Event* AddEvent(const Event& event);
  bool DropEvent(Event* event);
  bool IsEvent(const Event* event);

  std::mutex& mutex() { return mutex_; }

 private:
  Runtime();

  std::vector<std::unique_ptr<Device>> devices_;
  mutable std::mutex mutex_;
  std::vector<int> sticky_;
  std::string report_;
  std::string shown_report_;
  std::map<Module*, std::unique_ptr<Module>> modules_;
  std::map<const Function*, Module*> functions_;
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  friend int GetFunction(void** out, Module* module, const char* name);
};

// The calling thread's current device.
int CurrentDevice();
void SetCurrentDevice(int device);

// The special stream handles: null, legacy and per-thread.
bool IsDefaultStream(const void* stream);
// kSuccess, or why nothing can be submitted to `stream`.
int CheckStream(void* stream, int* device);

// Finds a kernel of a module; `*out` becomes its handle.
int GetFunction(void** out, Module* module, const char* name);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_RUNTIME_H_
