// The many entry points that launch a kernel.
#include <vector>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/launch.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

struct Request {
  const void* function = nullptr;
  LaunchConfig config;
  void* stream = nullptr;
  void** params = nullptr;
  void** extra = nullptr;
  bool cooperative = false;
  void* start = nullptr;  // events around it
  void* stop = nullptr;
};

int RecordIf(void* event, const StreamPtr& stream) {
  if (event == nullptr) return kSuccess;
  const EventPtr found = Runtime::Get().events.Find(event);
  return found == nullptr ? int{kInvalidHandle}
                          : Enqueue(stream, EventRecordOp{found});
}

int Launch(const Request& r) {
  StreamPtr stream;
  if (const int error = FindUsableStream(r.stream, &stream); error != kSuccess)
    return error;
  KernelOp op;
  if (const int error =
          MakeKernelOp(r.function, r.config, r.params, r.extra, &op);
      error != kSuccess) {
    return error;
  }
  op.cooperative = r.cooperative;
  if (const int error = CheckLaunch(op, stream->device); error != kSuccess)
    return error;
  if (const int error = RecordIf(r.start, stream); error != kSuccess)
    return error;
  if (const int error = EnqueueOn(r.stream, std::move(op)); error != kSuccess)
    return error;
  return RecordIf(r.stop, stream);
}

LaunchConfig Config(const Dim3& grid, const Dim3& block, size_t lds) {
  // What exceeds 32 bits exceeds the device.
  const auto bytes = static_cast<uint32_t>(lds > ~0u ? ~0u : lds);
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, bytes, {}};
}

// A kernel's stub, or a function's handle, which these calls take as well.
int LaunchStub(Request r) {
  FunctionPtr function;
  const int error = FindStub(r.function, CurrentDevice(), &function);
  if (error != kSuccess &&
      Runtime::Get().functions.Find(r.function) == nullptr) {
    return error;
  }
  return Launch(r);
}

bool IsCooperative(const LaunchAttribute* attributes, unsigned count) {
  constexpr int kCooperativeAttribute = 2;
  for (unsigned n = 0; n < count; ++n) {
    if (attributes[n].id == kCooperativeAttribute &&
        attributes[n].cooperative != 0) {
      return true;
    }
  }
  return false;
}

// hipFunctionLaunchParams.
struct CooperativeLaunch {
  void* function;
  unsigned grid[3], block[3], lds;
  void* stream;
  void** params;
};
static_assert(sizeof(CooperativeLaunch) == 56);

Request FromCooperative(const CooperativeLaunch& l) {
  Request r;
  r.function = l.function;
  r.config = Config({l.grid[0], l.grid[1], l.grid[2]},
                    {l.block[0], l.block[1], l.block[2]}, l.lds);
  r.stream = l.stream;
  r.params = l.params;
  r.cooperative = true;
  return r;
}

}  // namespace

INGOT_HIP_EXPORT int hipModuleLaunchKernel(void* function, unsigned gx,
                                           unsigned gy, unsigned gz,
                                           unsigned bx, unsigned by,
                                           unsigned bz, unsigned lds,
                                           void* stream, void** params,
                                           void** extra) {
  return Done(Launch({function, Config({gx, gy, gz}, {bx, by, bz}, lds), stream,
                      params, extra}));
}

// Sizes in work-items, not workgroups; partial workgroups are not emulated.
INGOT_HIP_EXPORT int hipExtModuleLaunchKernel(
    void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, size_t lds, void* stream, void** params,
    void** extra, void* start, void* stop, unsigned) {
  if (bx == 0 || by == 0 || bz == 0) return Done(kInvalidConfiguration);
  if (gx % bx != 0 || gy % by != 0 || gz % bz != 0) return Done(kInvalidValue);
  return Done(
      Launch({function, Config({gx / bx, gy / by, gz / bz}, {bx, by, bz}, lds),
              stream, params, extra, false, start, stop}));
}
INGOT_HIP_EXPORT int hipHccModuleLaunchKernel(
    void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, size_t lds, void* stream, void** params,
    void** extra, void* start, void* stop) {
  return hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, lds, stream,
                                  params, extra, start, stop, 0);
}

INGOT_HIP_EXPORT int hipModuleLaunchCooperativeKernel(
    void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, unsigned lds, void* stream, void** params) {
  return Done(Launch({function, Config({gx, gy, gz}, {bx, by, bz}, lds), stream,
                      params, nullptr, true}));
}

INGOT_HIP_EXPORT int hipModuleLaunchCooperativeKernelMultiDevice(
    CooperativeLaunch* launches, unsigned count, unsigned) {
  if (launches == nullptr || count == 0 ||
      static_cast<int>(count) > Runtime::Get().device_count()) {
    return Done(kInvalidValue);
  }
  for (unsigned n = 0; n < count; ++n) {
    if (const int error = Launch(FromCooperative(launches[n]));
        error != kSuccess) {
      return Done(error);
    }
  }
  return Done(kSuccess);
}

INGOT_HIP_EXPORT int hipDrvLaunchKernelEx(const DriverLaunchConfig* c,
                                          void* function, void** params,
                                          void** extra) {
  if (c == nullptr || (c->attribute_count != 0 && c->attributes == nullptr))
    return Done(kInvalidValue);
  const Dim3 grid{c->grid[0], c->grid[1], c->grid[2]};
  const Dim3 block{c->block[0], c->block[1], c->block[2]};
  return Done(
      Launch({function, Config(grid, block, c->dynamic_lds), c->stream, params,
              extra, IsCooperative(c->attributes, c->attribute_count)}));
}

INGOT_HIP_EXPORT int hipLaunchKernel(const void* stub, Dim3 grid, Dim3 block,
                                     void** params, size_t lds, void* stream) {
  return Done(LaunchStub({stub, Config(grid, block, lds), stream, params}));
}
INGOT_HIP_EXPORT int hipExtLaunchKernel(const void* stub, Dim3 grid, Dim3 block,
                                        void** params, size_t lds, void* stream,
                                        void* start, void* stop, int) {
  return Done(LaunchStub({stub, Config(grid, block, lds), stream, params,
                          nullptr, false, start, stop}));
}
INGOT_HIP_EXPORT int hipLaunchCooperativeKernel(const void* stub, Dim3 grid,
                                                Dim3 block, void** params,
                                                unsigned lds, void* stream) {
  return Done(LaunchStub(
      {stub, Config(grid, block, lds), stream, params, nullptr, true}));
}
INGOT_HIP_EXPORT int hipLaunchKernelExC(const RuntimeLaunchConfig* c,
                                        const void* stub, void** params) {
  if (c == nullptr || (c->attribute_count != 0 && c->attributes == nullptr))
    return Done(kInvalidValue);
  return Done(LaunchStub({stub, Config(c->grid, c->block, c->dynamic_lds),
                          c->stream, params, nullptr,
                          IsCooperative(c->attributes, c->attribute_count)}));
}

}  // namespace ingot::emulator::hip
