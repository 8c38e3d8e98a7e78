// Only what somebody vouches for goes in or comes out.
#ifndef INGOT_CACHE_TRUSTED_STORE_H_
#define INGOT_CACHE_TRUSTED_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/store.h"
#include "cache/vetted.h"

namespace ingot::cache {

struct Vouching {
  // Whether a record or a plan may be used under its key, from any thread. All
  // are required.
  std::function<absl::Status(absl::string_view key, absl::string_view record)>
      record;
  std::function<absl::Status(absl::string_view plan_key,
                             absl::string_view plan)>
      plan;
  // Told of each entry that was not let out.
  std::function<void(absl::string_view key, const absl::Status& why)>
      on_refused;
};

// Publishing what nobody vouches for is kInvalidArgument, and it is not stored.
// Reading it is a miss; it stays where it is, for whoever may trust it, until
// what the caller builds in its place replaces it. A record or plan that passed
// passes from then on as long as its bytes are the same (vetted.h), until
// Reconsider. Objects are found by digest, which a record vouches for, and a
// scan shows everything. Stands below the memory tier. Thread-safe.
class TrustedStore : public Store {
 public:
  TrustedStore(std::unique_ptr<Store> below, Vouching vouching);

  // What passed before must pass again: whom to trust has changed.
  void Reconsider();

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
  absl::StatusOr<bool> Drop(absl::string_view key) override;
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
  // Whether `bytes`, which were read under `key`, may go out.
  bool Passes(Kind kind, absl::string_view key, absl::string_view bytes);

  const std::unique_ptr<Store> below_;
  const Vouching vouching_;
  Vetted vetted_;
  std::atomic<uint64_t> generation_{0};
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TRUSTED_STORE_H_
