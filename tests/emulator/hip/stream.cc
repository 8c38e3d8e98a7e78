// Streams and events. Work is done when it is submitted.
#include <chrono>

#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

Runtime& R() { return Runtime::Get(); }

int NewStream(void** out, unsigned flags, int priority) {
  if (out == nullptr) return kInvalidValue;
  if (!R().valid_device(CurrentDevice())) return kNoDevice;
  *out = R().AddStream(Stream{CurrentDevice(), flags, priority});
  return kSuccess;
}

int StreamState(void* stream) {
  int device;
  return CheckStream(stream, &device);
}

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int NewEvent(void** out, unsigned flags) {
  if (out == nullptr) return kInvalidValue;
  *out = R().AddEvent(Event{flags, false, 0});
  return kSuccess;
}

thread_local int capture_mode = 0;  // global, as HIP starts threads

}  // namespace

INGOT_HIP_EXPORT int hipStreamCreate(void** s) {
  return R().Set(NewStream(s, 0, 0));
}
INGOT_HIP_EXPORT int hipStreamCreateWithFlags(void** s, unsigned flags) {
  return R().Set(NewStream(s, flags, 0));
}
INGOT_HIP_EXPORT int hipStreamCreateWithPriority(void** s, unsigned flags,
                                                 int priority) {
  return R().Set(NewStream(s, flags, priority));
}
INGOT_HIP_EXPORT int hipStreamDestroy(void* s) {
  return R().Set(R().DropStream(static_cast<Stream*>(s)) ? kSuccess
                                                         : kInvalidHandle);
}
INGOT_HIP_EXPORT int hipStreamSynchronize(void* s) {
  return R().Set(StreamState(s));
}
INGOT_HIP_EXPORT int hipStreamQuery(void* s) { return R().Set(StreamState(s)); }
INGOT_HIP_EXPORT int hipStreamGetFlags(void* s, unsigned* flags) {
  if (flags == nullptr) return R().Set(kInvalidValue);
  const int state = StreamState(s);
  if (state == kInvalidHandle) return R().Set(state);
  *flags = IsDefaultStream(s) ? 0 : static_cast<Stream*>(s)->flags;
  return kSuccess;
}
INGOT_HIP_EXPORT int hipStreamWaitEvent(void* s, void* event, unsigned) {
  if (!R().IsEvent(static_cast<Event*>(event))) return R().Set(kInvalidHandle);
  return R().Set(StreamState(s));
}
INGOT_HIP_EXPORT int hipStreamIsCapturing(void*, int* status) {
  if (status == nullptr) return R().Set(kInvalidValue);
  *status = 0;
  return kSuccess;
}
INGOT_HIP_EXPORT int hipThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return R().Set(kInvalidValue);
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipEventCreate(void** e) {
  return R().Set(NewEvent(e, 0));
}
INGOT_HIP_EXPORT int hipEventCreateWithFlags(void** e, unsigned flags) {
  return R().Set(NewEvent(e, flags));
}
INGOT_HIP_EXPORT int hipEventDestroy(void* e) {
  return R().Set(R().DropEvent(static_cast<Event*>(e)) ? kSuccess
                                                       : kInvalidHandle);
}
INGOT_HIP_EXPORT int hipEventRecord(void* e, void* stream) {
  Event* event = static_cast<Event*>(e);
  if (!R().IsEvent(event)) return R().Set(kInvalidHandle);
  const int state = StreamState(stream);
  if (state != kSuccess) return R().Set(state);
  event->recorded = true;
  event->nanoseconds = Now();
  return kSuccess;
}
INGOT_HIP_EXPORT int hipEventSynchronize(void* e) {
  return R().Set(R().IsEvent(static_cast<Event*>(e)) ? kSuccess
                                                     : kInvalidHandle);
}
INGOT_HIP_EXPORT int hipEventQuery(void* e) { return hipEventSynchronize(e); }
INGOT_HIP_EXPORT int hipEventElapsedTime(float* milliseconds, void* start,
                                         void* stop) {
  const Event* a = static_cast<Event*>(start);
  const Event* b = static_cast<Event*>(stop);
  if (milliseconds == nullptr) return R().Set(kInvalidValue);
  if (!R().IsEvent(a) || !R().IsEvent(b) || !a->recorded || !b->recorded) {
    return R().Set(kInvalidHandle);
  }
  *milliseconds = static_cast<float>(b->nanoseconds - a->nanoseconds) * 1e-6f;
  return kSuccess;
}

}  // namespace ingot::emulator::hip
