// Admin: what autotuners measured.
#include <cmath>
#include <vector>

#include "server/admin.h"
#include "server/tuned_plan.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

constexpr size_t kMaxDevice = 128;
constexpr int kMaxTuning = 64;

// A request that is one, as a record: its fields are checked, its tuning is
// not.
absl::StatusOr<v1::TuningRecord> RecordOf(const v1::TuneRequest& request,
                                          const Spec& canonical) {
  if (!canonical.tuning.empty()) {
    return absl::InvalidArgumentError(
        "spec.tuning: found some, allowed none: what was measured is in "
        "`tuning`");
  }
  if (request.tuning_size() > kMaxTuning) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tuning: found ", request.tuning_size(), ", allowed ", kMaxTuning));
  }
  if (!std::isfinite(request.microseconds()) || request.microseconds() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("microseconds: found ",
                                                   request.microseconds(),
                                                   ", allowed more than 0"));
  }
  if (request.device().size() > kMaxDevice) {
    return absl::InvalidArgumentError(
        absl::StrCat("device: found ", request.device().size(),
                     " bytes, allowed ", kMaxDevice));
  }
  v1::TuningRecord record;
  SpecToWire(canonical, record.mutable_spec());
  record.set_spec_digest(SpecDigest(canonical));
  *record.mutable_tuning() = request.tuning();
  if (request.has_range()) *record.mutable_range() = request.range();
  record.set_microseconds(request.microseconds());
  record.set_device(request.device());
  return record;
}

}  // namespace

absl::StatusOr<v1::TuneResponse> Admin::Tune(const v1::TuneRequest& request,
                                             const AdminCall& call) {
  INGOT_ASSIGN_OR_RETURN(const Spec asked, SpecFromWire(request.spec()));
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(asked));
  INGOT_ASSIGN_OR_RETURN(v1::TuningRecord record, RecordOf(request, canonical));
  INGOT_RETURN_IF_ERROR(CheckTuning(canonical, record));
  INGOT_ASSIGN_OR_RETURN(const Plan plan, MakePlan(canonical));
  record.set_fingerprint(plan.fingerprint);
  record.set_who(call.caller->name);
  v1::TuneResponse response;
  INGOT_ASSIGN_OR_RETURN(*response.mutable_record(),
                         parts_.tuning.Add(std::move(record)));
  return response;
}

absl::StatusOr<v1::ListTuningResponse> Admin::ListTuning(
    const v1::ListTuningRequest& request) {
  v1::ListTuningResponse response;
  response.set_epoch(parts_.tuning.epoch());
  response.set_oldest_epoch(parts_.tuning.oldest_epoch());
  for (const TuningTable::Record& record : parts_.tuning.List()) {
    if (!request.op().empty() && record->spec().op() != request.op()) continue;
    if (!request.ended() && record->ended_epoch() != 0) continue;
    *response.add_records() = *record;
  }
  return response;
}

absl::StatusOr<v1::DeleteTuningResponse> Admin::DeleteTuning(
    const v1::DeleteTuningRequest& request) {
  if (request.all() != request.records().empty()) {
    return absl::InvalidArgumentError(
        "delete tuning: found neither or both of records and all, allowed one");
  }
  std::vector<uint64_t> names(request.records().begin(),
                              request.records().end());
  if (request.all()) {
    for (const TuningTable::Record& record : parts_.tuning.List()) {
      names.push_back(record->epoch());
    }
  }
  v1::DeleteTuningResponse response;
  INGOT_ASSIGN_OR_RETURN(const size_t deleted,
                         parts_.tuning.End(names, "deleted"));
  response.set_deleted(deleted);
  response.set_epoch(parts_.tuning.epoch());
  return response;
}

}  // namespace ingot::server
