#include "tests/emulator/hip/stream.h"

#include <algorithm>
#include <map>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

constexpr int kHighest = -1, kLowest = 1;  // priorities

// The object lives until its queue has done what was submitted.
void LeaveToDrain(StreamPtr stream) {
  Queue& queue = *stream->queue;
  if (queue.last() == nullptr) return;
  queue.Push([stream = std::move(stream)] {}, {});
}

// The calling thread's own streams, by device.
class OwnStreams {
 public:
  ~OwnStreams() {
    for (auto& [device, stream] : streams_) LeaveToDrain(std::move(stream));
  }
  StreamPtr Get(int device) {
    StreamPtr& stream = streams_[device];
    if (stream == nullptr)
      stream = R().AddStream(device, 0, 0, Stream::Kind::kPerThread);
    return stream;
  }

 private:
  std::map<int, StreamPtr> streams_;
};
thread_local OwnStreams own_streams;

int New(void** out, unsigned flags, int priority) {
  if (out == nullptr || flags > kStreamNonBlocking) return kInvalidValue;
  if (const int error = CheckCurrentDevice(); error != kSuccess) return error;
  *out = R().streams.Add(R().AddStream(CurrentDevice(), flags,
                                       std::clamp(priority, kHighest, kLowest),
                                       Stream::Kind::kCreated));
  return kSuccess;
}

int Destroy(void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return kInvalidHandle;
  StreamPtr stream = R().streams.Drop(handle);
  if (stream == nullptr) return kContextIsDestroyed;
  DropFromCapture(*stream);
  LeaveToDrain(std::move(stream));
  return kSuccess;
}

int Synchronize(void* handle) {
  StreamPtr stream;
  if (const int error = FindStream(handle, &stream); error != kSuccess)
    return error;
  const int error = CheckNotCapturing(*stream);
  return error != kSuccess ? error : R().WaitStream(*stream);
}

int Query(void* handle) {
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  if (const int error = CheckNotCapturing(*stream); error != kSuccess)
    return error;
  if (!R().Idle(*stream)) return kNotReady;
  return R().sticky(stream->device);
}

int WaitEvent(void* handle, void* event_handle, unsigned flags) {
  constexpr unsigned kExternal = 1;
  const EventPtr event = R().events.Find(event_handle);
  if (event == nullptr) return kInvalidHandle;
  if (flags > kExternal) return kInvalidValue;
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  return flags == kExternal ? EnqueueExternal(stream, EventWaitOp{event})
                            : Enqueue(stream, EventWaitOp{event});
}

int AddCallback(void* handle, StreamCallback callback, void* data,
                unsigned flags) {
  if (callback == nullptr || flags != 0) return kInvalidValue;
  return EnqueueOn(handle, CallbackOp{callback, handle, data});
}

template <class T, class Read>
int Ask(void* handle, T* out, Read read) {
  if (out == nullptr) return kInvalidValue;
  StreamPtr stream;
  if (const int error = FindStream(handle, &stream); error != kSuccess)
    return error;
  *out = static_cast<T>(read(*stream));
  return kSuccess;
}

}  // namespace

int FindStream(void* handle, StreamPtr* stream) {
  const uintptr_t value = reinterpret_cast<uintptr_t>(handle);
  if (value <= 2) {
    if (!R().valid_device(CurrentDevice())) return kNoDevice;
    *stream = value == 2 ? own_streams.Get(CurrentDevice())
                         : R().device(CurrentDevice()).legacy;
    return kSuccess;
  }
  *stream = R().streams.Find(handle);
  return *stream != nullptr ? kSuccess : kContextIsDestroyed;
}

int FindUsableStream(void* handle, StreamPtr* stream) {
  const int error = FindStream(handle, stream);
  return error != kSuccess ? error : R().sticky((*stream)->device);
}

INGOT_HIP_EXPORT int hipStreamCreate(void** s) { return Done(New(s, 0, 0)); }
INGOT_HIP_EXPORT int hipStreamCreateWithFlags(void** s, unsigned flags) {
  return Done(New(s, flags, 0));
}
INGOT_HIP_EXPORT int hipStreamCreateWithPriority(void** s, unsigned flags,
                                                 int priority) {
  return Done(New(s, flags, priority));
}
// The mask is checked; every stream may use the whole device.
INGOT_HIP_EXPORT int hipExtStreamCreateWithCUMask(void** s, uint32_t words,
                                                  const uint32_t* mask) {
  if (s == nullptr) return Done(kInvalidHandle);
  if (words == 0 || mask == nullptr) return Done(kInvalidValue);
  return Done(New(s, 0, 0));
}
INGOT_HIP_EXPORT int hipStreamDestroy(void* s) { return Done(Destroy(s)); }
INGOT_HIP_EXPORT int hipStreamSynchronize(void* s) {
  return Done(Synchronize(s));
}
INGOT_HIP_EXPORT int hipStreamQuery(void* s) { return Done(Query(s)); }
INGOT_HIP_EXPORT int hipStreamWaitEvent(void* s, void* event, unsigned flags) {
  return Done(WaitEvent(s, event, flags));
}
INGOT_HIP_EXPORT int hipStreamAddCallback(void* s, StreamCallback callback,
                                          void* data, unsigned flags) {
  return Done(AddCallback(s, callback, data, flags));
}
INGOT_HIP_EXPORT int hipLaunchHostFunc(void* s, HostFunction function,
                                       void* data) {
  return Done(EnqueueOn(s, HostOp{function, data}));
}
INGOT_HIP_EXPORT int hipStreamGetFlags(void* s, unsigned* flags) {
  return Done(Ask(s, flags, [](const Stream& x) { return x.flags; }));
}
INGOT_HIP_EXPORT int hipStreamGetPriority(void* s, int* priority) {
  return Done(Ask(s, priority, [](const Stream& x) { return x.priority; }));
}
INGOT_HIP_EXPORT int hipStreamGetDevice(void* s, int* device) {
  return Done(Ask(s, device, [](const Stream& x) { return x.device; }));
}
INGOT_HIP_EXPORT int hipGetStreamDeviceId(void* s) {
  StreamPtr stream;
  return FindStream(s, &stream) == kSuccess ? stream->device : -1;
}
INGOT_HIP_EXPORT int hipDeviceGetStreamPriorityRange(int* least,
                                                     int* greatest) {
  if (least != nullptr) *least = kLowest;
  if (greatest != nullptr) *greatest = kHighest;
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
