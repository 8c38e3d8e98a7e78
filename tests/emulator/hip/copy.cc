// Copies. Device memory is host memory, so each one is a checked memmove.
#include "tests/emulator/hip/copy.h"

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

CopyOp PitchedCopy(void* to, size_t to_pitch, const void* from,
                   size_t from_pitch, size_t width, size_t height, int kind) {
  CopyOp c;
  c.to = MakeRegion(to, to_pitch);
  c.from = MakeRegion(from, from_pitch);
  c.width = width;
  c.height = height;
  c.kind = kind;
  return c;
}

// A pitch below the width is refused even for one row.
int CheckPitches(const CopyOp& c) {
  return c.to.pitch < c.width || c.from.pitch < c.width ? kInvalidPitchValue
                                                        : kSuccess;
}

int CopyNow(CopyOp copy) {
  return Empty(copy) ? int{kSuccess} : EnqueueAndWait(std::move(copy));
}

// The caller may use pageable memory again as soon as the call returns, as HIP
// stages it.
int CopyInStream(CopyOp copy, void* handle) {
  StreamPtr stream;
  if (const int error = FindUsableStream(handle, &stream); error != kSuccess)
    return error;
  if (Empty(copy)) return kSuccess;
  const bool pageable = !copy.to.known || !copy.from.known;
  CompletionPtr end;
  const int error = Enqueue(stream, std::move(copy), &end);
  if (error != kSuccess || !pageable || end == nullptr) return error;
  return R().WaitFor(end, stream->device);
}

// HIP 7 refuses it in any capture: it is a copy that waits.
int CopyAndWaitInStream(CopyOp copy, void* handle) {
  if (const int error = CheckNoCapture(kStreamCaptureUnsupported);
      error != kSuccess) {
    return error;
  }
  StreamPtr stream;
  if (const int error = CopyInStream(std::move(copy), handle);
      error != kSuccess) {
    return error;
  }
  const int error = FindUsableStream(handle, &stream);
  return error != kSuccess ? error : R().WaitStream(*stream);
}

const void* SidePointer(int type, const void* host, const void* device) {
  return type == kTypeHost ? host : device;
}

template <class Params>
int FromParams(const Params* params, CopyOp* copy) {
  return params == nullptr ? int{kInvalidValue} : MakeCopy(*params, copy);
}

int From2d(const Copy2dParams* p, CopyOp* copy) {
  if (p == nullptr) return kInvalidValue;
  if (p->from.array != nullptr || p->to.array != nullptr) return kNotSupported;
  const auto side = [](const Copy2dSide& s) -> const void* {
    const void* base = SidePointer(s.type, s.host, s.device);
    return base == nullptr
               ? base
               : static_cast<const char*>(base) + s.y * s.pitch + s.x;
  };
  *copy =
      PitchedCopy(const_cast<void*>(side(p->to)), p->to.pitch, side(p->from),
                  p->from.pitch, p->width, p->height, kDefaultKind);
  return CheckPitches(*copy);
}

bool DevicesOk(int to, int from) {
  return R().valid_device(to) && R().valid_device(from);
}

}  // namespace

Region MakeRegion(const void* pointer, size_t pitch, size_t slice) {
  return {const_cast<void*>(pointer), pitch, slice,
          pointer != nullptr && R().allocations.Find(pointer).has_value()};
}

CopyOp LinearCopy(void* to, const void* from, size_t bytes, int kind) {
  return PitchedCopy(to, bytes, from, bytes, bytes, 1, kind);
}

int MakeCopy(const Copy3dParams& p, CopyOp* copy) {
  if (p.from_array != nullptr || p.to_array != nullptr) return kNotSupported;
  const auto side = [](const PitchedPointer& at, const Position& pos) {
    const size_t slice = at.pitch * at.height;
    const char* base = static_cast<const char*>(at.pointer);
    if (base != nullptr) base += pos.z * slice + pos.y * at.pitch + pos.x;
    return MakeRegion(base, at.pitch, slice);
  };
  copy->to = side(p.to, p.to_at);
  copy->from = side(p.from, p.from_at);
  copy->width = p.extent.width;
  copy->height = p.extent.height;
  copy->depth = p.extent.depth;
  copy->kind = p.kind;
  return kSuccess;
}

