#include "tests/emulator/hip/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/emulator/hip/graph.h"
#include "tests/emulator/hip/module.h"
#include "tests/emulator/hip/pool.h"

namespace ingot::emulator::hip {
namespace {

thread_local int current_device = 0;

int DeviceCountFromEnvironment() {
  const char* value = std::getenv("INGOT_EMULATOR_DEVICES");
  return value == nullptr ? 1 : std::clamp(std::atoi(value), 0, 64);
}

}  // namespace

int CurrentDevice() { return current_device; }
void SetCurrentDevice(int device) { current_device = device; }
int CheckCurrentDevice() {
  Runtime& r = Runtime::Get();
  if (!r.valid_device(current_device)) return kNoDevice;
  return r.sticky(current_device);
}

// Never destroyed: other threads and exit handlers may still call in.
Runtime& Runtime::Get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() {
  const int count = DeviceCountFromEnvironment();
  for (int n = 0; n < count; ++n) {
    auto device = std::make_unique<DeviceState>();
    device->emulated.memory().Include(&allocations.shared_map());
    device->legacy = std::make_shared<Stream>(n, 0, 0, Stream::Kind::kLegacy);
    device->peers.assign(static_cast<size_t>(count), false);
    devices_.push_back(std::move(device));
  }
}

int Runtime::sticky(int device) const {
  std::lock_guard<std::mutex> lock(fault_);
  return devices_[static_cast<size_t>(device)]->sticky;
}

void Runtime::Fault(int device, int error, std::string report) {
  std::lock_guard<std::mutex> lock(fault_);
  std::fprintf(stderr, "gfx950 emulator, device %d: %s\n", device,
               report.c_str());
  devices_[static_cast<size_t>(device)]->sticky = error;
  report_ = std::move(report);
}

const char* Runtime::last_report() {
  std::lock_guard<std::mutex> lock(fault_);
  shown_report_ = report_;
  return shown_report_.c_str();
}

void Runtime::ForgetFaults(int device) {
  std::lock_guard<std::mutex> lock(fault_);
  devices_[static_cast<size_t>(device)]->sticky = kSuccess;
  report_.clear();
}

int Runtime::ChangePeer(int index, int peer, bool enable) {
  std::lock_guard<std::mutex> lock(submit_);
  DeviceState& d = device(index);
  const size_t at = static_cast<size_t>(peer);
  if (d.peers[at] == enable)
    return enable ? kPeerAccessAlreadyEnabled : kPeerAccessNotEnabled;
  d.peers[at] = enable;
  MemoryMap& memory = d.emulated.memory();
  if (enable) {
    memory.Include(&device(peer).emulated.memory());
  } else {
    memory.Exclude(&device(peer).emulated.memory());
  }
  return kSuccess;
}

StreamPtr Runtime::AddStream(int device_index, unsigned flags, int priority,
                             Stream::Kind kind) {
  auto stream = std::make_shared<Stream>(device_index, flags, priority, kind);
  std::lock_guard<std::mutex> lock(submit_);
  auto& all = device(device_index).streams;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto& s) { return s.expired(); }),
            all.end());
  all.push_back(stream);
  return stream;
}

std::vector<CompletionPtr> Runtime::Before(const Stream& stream) {
  std::vector<CompletionPtr> before;
  const auto add = [&before](const Stream& other) {
    if (CompletionPtr last = other.queue->last(); last != nullptr)
      before.push_back(std::move(last));
  };
  DeviceState& d = device(stream.device);
  if (stream.blocking()) add(*d.legacy);
  if (stream.kind == Stream::Kind::kLegacy) {
    for (const auto& weak : d.streams) {
      const StreamPtr other = weak.lock();
      if (other != nullptr && other->blocking()) add(*other);
    }
  }
  return before;
}

CompletionPtr Runtime::Submit(Stream& stream, std::function<void()> work,
                              std::vector<CompletionPtr> after) {
  std::lock_guard<std::mutex> lock(submit_);
  for (CompletionPtr& before : Before(stream))
    after.push_back(std::move(before));
  return stream.queue->Push(std::move(work), std::move(after));
}

int Runtime::WaitFor(const CompletionPtr& completion, int device) {
  if (Queue::InQueue()) return kIllegalState;
  if (completion != nullptr) completion->Wait();
  return sticky(device);
}

int Runtime::WaitStream(Stream& stream) {
  std::vector<CompletionPtr> all;
  {
    std::lock_guard<std::mutex> lock(submit_);
    if (stream.kind == Stream::Kind::kLegacy) all = Before(stream);
    all.push_back(stream.queue->last());
  }
  if (Queue::InQueue()) return kIllegalState;
  for (const CompletionPtr& c : all) WaitFor(c, stream.device);
  return sticky(stream.device);
}

int Runtime::WaitDevice(int index) {
  std::vector<CompletionPtr> all;
  {
    std::lock_guard<std::mutex> lock(submit_);
    DeviceState& d = device(index);
    all.push_back(d.legacy->queue->last());
    for (const auto& weak : d.streams) {
      if (const StreamPtr s = weak.lock(); s != nullptr)
        all.push_back(s->queue->last());
    }
  }
  if (Queue::InQueue()) return kIllegalState;
  for (const CompletionPtr& c : all) WaitFor(c, index);
  return sticky(index);
}

bool Runtime::Idle(Stream& stream) {
  std::lock_guard<std::mutex> lock(submit_);
  const bool legacy = stream.kind == Stream::Kind::kLegacy;
  return stream.queue->last() == nullptr && (!legacy || Before(stream).empty());
}

}  // namespace ingot::emulator::hip
