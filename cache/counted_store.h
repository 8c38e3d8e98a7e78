// How often each operation of a store ended in what; for metrics.
#ifndef INGOT_CACHE_COUNTED_STORE_H_
#define INGOT_CACHE_COUNTED_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/store.h"

namespace ingot::cache {

enum class Operation : uint8_t {
  kGet,
  kGetRecord,
  kGetObject,
  kPublish,
  kGetPlan,
  kPutPlan,
  kDelete,
  kScan,
};
inline constexpr size_t kOperations = 8;

enum class Outcome : uint8_t {
  kHit,      // reads: it was there; writes: done
  kMiss,     // reads and deletes: it was not there
  kDamaged,  // kDataLoss
  kDropped,  // kResourceExhausted: a write that the store could not keep
  kError,    // any other status
};
inline constexpr size_t kOutcomes = 5;

// "get", "put_plan"; "hit", "error": as metric labels.
absl::string_view Name(Operation operation);
absl::string_view Name(Outcome outcome);

// Changes nothing else. Wrap each tier to see each tier. Thread-safe.
class CountedStore : public Store {
 public:
  explicit CountedStore(std::unique_ptr<Store> store);

  uint64_t count(Operation operation, Outcome outcome) const;

  absl::StatusOr<std::optional<Entry>> Get(absl::string_view key) override;
  absl::StatusOr<std::optional<Bytes>> GetRecord(
      absl::string_view key) override;
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
  // A fill counts as a publish.
  absl::Status Fill(absl::string_view key, const Entry& entry) override;
  StoreStats Stats() const override;

 private:
  void Count(Operation operation, const absl::Status& status, bool found);

  const std::unique_ptr<Store> store_;
  std::array<std::array<std::atomic<uint64_t>, kOutcomes>, kOperations>
      counts_{};
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_COUNTED_STORE_H_