int MakeCopy(const DriverCopy3dParams& p, CopyOp* copy) {
  if (p.from.array != nullptr || p.to.array != nullptr) return kNotSupported;
  const auto side = [](const DriverCopy3dSide& s) {
    const size_t slice = s.pitch * s.height;
    const char* base =
        static_cast<const char*>(SidePointer(s.type, s.host, s.device));
    if (base != nullptr) base += s.z * slice + s.y * s.pitch + s.x;
    return MakeRegion(base, s.pitch, slice);
  };
  copy->to = side(p.to);
  copy->from = side(p.from);
  copy->width = p.width;
  copy->height = p.height;
  copy->depth = p.depth;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipMemcpy(void* to, const void* from, size_t n, int kind) {
  return Done(CopyNow(LinearCopy(to, from, n, kind)));
}
INGOT_HIP_EXPORT int hipMemcpyHtoD(void* to, const void* from, size_t n) {
  return Done(CopyNow(LinearCopy(to, from, n, kHostToDevice)));
}
INGOT_HIP_EXPORT int hipMemcpyDtoH(void* to, void* from, size_t n) {
  return Done(CopyNow(LinearCopy(to, from, n, kDeviceToHost)));
}
INGOT_HIP_EXPORT int hipMemcpyDtoD(void* to, void* from, size_t n) {
  return Done(CopyNow(LinearCopy(to, from, n, kDeviceToDevice)));
}
INGOT_HIP_EXPORT int hipMemcpyAsync(void* to, const void* from, size_t n,
                                    int kind, void* stream) {
  return Done(CopyInStream(LinearCopy(to, from, n, kind), stream));
}
INGOT_HIP_EXPORT int hipMemcpyHtoDAsync(void* to, const void* from, size_t n,
                                        void* stream) {
  return Done(CopyInStream(LinearCopy(to, from, n, kHostToDevice), stream));
}
INGOT_HIP_EXPORT int hipMemcpyDtoHAsync(void* to, void* from, size_t n,
                                        void* stream) {
  return Done(CopyInStream(LinearCopy(to, from, n, kDeviceToHost), stream));
}
INGOT_HIP_EXPORT int hipMemcpyDtoDAsync(void* to, void* from, size_t n,
                                        void* stream) {
  return Done(CopyInStream(LinearCopy(to, from, n, kDeviceToDevice), stream));
}
INGOT_HIP_EXPORT int hipMemcpyWithStream(void* to, const void* from, size_t n,
                                         int kind, void* stream) {
  return Done(CopyAndWaitInStream(LinearCopy(to, from, n, kind), stream));
}

// Copies between devices need no peer access: the runtime makes them.
INGOT_HIP_EXPORT int hipMemcpyPeer(void* to, int to_device, const void* from,
                                   int from_device, size_t n) {
  if (!DevicesOk(to_device, from_device)) return Done(kInvalidDevice);
  return Done(CopyNow(LinearCopy(to, from, n, kDeviceToDevice)));
}
INGOT_HIP_EXPORT int hipMemcpyPeerAsync(void* to, int to_device,
                                        const void* from, int from_device,
                                        size_t n, void* stream) {
  if (!DevicesOk(to_device, from_device)) return Done(kInvalidDevice);
  return Done(CopyInStream(LinearCopy(to, from, n, kDeviceToDevice), stream));
}

INGOT_HIP_EXPORT int hipMemcpy2D(void* to, size_t to_pitch, const void* from,
                                 size_t from_pitch, size_t width, size_t height,
                                 int kind) {
  const CopyOp copy =
      PitchedCopy(to, to_pitch, from, from_pitch, width, height, kind);
  const int error = CheckPitches(copy);
  return Done(error != kSuccess ? error : CopyNow(copy));
}
INGOT_HIP_EXPORT int hipMemcpy2DAsync(void* to, size_t to_pitch,
                                      const void* from, size_t from_pitch,
                                      size_t width, size_t height, int kind,
                                      void* stream) {
  const CopyOp copy =
      PitchedCopy(to, to_pitch, from, from_pitch, width, height, kind);
  const int error = CheckPitches(copy);
  return Done(error != kSuccess ? error : CopyInStream(copy, stream));
}
INGOT_HIP_EXPORT int hipMemcpyParam2D(const Copy2dParams* params) {
  CopyOp copy;
  const int error = From2d(params, &copy);
  return Done(error != kSuccess ? error : CopyNow(copy));
}
INGOT_HIP_EXPORT int hipMemcpyParam2DAsync(const Copy2dParams* params,
                                           void* stream) {
  CopyOp copy;
  const int error = From2d(params, &copy);
  return Done(error != kSuccess ? error : CopyInStream(copy, stream));
}

INGOT_HIP_EXPORT int hipMemcpy3D(const Copy3dParams* params) {
  CopyOp copy;
  const int error = FromParams(params, &copy);
  return Done(error != kSuccess ? error : CopyNow(copy));
}
INGOT_HIP_EXPORT int hipMemcpy3DAsync(const Copy3dParams* params,
                                      void* stream) {
  CopyOp copy;
  const int error = FromParams(params, &copy);
  return Done(error != kSuccess ? error : CopyInStream(copy, stream));
}
INGOT_HIP_EXPORT int hipDrvMemcpy3D(const DriverCopy3dParams* params) {
  CopyOp copy;
  const int error = FromParams(params, &copy);
  return Done(error != kSuccess ? error : CopyNow(copy));
}
INGOT_HIP_EXPORT int hipDrvMemcpy3DAsync(const DriverCopy3dParams* params,
                                         void* stream) {
  CopyOp copy;
  const int error = FromParams(params, &copy);
  return Done(error != kSuccess ? error : CopyInStream(copy, stream));
}

}  // namespace ingot::emulator::hip
