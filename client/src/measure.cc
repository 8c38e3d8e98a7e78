#include "client/src/measure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/src/launch_frame.h"

namespace ingot::client {
namespace {

using HipEvent = void*;

// A run this long is timed well by events, whose clock ticks each 10 ns and
// whose commands take a microsecond or two.
constexpr double kRunUs = 200;
constexpr uint32_t kMostLaunches = 100;

// HIP's calls for events. All found, or FAILED_PRECONDITION.
struct EventCalls {
  HipError (*create)(HipEvent* event);
  HipError (*destroy)(HipEvent event);
  HipError (*record)(HipEvent event, HipStream stream);
  HipError (*synchronize)(HipEvent event);
  HipError (*elapsed)(float* milliseconds, HipEvent start, HipEvent stop);

  Status Find(const HipApi& hip) {
    INGOT_CLIENT_RETURN_IF_ERROR(FindOne(hip, "hipEventCreate", &create));
    INGOT_CLIENT_RETURN_IF_ERROR(FindOne(hip, "hipEventDestroy", &destroy));
    INGOT_CLIENT_RETURN_IF_ERROR(FindOne(hip, "hipEventRecord", &record));
    INGOT_CLIENT_RETURN_IF_ERROR(
        FindOne(hip, "hipEventSynchronize", &synchronize));
    return FindOne(hip, "hipEventElapsedTime", &elapsed);
  }

 private:
  template <typename Function>
  static Status FindOne(const HipApi& hip, const char* name,
                        Function* function) {
    *function = reinterpret_cast<Function>(hip.Find(name));
    if (*function != nullptr) return Status();
    return Error(INGOT_FAILED_PRECONDITION, "this HIP runtime has no %s", name);
  }
};

// Times runs of launches between two events, which it owns.
class Stopwatch {
 public:
  Stopwatch(const Prepared& prepared, HipStream stream,
            const ingot_launch_args* const* args, uint32_t args_count)
      : prepared_(prepared),
        stream_(stream),
        args_(args),
        args_count_(args_count) {}
  ~Stopwatch() {
    if (start_ != nullptr) calls_.destroy(start_);
    if (stop_ != nullptr) calls_.destroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  Status Open() {
    INGOT_CLIENT_RETURN_IF_ERROR(prepared_.hip->Open());
    INGOT_CLIENT_RETURN_IF_ERROR(calls_.Find(*prepared_.hip));
    INGOT_CLIENT_RETURN_IF_ERROR(
        Check("hipEventCreate", calls_.create(&start_)));
    return Check("hipEventCreate", calls_.create(&stop_));
  }

  // Microseconds of a launch.
  Status Run(uint32_t launches, double* microseconds) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        Check("hipEventRecord", calls_.record(start_, stream_)));
    INGOT_CLIENT_RETURN_IF_ERROR(Launches(launches));
    INGOT_CLIENT_RETURN_IF_ERROR(
        Check("hipEventRecord", calls_.record(stop_, stream_)));
    INGOT_CLIENT_RETURN_IF_ERROR(
        Check("hipEventSynchronize", calls_.synchronize(stop_)));
    float milliseconds = 0;
    INGOT_CLIENT_RETURN_IF_ERROR(Check(
        "hipEventElapsedTime", calls_.elapsed(&milliseconds, start_, stop_)));
    *microseconds = double{milliseconds} * 1e3 / launches;
    return Status();
  }

  Status Launches(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      INGOT_CLIENT_RETURN_IF_ERROR(
          Launch(prepared_, stream_, *args_[next_++ % args_count_]));
    }
    return Status();
  }

 private:
  Status Check(const char* call, HipError error) const {
    if (error == kHipSuccess) return Status();
    return prepared_.hip->Failed(call, error);
  }

  const Prepared& prepared_;
  const HipStream stream_;
  const ingot_launch_args* const* const args_;
  const uint32_t args_count_;
  uint32_t next_ = 0;
  EventCalls calls_ = {};
  HipEvent start_ = nullptr;
  HipEvent stop_ = nullptr;
};

// How many launches make a run long enough.
Status ChooseLaunches(Stopwatch* stopwatch, uint32_t* launches) {
  double one = 0;
  INGOT_CLIENT_RETURN_IF_ERROR(stopwatch->Run(1, &one));
  const double enough = std::ceil(kRunUs / std::max(one, 1e-3));
  *launches = static_cast<uint32_t>(
      std::clamp(enough, 1.0, static_cast<double>(kMostLaunches)));
  return Status();
}

