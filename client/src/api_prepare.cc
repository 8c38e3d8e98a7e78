// ingot.h: preparing and launching.
#include <cstdlib>
#include <cstring>

#include "client/include/ingot/ingot.h"
#include "client/src/check_struct.h"
#include "client/src/client_handle.h"
#include "client/src/last_error.h"

namespace ingot::client {
namespace {

Status ReadOptions(const Client& client, const ingot_prepare_options* from,
                   PrepareOptions* to) {
  to->timeout_ms = client.options().call_timeout_ms;
  if (from == nullptr) return Status();
  INGOT_CLIENT_RETURN_IF_ERROR(CheckStruct("options", from));
  constexpr uint32_t kFlags =
      INGOT_PREPARE_NO_LOAD | INGOT_PREPARE_NO_BYTES | INGOT_PREPARE_WARMUP;
  if ((from->flags & ~kFlags) != 0 || from->fetch > INGOT_FETCH_PLAN) {
    return Error(
        INGOT_INVALID_ARGUMENT,
        "options: found flags %u and fetch %u, allowed INGOT_PREPARE_* "
        "and INGOT_FETCH_*",
        from->flags, from->fetch);
  }
  to->fetch = from->fetch;
  to->flags = from->flags;
  if (from->timeout_ms != 0) to->timeout_ms = from->timeout_ms;
  to->pin_epoch = from->pin_epoch;
  if (from->request_id != nullptr) to->request_id = from->request_id;
  return Status();
}

const char* NameAt(const std::vector<std::string>& names, uint32_t index) {
  return index < names.size() ? names[index].c_str() : nullptr;
}

const PlanScalar* ScalarAt(const ingot_prepared* prepared, uint32_t index) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return nullptr;
  const std::vector<PlanScalar>& scalars = self->fetched->plan.scalars;
  return index < scalars.size() ? &scalars[index] : nullptr;
}

void CopyDigest(const std::string& from, uint8_t to[32]) {
  memset(to, 0, 32);
  memcpy(to, from.data(), std::min<size_t>(from.size(), 32));
}

char* CopyMessage(const Status& status) {
  return status.ok() ? nullptr : strdup(status.message.c_str());
}

}  // namespace
}  // namespace ingot::client

using namespace ingot::client;  // NOLINT(google-build-using-namespace)

extern "C" {

INGOT_API ingot_status ingot_prepare(ingot_client* client,
                                     const ingot_spec* spec,
                                     const ingot_prepare_options* options,
                                     ingot_prepared** prepared) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  PrepareOptions read;
  Status status = ReadOptions(*self, options, &read);
  if (status.ok()) status = CheckStruct("spec", spec);
  if (status.ok() && prepared == nullptr) {
    status = Error(INGOT_INVALID_ARGUMENT,
                   "prepared: found NULL, allowed where to put the handle");
  }
  if (!status.ok()) return Report(status);
  const Outcome outcome = self->Prepare(*spec, read);
  if (outcome.status.ok()) *prepared = outcome.handle;
  return Report(outcome.status);
}

INGOT_API ingot_status ingot_prepare_many(
    ingot_client* client, const ingot_spec* const* specs, size_t count,
    const ingot_prepare_options* options, ingot_prepared** prepared,
    ingot_status* statuses, char** messages) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  PrepareOptions read;
  Status status = ReadOptions(*self, options, &read);
  if (status.ok() && count > 0 && (specs == nullptr || statuses == nullptr)) {
    status =
        Error(INGOT_INVALID_ARGUMENT,
              "specs or statuses: found NULL, allowed arrays of %zu", count);
  }
  if (!status.ok()) return Report(status);
  const std::vector<Outcome> outcomes =
      self->PrepareMany({specs, specs + count}, read);
  const Status* first = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const Outcome& outcome = outcomes[i];
    statuses[i] = Report(outcome.status);
    if (messages != nullptr) messages[i] = CopyMessage(outcome.status);
    if (!outcome.status.ok() && first == nullptr) first = &outcome.status;
    if (prepared != nullptr) {
      prepared[i] = outcome.status.ok() ? outcome.handle : nullptr;
    } else if (outcome.status.ok()) {
      DropUser(outcome.handle);
    }
  }
  return first == nullptr ? INGOT_OK : Report(*first);
}

INGOT_API ingot_status ingot_prepared_release(ingot_prepared* prepared) {
  if (prepared == nullptr || DropUser(prepared)) return INGOT_OK;
  return Report(NoPrepared());
}

INGOT_API ingot_status ingot_prepared_load(const ingot_prepared* prepared) {
  const Prepared* self = Get(prepared);
  return Report(self == nullptr ? NoPrepared() : self->Load());
}

