#include "tests/emulator/hip/capture.h"

#include <algorithm>
#include <cstdlib>

#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

Runtime& R() { return Runtime::Get(); }

thread_local CaptureMode thread_mode = kGlobal;

// All captures that have not ended. CaptureMutex() held.
std::set<std::shared_ptr<Capture>>& Active() {
  static auto* const active = new std::set<std::shared_ptr<Capture>>;
  return *active;
}

template <class Predicate>
bool InvalidateIf(Predicate predicate) {
  bool any = false;
  for (const auto& capture : Active()) {
    if (!predicate(*capture)) continue;
    capture->status = kInvalidated;
    any = true;
  }
  return any;
}

bool HasBlockingStream(const Capture& capture) {
  return capture.origin->blocking() ||
         std::any_of(capture.joined.begin(), capture.joined.end(),
                     [](const StreamPtr& s) { return s->blocking(); });
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

void Merge(const std::vector<Node*>& from, std::vector<Node*>* to) {
  for (Node* node : from) {
    if (std::find(to->begin(), to->end(), node) == to->end())
      to->push_back(node);
  }
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
  Merge(event.nodes, &stream->tail);
  return kSuccess;
}

void AddNode(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
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

// The captures end together with the stream that began them.
void Finish(const std::shared_ptr<Capture>& capture) {
  for (const StreamPtr& s : capture->joined) {
    s->capture = nullptr;
    s->tail.clear();
  }
  capture->origin->capture = nullptr;
  capture->origin->tail.clear();
  capture->joined.clear();
  capture->origin = nullptr;
  Active().erase(capture);
}

// Whether `tail` follows all work that was captured.
bool AllJoined(const Capture& capture, const std::vector<Node*>& tail) {
  std::set<const Node*> reached;
  std::vector<const Node*> open(tail.begin(), tail.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->before.begin(), node->before.end());
  }
  return std::all_of(capture.pending.begin(), capture.pending.end(),
                     [&](const Node* n) { return reached.count(n) != 0; });
}

int Begin(void* handle, int mode, std::shared_ptr<Graph> graph,
          std::vector<Node*> after) {
  static unsigned long long next_id = 1;
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  if (stream->kind == Stream::Kind::kLegacy) return kStreamCaptureUnsupported;
  if (mode < kGlobal || mode > kRelaxed) return kInvalidValue;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  if (stream->capture != nullptr) return kIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = next_id++;
  capture->mode = static_cast<CaptureMode>(mode);
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->own_graph = graph == nullptr;
  if (graph == nullptr) {
    graph = std::make_shared<Graph>();
    R().graphs.Add(graph);
  }
  capture->graph = std::move(graph);
  stream->tail = std::move(after);
  stream->capture = capture;
  Active().insert(std::move(capture));
  return kSuccess;
}

int BeginInto(void* stream, void* handle, const void* const* after,
              const void* edges, size_t count, int mode) {
  if (edges != nullptr) return kNotSupported;
  if ((after == nullptr) != (count == 0)) return kInvalidValue;
  const std::shared_ptr<Graph> graph = R().graphs.Find(handle);
  if (graph == nullptr) return kInvalidValue;
  std::vector<Node*> nodes;
  {
    std::lock_guard<std::mutex> lock(CaptureMutex());
    if (!FindNodes(after, count, graph.get(), &nodes)) return kInvalidValue;
  }
  return Begin(stream, mode, graph, std::move(nodes));
}

int End(void* handle, void** out) {
  if (out == nullptr) return kInvalidValue;
  *out = nullptr;
  StreamPtr stream;
  if (const int error = FindStream(handle, &stream); error != kSuccess)
    return error;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return kIllegalState;
  if (capture->origin != stream) return kStreamCaptureUnmatched;
  if (capture->mode != kRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return kStreamCaptureWrongThread;
  }
  int error = kSuccess;
  if (capture->status == kInvalidated) {
    error = kStreamCaptureInvalidated;
  } else if (!AllJoined(*capture, stream->tail)) {
    error = kStreamCaptureUnjoined;
  }
  Finish(capture);
  const std::shared_ptr<Graph> graph = std::move(capture->graph);
  if (error == kSuccess) {
    *out = graph.get();
  } else if (capture->own_graph) {
    R().graphs.Drop(graph.get());
  }
  return error;
}

int Info(void* handle, int* status, unsigned long long* id, void** graph,
         const void* const** tail, size_t* count) {
  if (status == nullptr) return kInvalidValue;
  StreamPtr stream;
  if (const int error = FindStream(handle, &stream); error != kSuccess)
    return error;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  if (stream->kind == Stream::Kind::kLegacy &&
      std::any_of(Active().begin(), Active().end(),
                  [](const auto& c) { return HasBlockingStream(*c); })) {
    return kStreamCaptureImplicit;
  }
  const Capture* capture = stream->capture.get();
  *status = capture == nullptr ? kNone : capture->status;
  if (*status != kActive) return kSuccess;
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = capture->graph.get();
  if (tail != nullptr)
    *tail = reinterpret_cast<const void* const*>(stream->tail.data());
  if (count != nullptr) *count = stream->tail.size();
  return kSuccess;
}

int UpdateDependencies(void* handle, const void* const* nodes, size_t count,
                       unsigned flags) {
  constexpr unsigned kAdd = 0, kSet = 1;
  if ((nodes == nullptr && count != 0) || flags > kSet) return kInvalidValue;
  StreamPtr stream;
  if (const int error = FindStream(handle, &stream); error != kSuccess)
    return error;
  std::lock_guard<std::mutex> lock(CaptureMutex());
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return kIllegalState;
  if (capture->status == kInvalidated) return kStreamCaptureInvalidated;
  std::vector<Node*> found;
  if (!FindNodes(nodes, count, capture->graph.get(), &found))
    return kInvalidValue;
  if (flags == kAdd) {
    Merge(found, &stream->tail);
    return kSuccess;
  }
  // What is taken out of the set on purpose need not join.
  for (Node* node : stream->tail) {
    if (std::find(found.begin(), found.end(), node) == found.end())
      capture->pending.erase(node);
  }
  stream->tail = std::move(found);
  return kSuccess;
}

}  // namespace

