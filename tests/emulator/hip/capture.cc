#include "tests/emulator/hip/capture.h"

#include <algorithm>
#include <cstdlib>

#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

thread_local CaptureMode thread_mode = kGlobal;

template <class Predicate>
bool InvalidateIf(Predicate predicate) {
  bool any = false;
  for (const auto& capture : ActiveCaptures()) {
    if (!predicate(*capture)) continue;
    capture->status = kInvalidated;
    any = true;
  }
  return any;
}

// The legacy stream would have to wait for them.
int CheckLegacy(const Stream& stream) {
  if (stream.kind != Stream::Kind::kLegacy) return kSuccess;
  return InvalidateIf(HasBlockingStream) ? kStreamCaptureImplicit : kSuccess;
}

int CaptureRecord(Stream& stream, Event& event) {
  event.recorded = nullptr;
  event.capture = stream.capture;
  event.nodes = stream.tail;
  return kSuccess;
}

bool Ended(const Capture& capture) { return capture.origin == nullptr; }

// A wait for an event that a capture recorded draws the stream into it.
int WaitForCaptured(const StreamPtr& stream, Event& event) {
  const std::shared_ptr<Capture> capture = event.capture;
  if (Ended(*capture)) return kSuccess;
  if (stream->kind == Stream::Kind::kLegacy) {
    capture->status = kInvalidated;
    return kStreamCaptureImplicit;
  }
  if (capture->status == kInvalidated) return kStreamCaptureInvalidated;
  if (stream->capture == nullptr) {
    stream->capture = capture;
    capture->joined.push_back(stream);
  } else if (stream->capture != capture) {
    stream->capture->status = capture->status = kInvalidated;
    return kStreamCaptureMerge;
  }
  MergeNodes(event.nodes, &stream->tail);
  return kSuccess;
}

void AddNode(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
  // The caller may have destroyed nodes meanwhile.
  std::erase_if(stream.tail, [](Node* n) { return FindNode(n) == nullptr; });
  Node* node = capture.graph->Add(std::move(operation), stream.tail);
  capture.pending.insert(node);
  stream.tail = {node};
}

// Captures work in `stream`, which captures. Events alone make no node.
int CaptureOperation(const StreamPtr& stream, Operation operation) {
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->status == kInvalidated) return kStreamCaptureInvalidated;
  if (auto* record = std::get_if<EventRecordOp>(&operation))
    return CaptureRecord(*stream, *record->event);
  if (auto* wait = std::get_if<EventWaitOp>(&operation)) {
    Event& event = *wait->event;
    if (event.capture != nullptr) return WaitForCaptured(stream, event);
    if (event.recorded == nullptr) return kSuccess;
    capture->status = kInvalidated;
    return kStreamCaptureIsolation;
  }
  if (NodeType(operation) < 0) {
    capture->status = kInvalidated;
    return kStreamCaptureUnsupported;
  }
  AddNode(*stream, std::move(operation));
  return kSuccess;
}

int SubmitOperation(const StreamPtr& stream, Operation operation,
                    CompletionPtr* completion) {
  std::vector<CompletionPtr> after;
  EventPtr record;
  if (auto* op = std::get_if<EventRecordOp>(&operation)) record = op->event;
  if (auto* wait = std::get_if<EventWaitOp>(&operation)) {
    Event& event = *wait->event;
    if (event.capture != nullptr) return WaitForCaptured(stream, event);
    if (event.recorded == nullptr) return kSuccess;
    after.push_back(event.recorded);
  }
  const int device = stream->device;
  CompletionPtr end = R().Submit(
      *stream,
      [operation = std::move(operation), device] {
        Perform(operation, device);
      },
      std::move(after));
  if (record != nullptr) {
    record->recorded = end;
    record->capture = nullptr;
    record->nodes.clear();
  }
  if (completion != nullptr) *completion = std::move(end);
  return kSuccess;
}

bool LaunchBlocking() {
  static const bool blocking = [] {
    const char* value = std::getenv("HIP_LAUNCH_BLOCKING");
    return value != nullptr && std::atoi(value) != 0;
  }();
  return blocking;
}

}  // namespace

std::mutex& CaptureMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::set<std::shared_ptr<Capture>>& ActiveCaptures() {
  static auto* const active = new std::set<std::shared_ptr<Capture>>;
  return *active;
}

