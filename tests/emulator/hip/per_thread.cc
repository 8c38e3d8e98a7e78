// What hipcc calls with -fgpu-default-stream=per-thread: the same functions,
// but the null and the legacy stream are the calling thread's own.
#include <cstdint>

#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/hip.h"

namespace ingot::emulator::hip {
namespace {

void* const kOwn = reinterpret_cast<void*>(2);

void* Own(void* stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 1 ? kOwn : stream;
}

}  // namespace

// Functions that name a stream among their arguments; `call` says which.
#define INGOT_SPT(name, declared, call) \
  INGOT_HIP_EXPORT int name declared;   \
  INGOT_HIP_EXPORT int name##_spt declared { return name call; }

INGOT_SPT(hipStreamQuery, (void* s), (Own(s)))
INGOT_SPT(hipStreamSynchronize, (void* s), (Own(s)))
INGOT_SPT(hipStreamWaitEvent, (void* s, void* event, unsigned flags),
          (Own(s), event, flags))
INGOT_SPT(hipStreamGetFlags, (void* s, unsigned* flags), (Own(s), flags))
INGOT_SPT(hipStreamGetPriority, (void* s, int* priority), (Own(s), priority))
INGOT_SPT(hipStreamAddCallback,
          (void* s, StreamCallback callback, void* data, unsigned flags),
          (Own(s), callback, data, flags))
INGOT_SPT(hipLaunchHostFunc, (void* s, HostFunction function, void* data),
          (Own(s), function, data))
INGOT_SPT(hipEventRecord, (void* event, void* s), (event, Own(s)))
INGOT_SPT(hipLaunchKernel,
          (const void* stub, Dim3 grid, Dim3 block, void** params, size_t lds,
           void* s),
          (stub, grid, block, params, lds, Own(s)))
INGOT_SPT(hipLaunchCooperativeKernel,
          (const void* stub, Dim3 grid, Dim3 block, void** params, unsigned lds,
           void* s),
          (stub, grid, block, params, lds, Own(s)))
INGOT_SPT(hipGraphLaunch, (void* exec, void* s), (exec, Own(s)))
INGOT_SPT(hipStreamBeginCapture, (void* s, int mode), (Own(s), mode))
INGOT_SPT(hipStreamEndCapture, (void* s, void** graph), (Own(s), graph))
INGOT_SPT(hipStreamIsCapturing, (void* s, int* status), (Own(s), status))
INGOT_SPT(hipStreamGetCaptureInfo,
          (void* s, int* status, unsigned long long* id), (Own(s), status, id))
INGOT_SPT(hipStreamGetCaptureInfo_v2,
          (void* s, int* status, unsigned long long* id, void** graph,
           const void* const** tail, size_t* count),
          (Own(s), status, id, graph, tail, count))
INGOT_SPT(hipMemcpyAsync,
          (void* to, const void* from, size_t n, int kind, void* s),
          (to, from, n, kind, Own(s)))
INGOT_SPT(hipMemcpy2DAsync,
          (void* to, size_t to_pitch, const void* from, size_t from_pitch,
           size_t width, size_t height, int kind, void* s),
          (to, to_pitch, from, from_pitch, width, height, kind, Own(s)))
INGOT_SPT(hipMemcpy3DAsync, (const Copy3dParams* params, void* s),
          (params, Own(s)))
INGOT_SPT(hipMemcpyToSymbolAsync,
          (const void* symbol, const void* from, size_t n, size_t offset,
           int kind, void* s),
          (symbol, from, n, offset, kind, Own(s)))
INGOT_SPT(hipMemcpyFromSymbolAsync,
          (void* to, const void* symbol, size_t n, size_t offset, int kind,
           void* s),
          (to, symbol, n, offset, kind, Own(s)))
INGOT_SPT(hipMemsetAsync, (void* to, int value, size_t n, void* s),
          (to, value, n, Own(s)))
INGOT_SPT(hipMemset2DAsync,
          (void* to, size_t pitch, int value, size_t width, size_t height,
           void* s),
          (to, pitch, value, width, height, Own(s)))
INGOT_SPT(hipMemset3DAsync,
          (PitchedPointer to, int value, Extent extent, void* s),
          (to, value, extent, Own(s)))
#undef INGOT_SPT

// Functions that wait: the stream's form of them, and the wait.
#define INGOT_SPT_SYNC(name, declared, call)                       \
  INGOT_HIP_EXPORT int name##_spt declared {                       \
    const int error = name##Async call;                            \
    return error != kSuccess ? error : hipStreamSynchronize(kOwn); \
  }

INGOT_SPT_SYNC(hipMemcpy, (void* to, const void* from, size_t n, int kind),
               (to, from, n, kind, kOwn))
INGOT_SPT_SYNC(hipMemcpy2D,
               (void* to, size_t to_pitch, const void* from, size_t from_pitch,
                size_t width, size_t height, int kind),
               (to, to_pitch, from, from_pitch, width, height, kind, kOwn))
INGOT_SPT_SYNC(hipMemcpy3D, (const Copy3dParams* params), (params, kOwn))
INGOT_SPT_SYNC(hipMemcpyToSymbol,
               (const void* symbol, const void* from, size_t n, size_t offset,
                int kind),
               (symbol, from, n, offset, kind, kOwn))
INGOT_SPT_SYNC(hipMemcpyFromSymbol,
               (void* to, const void* symbol, size_t n, size_t offset,
                int kind),
               (to, symbol, n, offset, kind, kOwn))
INGOT_SPT_SYNC(hipMemset, (void* to, int value, size_t n), (to, value, n, kOwn))
INGOT_SPT_SYNC(hipMemset2D,
               (void* to, size_t pitch, int value, size_t width, size_t height),
               (to, pitch, value, width, height, kOwn))
INGOT_SPT_SYNC(hipMemset3D, (PitchedPointer to, int value, Extent extent),
               (to, value, extent, kOwn))
#undef INGOT_SPT_SYNC

}  // namespace ingot::emulator::hip