std::mutex& CaptureMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
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
    Finish(capture);
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

INGOT_HIP_EXPORT int hipStreamBeginCapture(void* stream, int mode) {
  return Done(Begin(stream, mode, nullptr, {}));
}
INGOT_HIP_EXPORT int hipStreamBeginCaptureToGraph(void* stream, void* graph,
                                                  const void* const* after,
                                                  const void* edges,
                                                  size_t count, int mode) {
  return Done(BeginInto(stream, graph, after, edges, count, mode));
}
INGOT_HIP_EXPORT int hipStreamEndCapture(void* stream, void** graph) {
  return Done(End(stream, graph));
}
INGOT_HIP_EXPORT int hipStreamIsCapturing(void* stream, int* status) {
  return Done(Info(stream, status, nullptr, nullptr, nullptr, nullptr));
}
INGOT_HIP_EXPORT int hipStreamGetCaptureInfo(void* stream, int* status,
                                             unsigned long long* id) {
  return Done(Info(stream, status, id, nullptr, nullptr, nullptr));
}
// The list of nodes is valid until the stream captures on.
INGOT_HIP_EXPORT int hipStreamGetCaptureInfo_v2(void* stream, int* status,
                                                unsigned long long* id,
                                                void** graph,
                                                const void* const** tail,
                                                size_t* count) {
  return Done(Info(stream, status, id, graph, tail, count));
}
INGOT_HIP_EXPORT int hipStreamUpdateCaptureDependencies(
    void* stream, const void* const* nodes, size_t count, unsigned flags) {
  return Done(UpdateDependencies(stream, nodes, count, flags));
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
