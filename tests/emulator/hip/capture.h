// Stream capture, and the one way by which work gets into a stream or, while
// the stream captures, into a graph.
#ifndef TESTS_EMULATOR_HIP_CAPTURE_H_
#define TESTS_EMULATOR_HIP_CAPTURE_H_

#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/emulator/hip/graph.h"
#include "tests/emulator/hip/operation.h"
#include "tests/emulator/hip/stream.h"

namespace ingot::emulator::hip {

// hipStreamCaptureMode and hipStreamCaptureStatus.
enum CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

struct Capture {
  unsigned long long id = 0;
  CaptureMode mode = kGlobal;
  CaptureStatus status = kActive;
  std::thread::id thread;
  StreamPtr origin;               // null when the capture has ended
  std::vector<StreamPtr> joined;  // the others
  std::shared_ptr<Graph> graph;
  bool own_graph = true;    // made by the capture
  std::set<Node*> pending;  // nodes that must have joined at the end
};

// Guards captures, graphs, and the recorded state of events.
std::mutex& CaptureMutex();

// The rest of this block with CaptureMutex() held.
// All captures that have not ended.
std::set<std::shared_ptr<Capture>>& ActiveCaptures();
// Whether the legacy stream would have to wait for it.
bool HasBlockingStream(const Capture& capture);
// Adds the nodes that are not there yet.
void MergeNodes(const std::vector<Node*>& from, std::vector<Node*>* to);
// Lets go of all streams of a capture.
void FinishCapture(const std::shared_ptr<Capture>& capture);

// Adds `operation` to `stream`, or to its graph while it captures. `completion`
// receives the end of the work, null when it was captured. CheckOperation comes
// first; errors are its and those of capture.
int Enqueue(const StreamPtr& stream, Operation operation,
            CompletionPtr* completion = nullptr);
// For event operations that, while `stream` captures, become nodes which act on
// the event at each launch ("external").
int EnqueueExternal(const StreamPtr& stream, Operation operation);
// As Enqueue, for a stream's handle; waits when HIP_LAUNCH_BLOCKING is set.
int EnqueueOn(void* stream, Operation operation);
// For calls that return when the work is done: the legacy stream, and no
// capture may be under way.
int EnqueueAndWait(Operation operation);

// The rules for calls that are not submitted to a stream. Each returns
// kSuccess, or the error and invalidates what forbids the call.
// Calls that captures of the calling thread, and in the global mode those of
// others, forbid: allocation and its like.
int CheckUnsafeCall();
// Calls that no capture may meet: waiting for a device, or for a copy.
int CheckNoCapture(int error);
// Waiting for `stream`, or asking whether it is idle.
int CheckNotCapturing(Stream& stream);

// Ends the capture that a destroyed stream takes part in.
void DropFromCapture(Stream& stream);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_CAPTURE_H_
