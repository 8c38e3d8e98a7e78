// Streams and events.
#ifndef TESTS_EMULATOR_HIP_STREAM_H_
#define TESTS_EMULATOR_HIP_STREAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/emulator/hip/queue.h"

namespace ingot::emulator::hip {

struct Capture;
struct Node;

inline constexpr unsigned kStreamNonBlocking = 1;

// What a hipStream_t stands for.
struct Stream {
  enum class Kind { kCreated, kLegacy, kPerThread };

  Stream(int d, unsigned f, int p, Kind k)
      : device(d), flags(f), priority(p), kind(k) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { queue->Close(); }

  // Whether it and the legacy stream wait for each other.
  bool blocking() const {
    return kind != Kind::kLegacy && (flags & kStreamNonBlocking) == 0;
  }

  const int device;
  const unsigned flags;
  const int priority;
  const Kind kind;
  const std::shared_ptr<Queue> queue = std::make_shared<Queue>();

  // Under CaptureMutex(): the capture it takes part in, and the nodes that the
  // next captured one follows.
  std::shared_ptr<Capture> capture;
  std::vector<Node*> tail;
};
using StreamPtr = std::shared_ptr<Stream>;

inline constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2,
                          kEventInterprocess = 4;

// What a hipEvent_t stands for.
struct Event {
  Event(int d, unsigned f) : device(d), flags(f) {}

  const int device;
  const unsigned flags;

  // Under CaptureMutex(): its last record, in a stream or in a capture.
  CompletionPtr recorded;
  std::shared_ptr<Capture> capture;
  std::vector<Node*> nodes;
};
using EventPtr = std::shared_ptr<Event>;

// kSuccess and the stream that a handle means to the calling thread, or why
// nothing can be submitted to it. Null and 1 are the current device's legacy
// stream, 2 the thread's own.
int FindStream(void* handle, StreamPtr* stream);
// The same, and the sticky fault of its device.
int FindUsableStream(void* handle, StreamPtr* stream);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_STREAM_H_
