#include "cache/tiered_store.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ingot::cache {

TieredStore::TieredStore(std::unique_ptr<Store> upper,
                         std::unique_ptr<Store> lower)
    : upper_(std::move(upper)), lower_(std::move(lower)) {}

template <typename T>
std::optional<T> TieredStore::HitOf(absl::StatusOr<std::optional<T>> found) {
  if (found.ok()) return *std::move(found);
  errors_.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

absl::StatusOr<std::optional<Entry>> TieredStore::Get(absl::string_view key) {
  std::optional<Entry> hit = HitOf(upper_->Get(key));
  if (!hit.has_value()) {
    const uint64_t seen = changes_.load(std::memory_order_acquire);
    hit = HitOf(lower_->Get(key));
    if (hit.has_value()) {
      FillUnlessChanged(seen, [&] { return upper_->Fill(key, *hit); });
    }
  }
  if (hit.has_value()) lower_->Touch(Kind::kKernel, key);
  return hit;
}

absl::StatusOr<std::optional<Bytes>> TieredStore::GetRecord(
    absl::string_view key) {
  std::optional<Bytes> hit = HitOf(upper_->GetRecord(key));
  if (!hit.has_value()) hit = HitOf(lower_->GetRecord(key));
  if (hit.has_value()) lower_->Touch(Kind::kKernel, key);
  return hit;
}

absl::StatusOr<std::optional<Bytes>> TieredStore::GetObject(
    absl::string_view digest) {
  std::optional<Bytes> hit = HitOf(upper_->GetObject(digest));
  if (!hit.has_value()) hit = HitOf(lower_->GetObject(digest));
  return hit;
}

absl::StatusOr<std::vector<std::string>> TieredStore::KeysOf(
    absl::string_view digest) {
  INGOT_ASSIGN_OR_RETURN(std::vector<std::string> keys, upper_->KeysOf(digest));
  INGOT_ASSIGN_OR_RETURN(const std::vector<std::string> below,
                         lower_->KeysOf(digest));
  keys.insert(keys.end(), below.begin(), below.end());
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

absl::StatusOr<std::optional<Bytes>> TieredStore::GetPlan(
    absl::string_view plan_key) {
  std::optional<Bytes> hit = HitOf(upper_->GetPlan(plan_key));
  if (!hit.has_value()) {
    const uint64_t seen = changes_.load(std::memory_order_acquire);
    hit = HitOf(lower_->GetPlan(plan_key));
    if (hit.has_value()) {
      FillUnlessChanged(seen, [&] { return upper_->PutPlan(plan_key, **hit); });
    }
  }
  if (hit.has_value()) lower_->Touch(Kind::kPlan, plan_key);
  return hit;
}

void TieredStore::FillUnlessChanged(uint64_t seen,
                                    absl::FunctionRef<absl::Status()> fill) {
  absl::ReaderMutexLock lock(&mutex_);
  if (changes_.load(std::memory_order_relaxed) != seen) return;
  if (!fill().ok()) errors_.fetch_add(1, std::memory_order_relaxed);
}

absl::Status TieredStore::WriteBoth(
    absl::FunctionRef<absl::Status(Store&)> write) {
  const absl::Status below = write(*lower_);
  if (absl::IsInvalidArgument(below)) return below;
  if (!below.ok()) errors_.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  const absl::Status above = write(*upper_);
  if (!above.ok()) errors_.fetch_add(1, std::memory_order_relaxed);
  return above.ok() ? above : below;
}

absl::Status TieredStore::Publish(const Publication& publication) {
  return WriteBoth([&](Store& store) { return store.Publish(publication); });
}

absl::Status TieredStore::PutPlan(absl::string_view plan_key,
                                  absl::string_view plan) {
  return WriteBoth([&](Store& store) { return store.PutPlan(plan_key, plan); });
}

absl::StatusOr<bool> TieredStore::Delete(absl::string_view key) {
  const absl::StatusOr<bool> below = lower_->Delete(key);
  absl::MutexLock lock(&mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  const absl::StatusOr<bool> above = upper_->Delete(key);
  if (!below.ok()) return below;
  if (!above.ok()) return above;
  return *below || *above;
}

absl::StatusOr<bool> TieredStore::SetPinned(absl::string_view key,
                                            bool pinned) {
  return lower_->SetPinned(key, pinned);
}

absl::Status TieredStore::Scan(
    absl::string_view after, size_t limit,
    const std::function<bool(const ScanEntry&)>& visit) {
  return lower_->Scan(after, limit, visit);
}

absl::Status TieredStore::ScanPlans(
    absl::string_view after, size_t limit,
    const std::function<bool(const PlanEntry&)>& visit) {
  return lower_->ScanPlans(after, limit, visit);
}

void TieredStore::Touch(Kind kind, absl::string_view key) {
  upper_->Touch(kind, key);
  lower_->Touch(kind, key);
}

void TieredStore::ClearUpper(absl::FunctionRef<void()> clear) {
  absl::MutexLock lock(&mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  clear();
}

StoreStats TieredStore::Stats() const {
  StoreStats stats = lower_->Stats();
  stats.errors += errors_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace ingot::cache
