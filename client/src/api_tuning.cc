// ingot.h: tuning.
#include <algorithm>
#include <cmath>
#include <memory>

#include "client/include/ingot/ingot.h"
#include "client/src/canonical.h"
#include "client/src/check_struct.h"
#include "client/src/client_handle.h"
#include "client/src/last_error.h"
#include "client/src/measure.h"
#include "client/src/tuning.h"

namespace ingot::client {
namespace {

constexpr uint32_t kWarmUp = 3;
constexpr uint32_t kRuns = 15;
constexpr uint32_t kMostRuns = 10000;

constinit std::atomic<ingot_candidates*> all_lists = nullptr;

const CandidateList* Get(const ingot_candidates* handle) {
  if (handle == nullptr) return nullptr;
  return handle->list.load(std::memory_order_acquire);
}

Status NoCandidates() {
  return Error(INGOT_INVALID_ARGUMENT,
               "candidates: found NULL or a released list, allowed one of "
               "ingot_list_candidates");
}

ingot_candidates* NewHandle(std::unique_ptr<const CandidateList> list) {
  auto* handle = new ingot_candidates;
  handle->list.store(list.release());
  handle->next = all_lists.load(std::memory_order_relaxed);
  while (!all_lists.compare_exchange_weak(handle->next, handle,
                                          std::memory_order_release)) {
  }
  return handle;
}

Status CheckRecord(const ingot_tuning_record* record) {
  INGOT_CLIENT_RETURN_IF_ERROR(CheckStruct("record", record));
  if (!std::isfinite(record->microseconds) || record->microseconds <= 0) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "record, microseconds: found %g, allowed more than 0",
                 record->microseconds);
  }
  if (record->tuning == nullptr || record->tuning_count == 0) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "record, tuning: found none, allowed that of a candidate");
  }
  for (uint32_t i = 0; i < record->tuning_count; ++i) {
    const ingot_tuning* tuning = INGOT_AT(ingot_tuning, record->tuning, i);
    INGOT_CLIENT_RETURN_IF_ERROR(CheckStruct("record, tuning", tuning));
    if (tuning->name == nullptr) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "record, tuning: found a NULL name, allowed a text");
    }
  }
  return Status();
}

Status CheckMeasurement(const ingot_launch_args* const* args,
                        uint32_t args_count,
                        const ingot_measurement* measurement) {
  INGOT_CLIENT_RETURN_IF_ERROR(CheckStruct("measurement", measurement));
  if (args == nullptr || args_count == 0) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "args: found %u at %p, allowed at least one", args_count,
                 static_cast<const void*>(args));
  }
  for (uint32_t i = 0; i < args_count; ++i) {
    INGOT_CLIENT_RETURN_IF_ERROR(CheckStruct("args", args[i]));
  }
  return Status();
}

Status ReadOptions(const ingot_measure_options* from,
                   ingot_measure_options* to) {
  *to = {sizeof(*to), kWarmUp, kRuns, 0};
  if (from == nullptr) return Status();
  INGOT_CLIENT_RETURN_IF_ERROR(CheckStruct("options", from));
  if (from->runs > kMostRuns) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "options, runs: found %u, allowed up to %u", from->runs,
                 kMostRuns);
  }
  to->warm_up = from->warm_up;
  if (from->runs != 0) to->runs = from->runs;
  to->launches = from->launches;
  return Status();
}

}  // namespace
}  // namespace ingot::client

using namespace ingot::client;  // NOLINT(google-build-using-namespace)

extern "C" {

INGOT_API ingot_status ingot_list_candidates(ingot_client* client,
                                             const ingot_spec* spec,
                                             uint32_t limit,
                                             ingot_candidates** candidates) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  if (candidates == nullptr) return Report(NullOutput("candidates"));
  Status status = CheckStruct("spec", spec);
  std::unique_ptr<const CandidateList> list;
  if (status.ok()) status = ListCandidates(self, *spec, limit, &list);
  if (status.ok()) *candidates = NewHandle(std::move(list));
  return Report(status);
}