bool HasBlockingStream(const Capture& capture) {
  return capture.origin->blocking() ||
         std::any_of(capture.joined.begin(), capture.joined.end(),
                     [](const StreamPtr& s) { return s->blocking(); });
}

void MergeNodes(const std::vector<Node*>& from, std::vector<Node*>* to) {
  for (Node* node : from) {
    if (std::find(to->begin(), to->end(), node) == to->end())
      to->push_back(node);
  }
}

void FinishCapture(const std::shared_ptr<Capture>& capture) {
  for (const StreamPtr& s : capture->joined) {
    s->capture = nullptr;
    s->tail.clear();
  }
  capture->origin->capture = nullptr;
  capture->origin->tail.clear();
  capture->joined.clear();
  capture->origin = nullptr;
  ActiveCaptures().erase(capture);
}

int Enqueue(const StreamPtr& stream, Operation operation,
            CompletionPtr* completion) {
  if (completion != nullptr) *completion = nullptr;
  if (const int error = CheckOperation(operation, stream->device);
      error != kSuccess) {
    return error;
  }
  std::lock_guard<std::mutex> lock(CaptureMutex());
  if (stream->capture != nullptr)
    return CaptureOperation(stream, std::move(operation));
  if (const int error = CheckLegacy(*stream); error != kSuccess) return error;
  return SubmitOperation(stream, std::move(operation), completion);
}

int EnqueueExternal(const StreamPtr& stream, Operation operation) {
  {
    std::lock_guard<std::mutex> lock(CaptureMutex());
    if (stream->capture != nullptr) {
      if (stream->capture->status == kInvalidated)
        return kStreamCaptureInvalidated;
      AddNode(*stream, std::move(operation));
      return kSuccess;
    }
  }
  return Enqueue(stream, std::move(operation));
}

int EnqueueOn(void* handle, Operation operation) {
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  CompletionPtr end;
  const int error = Enqueue(stream, std::move(operation), &end);
  if (error != kSuccess || end == nullptr || !LaunchBlocking()) return error;
  return R().WaitFor(end, stream->device);
}

int EnqueueAndWait(Operation operation) {
  if (const int error = CheckNoCapture(kStreamCaptureImplicit);
      error != kSuccess) {
    return error;
  }
  if (Queue::InQueue()) return kIllegalState;
  StreamPtr stream;
  if (const int error = FindUsableStream(nullptr, &stream); error != kSuccess)
    return error;
  CompletionPtr end;
  const int error = Enqueue(stream, std::move(operation), &end);
  return error != kSuccess ? error : R().WaitFor(end, stream->device);
}

int CheckUnsafeCall() {
  if (thread_mode == kRelaxed) return kSuccess;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const auto forbids = [](const Capture& c) {
    if (c.mode == kRelaxed) return false;
    return c.thread == std::this_thread::get_id() ||
           (thread_mode == kGlobal && c.mode == kGlobal);
  };
  return InvalidateIf(forbids) ? kStreamCaptureUnsupported : kSuccess;
}

int CheckNoCapture(int error) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  return InvalidateIf([](const Capture&) { return true; }) ? error
                                                           : int{kSuccess};
}

int CheckNotCapturing(Stream& stream) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  if (stream.capture == nullptr) return CheckLegacy(stream);
  stream.capture->status = kInvalidated;
  return kStreamCaptureUnsupported;
}

void DropFromCapture(Stream& stream) {
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return;
  if (capture->origin.get() == &stream) {
    FinishCapture(capture);
    const std::shared_ptr<Graph> graph = std::move(capture->graph);
    if (capture->own_graph) R().graphs.Drop(graph.get());
    return;
  }
  auto& joined = capture->joined;
  joined.erase(
      std::remove_if(joined.begin(), joined.end(),
                     [&](const auto& s) { return s.get() == &stream; }),
      joined.end());
  stream.capture = nullptr;
  stream.tail.clear();
}

INGOT_HIP_EXPORT int hipThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < kGlobal || *mode > kRelaxed)
    return Done(kInvalidValue);
  const int before = thread_mode;
  thread_mode = static_cast<CaptureMode>(*mode);
  *mode = before;
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