double Median(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

// 0 for a dtype that this library does not know.
uint32_t BitsOf(const std::string& dtype) {
  static constexpr struct {
    const char* name;
    uint32_t bits;
  } kDtypes[] = {{"f64", 64},  {"i64", 64}, {"f32", 32}, {"i32", 32},
                 {"bf16", 16}, {"f16", 16}, {"i8", 8},   {"e4m3fn", 8},
                 {"e5m2", 8},  {"e8m0", 8}, {"e2m1", 4}};
  for (const auto& known : kDtypes) {
    if (dtype == known.name) return known.bits;
  }
  return 0;
}

// From the base pointer to the end of the last element.
Status BytesOf(const Frame& frame, const PlanOperand& operand, uint32_t index,
               uint64_t* bytes) {
  const uint32_t bits = BitsOf(operand.dtype);
  if (bits == 0 || operand.extents.size() != operand.axes) {
    return Error(INGOT_UNIMPLEMENTED,
                 "operand %s: this library cannot tell how large %s is",
                 operand.name.c_str(), operand.dtype.c_str());
  }
  int64_t last = 0;
  for (uint32_t axis = 0; axis < operand.axes; ++axis) {
    int64_t extent = 0;
    int64_t stride = 0;
    INGOT_CLIENT_RETURN_IF_ERROR(
        frame.Value(operand.extents[axis], "an extent", &extent));
    INGOT_CLIENT_RETURN_IF_ERROR(frame.Stride(index, axis, &stride));
    int64_t reach = 0;
    *bytes = 0;
    if (extent <= 0) return Status();
    if (__builtin_mul_overflow(extent - 1, stride, &reach) || reach < 0 ||
        __builtin_add_overflow(last, reach, &last) || last > INT64_MAX / 128) {
      return Error(INGOT_OUT_OF_RANGE, "operand %s: its size does not fit",
                   operand.name.c_str());
    }
  }
  *bytes = ((static_cast<uint64_t>(last) + 1) * bits + 7) / 8;
  return Status();
}

Status CopyToHost(const HipApi& hip, void* to, const void* from,
                  uint64_t bytes) {
  constexpr int kDeviceToHost = 2;
  const auto copy =
      reinterpret_cast<HipError (*)(void*, const void*, size_t, int)>(
          hip.Find("hipMemcpy"));
  if (copy == nullptr) {
    return Error(INGOT_FAILED_PRECONDITION,
                 "this HIP runtime has no hipMemcpy");
  }
  const HipError error = copy(to, from, bytes, kDeviceToHost);
  return error == kHipSuccess ? Status() : hip.Failed("hipMemcpy", error);
}

}  // namespace

Status Measure(const Prepared& prepared, HipStream stream,
               const ingot_launch_args* const* args, uint32_t args_count,
               const ingot_measure_options& options,
               ingot_measurement* measurement) {
  Stopwatch stopwatch(prepared, stream, args, args_count);
  INGOT_CLIENT_RETURN_IF_ERROR(stopwatch.Open());
  INGOT_CLIENT_RETURN_IF_ERROR(stopwatch.Launches(options.warm_up));
  uint32_t launches = options.launches;
  if (launches == 0) {
    INGOT_CLIENT_RETURN_IF_ERROR(ChooseLaunches(&stopwatch, &launches));
  }
  std::vector<double> times(options.runs);
  for (double& time : times) {
    INGOT_CLIENT_RETURN_IF_ERROR(stopwatch.Run(launches, &time));
  }
  std::sort(times.begin(), times.end());
  measurement->runs = options.runs;
  measurement->launches = launches;
  measurement->median_us = Median(times);
  measurement->min_us = times.front();
  measurement->max_us = times.back();
  return Status();
}

Status ReadOperand(const Prepared& prepared, const ingot_launch_args& args,
                   uint32_t index, void* to, uint64_t* bytes) {
  const LaunchPlan& plan = prepared.fetched->plan;
  const std::vector<uint32_t>& places = prepared.order.plan_operands;
  const auto at = std::find(places.begin(), places.end(), index);
  if (at == places.end()) {
    return Error(INGOT_OUT_OF_RANGE,
                 "operand: found index %u, allowed one of the plan's %zu",
                 index, places.size());
  }
  const auto planned = static_cast<uint32_t>(at - places.begin());
  const PlanOperand& operand = plan.operands[planned];
  Frame frame(prepared, args);
  INGOT_CLIENT_RETURN_IF_ERROR(frame.Init(0));
  uint64_t needed = 0;
  INGOT_CLIENT_RETURN_IF_ERROR(BytesOf(frame, operand, planned, &needed));
  if (to != nullptr) {
    if (*bytes < needed) {
      return Error(INGOT_OUT_OF_RANGE,
                   "operand %s: found room for %llu bytes, allowed %llu",
                   operand.name.c_str(),
                   static_cast<unsigned long long>(*bytes),
                   static_cast<unsigned long long>(needed));
    }
    if (!frame.has_operands() || frame.Operand(planned) == nullptr) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "operand %s: found NULL, allowed a device pointer",
                   operand.name.c_str());
    }
    INGOT_CLIENT_RETURN_IF_ERROR(prepared.hip->Open());
    INGOT_CLIENT_RETURN_IF_ERROR(
        CopyToHost(*prepared.hip, to, frame.Operand(planned), needed));
  }
  *bytes = needed;
  return Status();
}

}  // namespace ingot::client
