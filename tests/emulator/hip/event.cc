// Events: marks in streams, with times.
#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// The fences say which caches a record flushes, and there are none.
constexpr unsigned kReleaseToDevice = 0x40000000, kReleaseToSystem = 0x80000000,
                   kDisableSystemFence = 0x20000000;
constexpr unsigned kFences =
    kReleaseToDevice | kReleaseToSystem | kDisableSystemFence;

int New(void** out, unsigned flags) {
  constexpr unsigned kKnown =
      kEventBlockingSync | kEventDisableTiming | kEventInterprocess | kFences;
  if (out == nullptr || (flags & ~kKnown) != 0) return kInvalidValue;
  const unsigned fences = flags & kFences;
  if ((fences & (fences - 1)) != 0) return kInvalidValue;
  if ((flags & kEventInterprocess) != 0) {
    return (flags & kEventDisableTiming) == 0 ? kInvalidValue : kNotSupported;
  }
  if (!R().valid_device(CurrentDevice())) return kNoDevice;
  *out = R().events.Add(std::make_shared<Event>(CurrentDevice(), flags));
  return kSuccess;
}

int Record(void* handle, void* stream_handle, unsigned flags) {
  constexpr unsigned kExternal = 1;
  const EventPtr event = R().events.Find(handle);
  if (event == nullptr) return kInvalidHandle;
  if (flags > kExternal) return kInvalidValue;
  StreamPtr stream;
  if (const int error = FindUsableStream(stream_handle, &stream);
      error != kSuccess) {
    return error;
  }
  if (event->device != stream->device) return kInvalidHandle;
  return flags == kExternal ? EnqueueExternal(stream, EventRecordOp{event})
                            : Enqueue(stream, EventRecordOp{event});
}

// The last record, unless that was in a capture: then an error, and the capture
// is invalid.
int LastRecord(const Event& event, CompletionPtr* recorded) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  *recorded = event.recorded;
  if (event.capture == nullptr || event.capture->origin == nullptr)
    return kSuccess;
  event.capture->status = kInvalidated;
  return kCapturedEvent;
}

int Query(void* handle) {
  const EventPtr event = R().events.Find(handle);
  if (event == nullptr) return kInvalidHandle;
  CompletionPtr recorded;
  if (const int error = LastRecord(*event, &recorded); error != kSuccess)
    return error;
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  if (recorded != nullptr && !recorded->done()) return kNotReady;
  return R().sticky(event->device);
}

int Synchronize(void* handle) {
  const EventPtr event = R().events.Find(handle);
  if (event == nullptr) return kInvalidHandle;
  CompletionPtr recorded;
  if (const int error = LastRecord(*event, &recorded); error != kSuccess)
    return error;
  return R().WaitFor(recorded, event->device);
}

int Elapsed(float* milliseconds, void* start_handle, void* stop_handle) {
  if (milliseconds == nullptr) return kInvalidValue;
  const EventPtr start = R().events.Find(start_handle);
  const EventPtr stop = R().events.Find(stop_handle);
  if (start == nullptr || stop == nullptr || start->device != stop->device)
    return kInvalidHandle;
  if (((start->flags | stop->flags) & kEventDisableTiming) != 0)
    return kInvalidHandle;
  CompletionPtr from, to;
  if (const int error = LastRecord(*start, &from); error != kSuccess)
    return error;
  if (const int error = LastRecord(*stop, &to); error != kSuccess) return error;
  if (from == nullptr || to == nullptr) return kInvalidHandle;
  if (!from->done() || !to->done()) return kNotReady;
  *milliseconds =
      static_cast<float>(to->nanoseconds() - from->nanoseconds()) * 1e-6f;
  return kSuccess;
}

}  // namespace

INGOT_HIP_EXPORT int hipEventCreate(void** e) { return Done(New(e, 0)); }
INGOT_HIP_EXPORT int hipEventCreateWithFlags(void** e, unsigned flags) {
  return Done(New(e, flags));
}
INGOT_HIP_EXPORT int hipEventDestroy(void* e) {
  return Done(R().events.Drop(e) != nullptr ? kSuccess : kInvalidHandle);
}
INGOT_HIP_EXPORT int hipEventRecord(void* e, void* stream) {
  return Done(Record(e, stream, 0));
}
INGOT_HIP_EXPORT int hipEventRecordWithFlags(void* e, void* stream,
                                             unsigned flags) {
  return Done(Record(e, stream, flags));
}
INGOT_HIP_EXPORT int hipEventSynchronize(void* e) {
  return Done(Synchronize(e));
}
INGOT_HIP_EXPORT int hipEventQuery(void* e) { return Done(Query(e)); }
INGOT_HIP_EXPORT int hipEventElapsedTime(float* milliseconds, void* start,
                                         void* stop) {
  return Done(Elapsed(milliseconds, start, stop));
}

}  // namespace ingot::emulator::hip
