#include "client/src/prepared.h"

#include <algorithm>

#include "client/src/canonical.h"

namespace ingot::client {
namespace {

// Keeps dead handles reachable, for who looks for leaks.
constinit std::atomic<ingot_prepared*> all_handles = nullptr;

constexpr uint64_t kCallerMask = kCacheUser - 1;

void DestroyIfUnused(ingot_prepared* handle, uint64_t users) {
  if (users == 0) handle->prepared.reset();
}

// Appends `name` unless it is there; where it is.
uint32_t PositionOf(const std::string& name, std::vector<std::string>* names) {
  const auto at = std::find(names->begin(), names->end(), name);
  if (at != names->end()) return static_cast<uint32_t>(at - names->begin());
  names->push_back(name);
  return static_cast<uint32_t>(names->size() - 1);
}

}  // namespace

ArgumentOrder MakeArgumentOrder(const ingot_spec& spec,
                                const LaunchPlan& plan) {
  ArgumentOrder order;
  for (uint32_t i = 0; i < spec.dim_count; ++i) {
    order.dims.push_back(INGOT_AT(ingot_dim, spec.dims, i)->name);
  }
  for (uint32_t i = 0; i < spec.operand_count; ++i) {
    order.operands.push_back(INGOT_AT(ingot_operand, spec.operands, i)->name);
  }
  for (const PlanDim& dim : plan.dims) {
    order.plan_dims.push_back(PositionOf(dim.name, &order.dims));
  }
  for (const PlanOperand& operand : plan.operands) {
    order.plan_operands.push_back(PositionOf(operand.name, &order.operands));
  }
  return order;
}

Status Prepared::Load() const {
  INGOT_CLIENT_RETURN_IF_ERROR(hip->Open());
  int device = 0;
  INGOT_CLIENT_RETURN_IF_ERROR(hip->CurrentDevice(&device));
  for (const std::shared_ptr<CodeObject>& object : fetched->objects) {
    if (object == nullptr) continue;
    HipFunction function = nullptr;
    INGOT_CLIENT_RETURN_IF_ERROR(object->Load(device, &function));
  }
  return Status();
}

ingot_prepared* NewHandle(std::unique_ptr<const Prepared> prepared) {
  auto* handle = new ingot_prepared;
  handle->prepared = std::move(prepared);
  handle->users.store(kCacheUser, std::memory_order_relaxed);
  handle->next = all_handles.load(std::memory_order_relaxed);
  while (!all_handles.compare_exchange_weak(handle->next, handle,
                                            std::memory_order_release)) {
  }
  return handle;
}

bool DropUser(ingot_prepared* handle) {
  uint64_t users = handle->users.load(std::memory_order_relaxed);
  do {
    if ((users & kCallerMask) == 0) return false;
  } while (!handle->users.compare_exchange_weak(users, users - 1,
                                                std::memory_order_acq_rel));
  DestroyIfUnused(handle, users - 1);
  return true;
}

void DropCache(ingot_prepared* handle) {
  const uint64_t users =
      handle->users.fetch_sub(kCacheUser, std::memory_order_acq_rel);
  DestroyIfUnused(handle, users - kCacheUser);
}

const Prepared* Get(const ingot_prepared* handle) {
  if (handle == nullptr) return nullptr;
  const uint64_t users = handle->users.load(std::memory_order_relaxed);
  if ((users & kCallerMask) == 0) return nullptr;
  return handle->prepared.get();
}

}  // namespace ingot::client