INGOT_API uint32_t ingot_candidates_count(const ingot_candidates* candidates) {
  const CandidateList* list = Get(candidates);
  return list == nullptr ? 0 : static_cast<uint32_t>(list->candidates().size());
}

INGOT_API ingot_status ingot_candidates_get(const ingot_candidates* candidates,
                                            uint32_t index,
                                            ingot_candidate* candidate) {
  const CandidateList* list = Get(candidates);
  if (list == nullptr) return Report(NoCandidates());
  const Status status = CheckStruct("candidate", candidate);
  if (!status.ok()) return Report(status);
  const std::vector<ingot_candidate>& all = list->candidates();
  if (index >= all.size()) {
    return Report(Error(INGOT_OUT_OF_RANGE,
                        "candidates: found index %u, allowed below %zu", index,
                        all.size()));
  }
  const uint32_t size = candidate->size;
  *candidate = all[index];
  candidate->size = size;
  return INGOT_OK;
}

INGOT_API ingot_status ingot_candidates_release(ingot_candidates* candidates) {
  if (candidates == nullptr) return INGOT_OK;
  const CandidateList* gone = candidates->list.exchange(nullptr);
  if (gone == nullptr) return Report(NoCandidates());
  delete gone;
  return INGOT_OK;
}

INGOT_API ingot_status ingot_measure(const ingot_prepared* prepared,
                                     void* stream,
                                     const ingot_launch_args* const* args,
                                     uint32_t args_count,
                                     const ingot_measure_options* options,
                                     ingot_measurement* measurement) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return Report(NoPrepared());
  Status status = CheckMeasurement(args, args_count, measurement);
  ingot_measure_options read;
  if (status.ok()) status = ReadOptions(options, &read);
  if (status.ok()) {
    status = Measure(*self, stream, args, args_count, read, measurement);
  }
  return Report(status);
}

INGOT_API uint32_t ingot_prepared_writes(const ingot_prepared* prepared,
                                         uint32_t index) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return 0;
  const std::vector<uint32_t>& places = self->order.plan_operands;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] != index) continue;
    return self->fetched->plan.operands[i].output ? 1 : 0;
  }
  return 0;
}

INGOT_API ingot_status ingot_read_operand(const ingot_prepared* prepared,
                                          const ingot_launch_args* args,
                                          uint32_t index, void* to,
                                          uint64_t* bytes) {
  const Prepared* self = Get(prepared);
  if (self == nullptr) return Report(NoPrepared());
  if (bytes == nullptr) return Report(NullOutput("bytes"));
  Status status = CheckStruct("args", args);
  if (status.ok()) status = ReadOperand(*self, *args, index, to, bytes);
  return Report(status);
}

INGOT_API ingot_status ingot_tuning_store(ingot_client* client,
                                          const ingot_spec* spec,
                                          const ingot_tuning_record* record,
                                          uint64_t* epoch) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  Status status = CheckStruct("spec", spec);
  if (status.ok()) status = CheckRecord(record);
  uint64_t stored = 0;
  if (status.ok()) status = StoreTuning(self, *spec, *record, &stored);
  if (status.ok() && epoch != nullptr) *epoch = stored;
  return Report(status);
}

INGOT_API ingot_status ingot_tuning_delete(ingot_client* client,
                                           const uint64_t* epochs, size_t count,
                                           uint64_t* deleted) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  if (epochs == nullptr || count == 0) {
    return Report(Error(INGOT_INVALID_ARGUMENT,
                        "epochs: found none, allowed those of records"));
  }
  uint64_t ended = 0;
  const Status status = DeleteTuning(self, epochs, count, &ended);
  if (status.ok() && deleted != nullptr) *deleted = ended;
  return Report(status);
}

}  // extern "C"