INGOT_API ingot_status ingot_prepared_describe(const ingot_prepared* prepared,
                                               ingot_prepared_info* info) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return Report(NoPrepared());
  const Status status = CheckStruct("info", info);
  if (!status.ok()) return Report(status);
  const LaunchPlan& plan = self->fetched->plan;
  info->dim_count = static_cast<uint32_t>(self->order.dims.size());
  info->operand_count = static_cast<uint32_t>(self->order.operands.size());
  info->scalar_count = static_cast<uint32_t>(plan.scalars.size());
  info->variant_count = static_cast<uint32_t>(plan.variants.size());
  info->kernel_count = static_cast<uint32_t>(plan.kernels.size());
  info->epoch = plan.epoch;
  info->compile_us = self->fetched->compile_us;
  CopyDigest(plan.spec_digest, info->spec_digest);
  CopyDigest(plan.fingerprint, info->fingerprint);
  return INGOT_OK;
}

INGOT_API const char* ingot_prepared_dim(const ingot_prepared* prepared,
                                         uint32_t index) {
  const Prepared* self = Get(prepared);
  return self == nullptr ? nullptr : NameAt(self->order.dims, index);
}

INGOT_API const char* ingot_prepared_operand(const ingot_prepared* prepared,
                                             uint32_t index) {
  const Prepared* self = Get(prepared);
  return self == nullptr ? nullptr : NameAt(self->order.operands, index);
}

INGOT_API const char* ingot_prepared_scalar(const ingot_prepared* prepared,
                                            uint32_t index) {
  const PlanScalar* scalar = ScalarAt(prepared, index);
  return scalar == nullptr ? nullptr : scalar->name.c_str();
}

INGOT_API const char* ingot_prepared_scalar_dtype(
    const ingot_prepared* prepared, uint32_t index) {
  static const char* const names[] = {"f32", "i32", "i64"};
  const PlanScalar* scalar = ScalarAt(prepared, index);
  return scalar == nullptr ? nullptr : names[scalar->type];
}

INGOT_API ingot_status ingot_prepared_kernel(const ingot_prepared* prepared,
                                             uint32_t index,
                                             ingot_kernel_info* info) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return Report(NoPrepared());
  const Status status = CheckStruct("info", info);
  if (!status.ok()) return Report(status);
  const FetchedPlan& fetched = *self->fetched;
  if (index >= fetched.facts.size()) {
    return Report(Error(INGOT_OUT_OF_RANGE,
                        "kernel: found index %u, allowed below %zu", index,
                        fetched.facts.size()));
  }
  const KernelFacts& facts = fetched.facts[index];
  if (facts.digest.empty()) {
    return Report(Error(INGOT_NOT_FOUND, "kernel %s was not fetched",
                        fetched.plan.kernels[index].symbol.c_str()));
  }
  const CodeObject* object = fetched.objects[index].get();
  info->source = facts.source;
  info->symbol = facts.symbol.c_str();
  info->target = facts.target.c_str();
  info->bytes = object == nullptr ? nullptr : object->bytes().data();
  info->byte_count = facts.size;
  CopyDigest(facts.key, info->key);
  CopyDigest(facts.digest, info->digest);
  info->vgprs = facts.vgprs;
  info->sgprs = facts.sgprs;
  info->lds_bytes = facts.lds_bytes;
  info->scratch_bytes = facts.scratch_bytes;
  return INGOT_OK;
}

INGOT_API ingot_status ingot_workspace_bytes(const ingot_prepared* prepared,
                                             const ingot_launch_args* args,
                                             uint64_t* bytes, uint32_t* flags) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return Report(NoPrepared());
  Status status = CheckStruct("args", args);
  if (status.ok() && bytes == nullptr) {
    status = Error(INGOT_INVALID_ARGUMENT,
                   "bytes: found NULL, allowed where to put the size");
  }
  uint64_t needed = 0;
  bool kept = false;
  if (status.ok()) status = WorkspaceBytes(*self, *args, &needed, &kept);
  if (!status.ok()) return Report(status);
  *bytes = needed;
  if (flags != nullptr) *flags = kept ? INGOT_WORKSPACE_KEPT : 0;
  return INGOT_OK;
}

INGOT_API ingot_status ingot_launch(const ingot_prepared* prepared,
                                    void* stream,
                                    const ingot_launch_args* args) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return Report(NoPrepared());
  const Status status = CheckStruct("args", args);
  if (!status.ok()) return Report(status);
  return Report(Launch(*self, stream, *args));
}

}  // extern "C"
