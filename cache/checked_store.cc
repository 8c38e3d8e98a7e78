#include "cache/checked_store.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "cache/digest.h"

namespace ingot::cache {
namespace {

absl::Status Refused(const absl::Status& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("not stored: ", why.message()));
}

}  // namespace

CheckedStore::CheckedStore(std::unique_ptr<Store> below, Checks checks)
    : below_(std::move(below)), checks_(std::move(checks)) {}

absl::Status CheckedStore::Check(absl::string_view key,
                                 absl::string_view record,
                                 absl::string_view digest,
                                 absl::string_view object) const {
  const std::string actual = Sha256(object);
  if (actual != digest) {
    return absl::DataLossError(
        absl::StrCat("the object's SHA-256 is ", absl::BytesToHexString(actual),
                     ", expected ", absl::BytesToHexString(digest)));
  }
  return checks_.entry ? checks_.entry(key, record, digest, object)
                       : absl::OkStatus();
}

// Damage of either kind as kDataLoss; another error is `below`'s own.
absl::StatusOr<std::optional<Entry>> CheckedStore::GetChecked(
    absl::string_view key) {
  INGOT_ASSIGN_OR_RETURN(std::optional<Entry> entry, below_->Get(key));
  if (!entry.has_value()) return std::nullopt;
  const Seal seal = vetted_.SealOf(absl::StrCat(entry->digest, *entry->record),
                                   *entry->object);
  if (vetted_.Knows(key, seal)) return entry;
  const absl::Status valid =
      Check(key, *entry->record, entry->digest, *entry->object);
  if (!valid.ok()) return absl::DataLossError(valid.message());
  vetted_.Remember(key, seal);
  return entry;
}

absl::StatusOr<std::optional<Entry>> CheckedStore::Get(absl::string_view key) {
  absl::StatusOr<std::optional<Entry>> entry = GetChecked(key);
  if (!absl::IsDataLoss(entry.status())) return entry;
  DropIfStillDamaged(key);
  return std::nullopt;
}

absl::StatusOr<std::optional<Bytes>> CheckedStore::GetRecord(
    absl::string_view key) {
  absl::StatusOr<std::optional<Bytes>> record = below_->GetRecord(key);
  if (!absl::IsDataLoss(record.status())) return record;
  DropIfStillDamaged(key);
  return std::nullopt;
}

void CheckedStore::DropIfStillDamaged(absl::string_view key) {
  absl::Status why;
  {
    absl::MutexLock lock(&repair_);
    why = GetChecked(key).status();
    if (!absl::IsDataLoss(why)) return;
    // When even that fails (read-only store), the next read finds it again.
    below_->Drop(key).IgnoreError();
  }
  Report(key, why);
}

void CheckedStore::Report(absl::string_view key, const absl::Status& why) {
  damaged_.fetch_add(1, std::memory_order_relaxed);
  if (checks_.on_damage) checks_.on_damage(key, why);
}

absl::StatusOr<std::optional<Bytes>> CheckedStore::GetObject(
    absl::string_view digest) {
  absl::StatusOr<std::optional<Bytes>> object = below_->GetObject(digest);
  if (object.ok() && object->has_value()) {
    const Seal seal = vetted_.SealOf("", ***object);
    if (!vetted_.Knows(digest, seal)) {
      if (Sha256(***object) != digest) {
        object = absl::DataLossError("the object's SHA-256 is not its digest");
      } else {
        vetted_.Remember(digest, seal);
      }
    }
  }
  if (!absl::IsDataLoss(object.status())) return object;
  Report(digest, object.status());
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> CheckedStore::KeysOf(
    absl::string_view digest) {
  return below_->KeysOf(digest);
}

absl::Status CheckedStore::Publish(const Publication& publication) {
  const absl::Status valid = Check(publication.key, publication.record,
                                   publication.digest, publication.object);
  if (!valid.ok()) return Refused(valid);
  absl::ReaderMutexLock lock(&repair_);
  return below_->Publish(publication);
}

absl::StatusOr<std::optional<Bytes>> CheckedStore::GetPlan(
    absl::string_view plan_key) {
  absl::StatusOr<std::optional<Bytes>> plan = below_->GetPlan(plan_key);
  if (plan.ok() && plan->has_value() && checks_.plan) {
    const absl::Status valid = checks_.plan(plan_key, ***plan);
    if (!valid.ok()) plan = absl::DataLossError(valid.message());
  }
  if (!absl::IsDataLoss(plan.status())) return plan;
  // The plan that is made anew replaces it.
  Report(plan_key, plan.status());
  return std::nullopt;
}

absl::Status CheckedStore::PutPlan(absl::string_view plan_key,
                                   absl::string_view plan) {
  if (checks_.plan) {
    const absl::Status valid = checks_.plan(plan_key, plan);
    if (!valid.ok()) return Refused(valid);
  }
  return below_->PutPlan(plan_key, plan);
}

absl::StatusOr<bool> CheckedStore::Delete(absl::string_view key) {
  return below_->Delete(key);
}

absl::StatusOr<bool> CheckedStore::SetPinned(absl::string_view key,
                                             bool pinned) {
  return below_->SetPinned(key, pinned);
}

absl::Status CheckedStore::Scan(
    absl::string_view after, size_t limit,
    const std::function<bool(const ScanEntry&)>& visit) {
  return below_->Scan(after, limit, visit);
}

absl::Status CheckedStore::ScanPlans(
    absl::string_view after, size_t limit,
    const std::function<bool(const PlanEntry&)>& visit) {
  return below_->ScanPlans(after, limit, visit);
}

void CheckedStore::Touch(Kind kind, absl::string_view key) {
  below_->Touch(kind, key);
}

StoreStats CheckedStore::Stats() const {
  StoreStats stats = below_->Stats();
  stats.damaged += damaged_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace ingot::cache
