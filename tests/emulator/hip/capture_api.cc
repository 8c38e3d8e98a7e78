// Beginning and ending captures, and what they tell about themselves.
#include <algorithm>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// Whether `tail` follows all work that was captured.
bool AllJoined(const Capture& capture, const std::vector<Node*>& tail) {
  std::set<const Node*> reached;
  std::vector<const Node*> open(tail.begin(), tail.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (FindNode(node) == nullptr || !reached.insert(node).second) continue;
    open.insert(open.end(), node->before.begin(), node->before.end());
  }
  return std::all_of(capture.pending.begin(), capture.pending.end(),
                     [&](const Node* n) {
                       return reached.count(n) != 0 || FindNode(n) == nullptr;
                     });
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
  ActiveCaptures().insert(std::move(capture));
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
  FinishCapture(capture);
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
      std::any_of(ActiveCaptures().begin(), ActiveCaptures().end(),
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
    MergeNodes(found, &stream->tail);
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
}  // namespace ingot::emulator::hip
