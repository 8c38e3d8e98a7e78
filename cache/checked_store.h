// Nothing invalid goes in, nothing damaged comes out.
#ifndef INGOT_CACHE_CHECKED_STORE_H_
#define INGOT_CACHE_CHECKED_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "cache/store.h"
#include "cache/vetted.h"

namespace ingot::cache {

struct Checks {
  // What makes an entry valid, besides that its digest is its object's SHA-256,
  // which is always checked. Called from any thread. Empty = nothing more.
  std::function<absl::Status(absl::string_view key, absl::string_view record,
                             absl::string_view digest,
                             absl::string_view object)>
      entry;
  std::function<absl::Status(absl::string_view plan_key,
                             absl::string_view plan)>
      plan;
  // Told of each damaged entry, once it is dropped. Empty = nobody listens.
  std::function<void(absl::string_view key, const absl::Status& why)> on_damage;
};

// Publishing what fails a check is kInvalidArgument, and it is not stored.
// Reading it, or what `below` reports as kDataLoss, drops it, counts it
// (Stats().damaged) and is a miss: the caller rebuilds. Stands below the memory
// tier. Bytes are checked in full (SHA-256, 0.55 us a KiB, and `entry`) when
// this process reads them first; after that it is enough that they are the very
// bytes which passed (vetted.h). Thread-safe.
class CheckedStore : public Store {
 public:
  CheckedStore(std::unique_ptr<Store> below, Checks checks);

  absl::StatusOr<std::optional<Entry>> Get(absl::string_view key) override;
  // Not held against its object; `below`'s own checksums cover it.
  absl::StatusOr<std::optional<Bytes>> GetRecord(
      absl::string_view key) override;
  // A damaged object is a miss; its entries are dropped when they are read.
  absl::StatusOr<std::optional<Bytes>> GetObject(
      absl::string_view digest) override;
  absl::StatusOr<std::vector<std::string>> KeysOf(
      absl::string_view digest) override;
  absl::Status Publish(const Publication& publication) override;
  absl::StatusOr<std::optional<Bytes>> GetPlan(
      absl::string_view plan_key) override;
  absl::Status PutPlan(absl::string_view plan_key,
                       absl::string_view plan) override;
  absl::StatusOr<bool> Delete(absl::string_view key) override;
  absl::StatusOr<bool> SetPinned(absl::string_view key, bool pinned) override;
  absl::Status Scan(
      absl::string_view after, size_t limit,
      const std::function<bool(const ScanEntry&)>& visit) override;
  absl::Status ScanPlans(
      absl::string_view after, size_t limit,
      const std::function<bool(const PlanEntry&)>& visit) override;
  void Touch(Kind kind, absl::string_view key) override;
  StoreStats Stats() const override;

 private:
  absl::Status Check(absl::string_view key, absl::string_view record,
                     absl::string_view digest, absl::string_view object) const;
  absl::StatusOr<std::optional<Entry>> GetChecked(absl::string_view key);
  void DropIfStillDamaged(absl::string_view key);
  void Report(absl::string_view key, const absl::Status& why);

  const std::unique_ptr<Store> below_;
  const Checks checks_;
  Vetted vetted_;
  std::atomic<uint64_t> damaged_{0};
  // Publishers share it; dropping holds it alone and looks again, so that an
  // entry rebuilt in the meantime stays.
  absl::Mutex repair_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_CHECKED_STORE_H_
