// Two stores as one: a small fast one over a large slow one. Ladders of more
// tiers are made of several.
#ifndef INGOT_CACHE_TIERED_STORE_H_
#define INGOT_CACHE_TIERED_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "cache/store.h"

namespace ingot::cache {

// Reads ask `upper`, then `lower`, and a hit below fills what is above. Every
// hit counts as a use in `lower` too, so what is hot above is not evicted
// below.
//
// An error of a tier is counted (Stats().errors) and the next tier is asked; no
// read fails. A publish succeeds when either tier takes it. Two things are told
// to the caller: kInvalidArgument from `lower` (the entry was refused and is in
// neither tier), and a failed Delete or Scan.
class TieredStore : public Store {
 public:
  TieredStore(std::unique_ptr<Store> upper, std::unique_ptr<Store> lower);

  absl::StatusOr<std::optional<Entry>> Get(absl::string_view key) override;
  absl::StatusOr<std::optional<Bytes>> GetRecord(
      absl::string_view key) override;
  absl::StatusOr<std::optional<Bytes>> GetObject(
      absl::string_view digest) override;
  // Of both tiers; a failure of either is told.
  absl::StatusOr<std::vector<std::string>> KeysOf(
      absl::string_view digest) override;
  absl::Status Publish(const Publication& publication) override;
  absl::StatusOr<std::optional<Bytes>> GetPlan(
      absl::string_view plan_key) override;
  absl::Status PutPlan(absl::string_view plan_key,
                       absl::string_view plan) override;
  absl::StatusOr<bool> Delete(absl::string_view key) override;
  // `lower`'s.
  absl::StatusOr<bool> SetPinned(absl::string_view key, bool pinned) override;
  absl::Status Scan(
      absl::string_view after, size_t limit,
      const std::function<bool(const ScanEntry&)>& visit) override;
  absl::Status ScanPlans(
      absl::string_view after, size_t limit,
      const std::function<bool(const PlanEntry&)>& visit) override;
  void Touch(Kind kind, absl::string_view key) override;
  // Runs `clear`, which empties `upper`, so that no fill of an older read comes
  // after it.
  void ClearUpper(absl::FunctionRef<void()> clear);
  // `lower`'s, with the errors of both. Ask `upper` itself for its own.
  StoreStats Stats() const override;

 private:
  // The value when it is a hit; an error is counted.
  template <typename T>
  std::optional<T> HitOf(absl::StatusOr<std::optional<T>> found);
  void FillUnlessChanged(uint64_t seen, absl::FunctionRef<absl::Status()> fill);
  // Changes below, then above, so that no fill of an older read comes after.
  absl::Status WriteBoth(absl::FunctionRef<absl::Status(Store&)> write);

  const std::unique_ptr<Store> upper_;
  const std::unique_ptr<Store> lower_;
  std::atomic<uint64_t> errors_{0};
  // Counts changes. A fill holds it shared and is left out when a change came
  // after its read: a deleted entry must not come back from a slow reader.
  absl::Mutex mutex_;
  std::atomic<uint64_t> changes_{0};
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TIERED_STORE_H_
