#include "cache/counted_store.h"

#include <utility>

namespace ingot::cache {
namespace {

template <typename T>
bool IsHit(const absl::StatusOr<std::optional<T>>& found) {
  return found.ok() && found->has_value();
}

Outcome OutcomeOf(const absl::Status& status, bool found) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return found ? Outcome::kHit : Outcome::kMiss;
    case absl::StatusCode::kDataLoss:
      return Outcome::kDamaged;
    case absl::StatusCode::kResourceExhausted:
      return Outcome::kDropped;
    default:
      return Outcome::kError;
  }
}

}  // namespace

absl::string_view Name(Operation operation) {
  constexpr std::array<absl::string_view, kOperations> kNames = {
      "get",      "get_record", "get_object", "publish",
      "get_plan", "put_plan",   "delete",     "scan"};
  return kNames[static_cast<size_t>(operation)];
}

absl::string_view Name(Outcome outcome) {
  constexpr std::array<absl::string_view, kOutcomes> kNames = {
      "hit", "miss", "damaged", "dropped", "error"};
  return kNames[static_cast<size_t>(outcome)];
}

CountedStore::CountedStore(std::unique_ptr<Store> store)
    : store_(std::move(store)) {}

uint64_t CountedStore::count(Operation operation, Outcome outcome) const {
  return counts_[static_cast<size_t>(operation)][static_cast<size_t>(outcome)]
      .load(std::memory_order_relaxed);
}

void CountedStore::Count(Operation operation, const absl::Status& status,
                         bool found) {
  const size_t outcome = static_cast<size_t>(OutcomeOf(status, found));
  counts_[static_cast<size_t>(operation)][outcome].fetch_add(
      1, std::memory_order_relaxed);
}

absl::StatusOr<std::optional<Entry>> CountedStore::Get(absl::string_view key) {
  auto found = store_->Get(key);
  Count(Operation::kGet, found.status(), IsHit(found));
  return found;
}

absl::StatusOr<std::optional<Bytes>> CountedStore::GetRecord(
    absl::string_view key) {
  auto found = store_->GetRecord(key);
  Count(Operation::kGetRecord, found.status(), IsHit(found));
  return found;
}

absl::StatusOr<std::optional<Bytes>> CountedStore::GetObject(
    absl::string_view digest) {
  auto found = store_->GetObject(digest);
  Count(Operation::kGetObject, found.status(), IsHit(found));
  return found;
}

// Administration, as a scan: not counted by itself.
absl::StatusOr<std::vector<std::string>> CountedStore::KeysOf(
    absl::string_view digest) {
  return store_->KeysOf(digest);
}

absl::Status CountedStore::Publish(const Publication& publication) {
  absl::Status status = store_->Publish(publication);
  Count(Operation::kPublish, status, true);
  return status;
}

absl::StatusOr<std::optional<Bytes>> CountedStore::GetPlan(
    absl::string_view plan_key) {
  auto found = store_->GetPlan(plan_key);
  Count(Operation::kGetPlan, found.status(), IsHit(found));
  return found;
}

absl::Status CountedStore::PutPlan(absl::string_view plan_key,
                                   absl::string_view plan) {
  absl::Status status = store_->PutPlan(plan_key, plan);
  Count(Operation::kPutPlan, status, true);
  return status;
}

absl::StatusOr<bool> CountedStore::Delete(absl::string_view key) {
  absl::StatusOr<bool> found = store_->Delete(key);
  Count(Operation::kDelete, found.status(), found.ok() && *found);
  return found;
}

absl::StatusOr<bool> CountedStore::SetPinned(absl::string_view key,
                                             bool pinned) {
  return store_->SetPinned(key, pinned);
}

absl::Status CountedStore::Scan(
    absl::string_view after, size_t limit,
    const std::function<bool(const ScanEntry&)>& visit) {
  absl::Status status = store_->Scan(after, limit, visit);
  Count(Operation::kScan, status, true);
  return status;
}

absl::Status CountedStore::ScanPlans(
    absl::string_view after, size_t limit,
    const std::function<bool(const PlanEntry&)>& visit) {
  absl::Status status = store_->ScanPlans(after, limit, visit);
  Count(Operation::kScan, status, true);
  return status;
}

void CountedStore::Touch(Kind kind, absl::string_view key) {
  store_->Touch(kind, key);
}

absl::Status CountedStore::Fill(absl::string_view key, const Entry& entry) {
  absl::Status status = store_->Fill(key, entry);
  Count(Operation::kPublish, status, true);
  return status;
}

StoreStats CountedStore::Stats() const { return store_->Stats(); }

}  // namespace ingot::cache
