// Fills, and values that a stream itself writes or waits for.
#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/copy.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

int FillNow(FillOp fill) {
  return Empty(fill) ? int{kSuccess} : EnqueueAndWait(std::move(fill));
}

int FillInStream(FillOp fill, void* handle) {
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  return Empty(fill) ? int{kSuccess} : Enqueue(stream, std::move(fill));
}

FillOp PitchedFill(void* to, size_t pitch, int value, size_t width,
                   size_t height, size_t depth = 1, size_t slice = 0) {
  FillOp f = LinearFill(to, static_cast<unsigned>(value), 1, width);
  f.to.pitch = pitch;
  f.to.slice = slice;
  f.height = height;
  f.depth = depth;
  return f;
}

FillOp Fill3d(const PitchedPointer& to, int value, const Extent& e) {
  return PitchedFill(to.pointer, to.pitch, value, e.width, e.height, e.depth,
                     to.pitch * to.height);
}

int Value(void* stream, void* pointer, uint64_t value, uint64_t mask, int bytes,
          bool write, unsigned condition) {
  return EnqueueOn(stream,
                   ValueOp{pointer, value, mask, bytes, write, condition});
}

}  // namespace

FillOp LinearFill(void* to, unsigned value, unsigned element, size_t count) {
  FillOp f;
  f.to = MakeRegion(to);
  f.value = value;
  f.element = element;
  f.width = count;
  return f;
}

int MakeFill(const MemsetParams& p, FillOp* fill) {
  *fill = LinearFill(p.to, p.value, p.element, p.width);
  fill->to.pitch = p.pitch;
  fill->height = p.height;
  return p.height == 0 ? kInvalidValue : kSuccess;
}

INGOT_HIP_EXPORT int hipMemset(void* to, int value, size_t n) {
  return Done(FillNow(LinearFill(to, static_cast<unsigned>(value), 1, n)));
}
INGOT_HIP_EXPORT int hipMemsetAsync(void* to, int value, size_t n,
                                    void* stream) {
  return Done(
      FillInStream(LinearFill(to, static_cast<unsigned>(value), 1, n), stream));
}
INGOT_HIP_EXPORT int hipMemsetD8(void* to, unsigned char value, size_t n) {
  return Done(FillNow(LinearFill(to, value, 1, n)));
}
INGOT_HIP_EXPORT int hipMemsetD8Async(void* to, unsigned char value, size_t n,
                                      void* stream) {
  return Done(FillInStream(LinearFill(to, value, 1, n), stream));
}
INGOT_HIP_EXPORT int hipMemsetD16(void* to, unsigned short value, size_t n) {
  return Done(FillNow(LinearFill(to, value, 2, n)));
}
INGOT_HIP_EXPORT int hipMemsetD16Async(void* to, unsigned short value, size_t n,
                                       void* stream) {
  return Done(FillInStream(LinearFill(to, value, 2, n), stream));
}
INGOT_HIP_EXPORT int hipMemsetD32(void* to, int value, size_t n) {
  return Done(FillNow(LinearFill(to, static_cast<unsigned>(value), 4, n)));
}
INGOT_HIP_EXPORT int hipMemsetD32Async(void* to, int value, size_t n,
                                       void* stream) {
  return Done(
      FillInStream(LinearFill(to, static_cast<unsigned>(value), 4, n), stream));
}
INGOT_HIP_EXPORT int hipMemset2D(void* to, size_t pitch, int value,
                                 size_t width, size_t height) {
  return Done(FillNow(PitchedFill(to, pitch, value, width, height)));
}
INGOT_HIP_EXPORT int hipMemset2DAsync(void* to, size_t pitch, int value,
                                      size_t width, size_t height,
                                      void* stream) {
  return Done(
      FillInStream(PitchedFill(to, pitch, value, width, height), stream));
}
INGOT_HIP_EXPORT int hipMemset3D(PitchedPointer to, int value, Extent extent) {
  return Done(FillNow(Fill3d(to, value, extent)));
}
INGOT_HIP_EXPORT int hipMemset3DAsync(PitchedPointer to, int value,
                                      Extent extent, void* stream) {
  return Done(FillInStream(Fill3d(to, value, extent), stream));
}

INGOT_HIP_EXPORT int hipStreamWriteValue32(void* stream, void* to,
                                           uint32_t value, unsigned) {
  return Done(Value(stream, to, value, ~uint64_t{0}, 4, true, 0));
}
INGOT_HIP_EXPORT int hipStreamWriteValue64(void* stream, void* to,
                                           uint64_t value, unsigned) {
  return Done(Value(stream, to, value, ~uint64_t{0}, 8, true, 0));
}
INGOT_HIP_EXPORT int hipStreamWaitValue32(void* stream, void* from,
                                          uint32_t value, unsigned condition,
                                          uint32_t mask) {
  return Done(Value(stream, from, value, mask, 4, false, condition));
}
INGOT_HIP_EXPORT int hipStreamWaitValue64(void* stream, void* from,
                                          uint64_t value, unsigned condition,
                                          uint64_t mask) {
  return Done(Value(stream, from, value, mask, 8, false, condition));
}

}  // namespace ingot::emulator::hip
