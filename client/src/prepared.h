// What ingot_prepare hands out: a plan with its kernels, in the order in which
// one caller wrote its spec.
#ifndef INGOT_CLIENT_SRC_PREPARED_H_
#define INGOT_CLIENT_SRC_PREPARED_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/include/ingot/ingot.h"
#include "client/src/code_object.h"
#include "client/src/hip_api.h"
#include "client/src/launch_plan.h"
#include "client/src/status.h"

namespace ingot::client {

// A plan as fetched. Immutable; a later fetch of more kernels makes another
// one, which shares the objects.
struct FetchedPlan {
  LaunchPlan plan;
  // Both as long as plan.kernels. A kernel that was not fetched has no object,
  // and empty facts when not even its record came.
  std::vector<KernelFacts> facts;
  std::vector<std::shared_ptr<CodeObject>> objects;
  uint64_t compile_us = 0;
  bool complete = false;  // no object is missing
};

// Where a caller's arrays have what a plan wants.
struct ArgumentOrder {
  std::vector<std::string> dims;  // names, in the caller's order
  std::vector<std::string> operands;
  std::vector<uint32_t> plan_dims;  // position of plan dim i in the above
  std::vector<uint32_t> plan_operands;
};

// The caller's spec first, then what the plan adds.
ArgumentOrder MakeArgumentOrder(const ingot_spec& spec, const LaunchPlan& plan);

// Thread-safe; immutable but for the launch counter.
struct Prepared {
  std::shared_ptr<HipApi> hip;
  std::shared_ptr<const FetchedPlan> fetched;
  ArgumentOrder order;
  mutable std::atomic<uint64_t> launches = 0;

  // Loads every kernel that is here on the current device.
  Status Load() const;
};

Status WorkspaceBytes(const Prepared& prepared, const ingot_launch_args& args,
                      uint64_t* bytes, bool* kept);

// ingot_launch.
Status Launch(const Prepared& prepared, HipStream stream,
              const ingot_launch_args& args);

}  // namespace ingot::client

// A handle outlives what it stands for by a few words, which are never freed,
// so that one that was released is told from one that was not. `users` counts
// callers in its low half and the client's cache as 1 << 32.
struct ingot_prepared {
  std::atomic<uint64_t> users = 0;
  std::unique_ptr<const ingot::client::Prepared> prepared;
  ingot_prepared* next = nullptr;
};

namespace ingot::client {

inline constexpr uint64_t kCacheUser = uint64_t{1} << 32;

// A new handle held by the cache alone.
ingot_prepared* NewHandle(std::unique_ptr<const Prepared> prepared);

// One more user of a handle that the cache holds.
inline void AddUser(ingot_prepared* handle) {
  handle->users.fetch_add(1, std::memory_order_relaxed);
}

// Ends one use; what it stands for goes with the last. False when `handle` is
// none, or no caller holds it.
bool DropUser(ingot_prepared* handle);
void DropCache(ingot_prepared* handle);

// nullptr when `handle` is none or was released.
const Prepared* Get(const ingot_prepared* handle);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_PREPARED_H_
