// The state behind the HIP entry points: devices, handles, faults, and the
// order of submitted work.
#ifndef TESTS_EMULATOR_HIP_RUNTIME_H_
#define TESTS_EMULATOR_HIP_RUNTIME_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/hip/allocations.h"
#include "tests/emulator/hip/hip.h"
#include "tests/emulator/hip/registry.h"
#include "tests/emulator/hip/stream.h"

namespace ingot::emulator::hip {

struct Function;
struct Graph;
struct GraphExec;
struct Module;
struct Pool;

struct DeviceState {
  Device emulated;
  std::shared_ptr<Stream> legacy;
  // All others, the threads' own among them.
  std::vector<std::weak_ptr<Stream>> streams;
  std::vector<bool> peers;  // whose memory this device may access
  int sticky = kSuccess;    // the fault that every later call reports
};

// Process-wide and never destroyed; thread-safe.
class Runtime {
 public:
  static Runtime& Get();

  int device_count() const { return static_cast<int>(devices_.size()); }
  bool valid_device(int index) const {
    return index >= 0 && index < device_count();
  }
  // Index must be valid.
  DeviceState& device(int index) {
    return *devices_[static_cast<size_t>(index)];
  }

  // A fault of a kernel stays with its device until it is reset.
  int sticky(int device) const;
  void Fault(int device, int error, std::string report);
  const char* last_report();
  void ForgetFaults(int device);

  // Lets `device` access the memory of `peer`, or no longer.
  int ChangePeer(int device, int peer, bool enable);

  StreamPtr AddStream(int device, unsigned flags, int priority,
                      Stream::Kind kind);

  // Queues `work` in `stream`: after all before it there, after `after`, and in
  // the order that HIP gives the legacy stream among the blocking ones.
  CompletionPtr Submit(Stream& stream, std::function<void()> work,
                       std::vector<CompletionPtr> after = {});
  // Waits for what was submitted before. kIllegalState when called from a host
  // function or callback, else the sticky fault of the device.
  int WaitStream(Stream& stream);
  int WaitDevice(int device);
  int WaitFor(const CompletionPtr& completion, int device);
  // Whether nothing of `stream` is outstanding.
  bool Idle(Stream& stream);

  Allocations allocations;
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Module> modules;
  Registry<Function> functions;
  Registry<Graph> graphs;
  Registry<GraphExec> graph_execs;
  Registry<Pool> pools;

 private:
  Runtime();
  // All that `stream` must wait for beside its own; submit_ is held.
  std::vector<CompletionPtr> Before(const Stream& stream);

  std::vector<std::unique_ptr<DeviceState>> devices_;
  std::mutex submit_;  // the order of submissions; guards DeviceState::streams
  mutable std::mutex fault_;
  std::string report_;
  std::string shown_report_;
};

inline Runtime& R() { return Runtime::Get(); }

// The calling thread's current device.
int CurrentDevice();
void SetCurrentDevice(int device);
// kSuccess, or why the current device cannot be used.
int CheckCurrentDevice();

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_RUNTIME_H_
