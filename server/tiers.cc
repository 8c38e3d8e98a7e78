#include "server/tiers.h"

#include <cstdint>
#include <utility>

#include "cache/checked_store.h"
#include "cache/rocksdb_store.h"
#include "server/validity.h"

namespace ingot::server {
namespace {

constexpr int64_t kMib = 1 << 20;

absl::StatusOr<std::unique_ptr<cache::Store>> OpenDisk(
    const Config& config, std::function<void(absl::string_view)> log) {
  cache::RocksOptions options;
  options.directory = absl::StrCat(config.state_dir, "/store");
  options.quota_bytes = static_cast<uint64_t>(config.store_quota_mib * kMib);
  options.free_floor_bytes =
      static_cast<uint64_t>(config.store_free_floor_mib * kMib);
  options.memory_bytes = static_cast<uint64_t>(config.store_memory_mib * kMib);
  options.log = std::move(log);
  return cache::OpenRocksStore(std::move(options));
}

cache::Vouching VouchingOf(const Trust& trust, TierEvents::Entry on_refused) {
  cache::Vouching vouching;
  vouching.record = [&trust](absl::string_view key, absl::string_view record) {
    return trust.CheckRecord(key, record);
  };
  vouching.plan = [&trust](absl::string_view key, absl::string_view plan) {
    return trust.CheckPlan(key, plan);
  };
  vouching.on_refused = std::move(on_refused);
  return vouching;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tiers>> Tiers::Open(const Config& config,
                                                   const Trust& trust,
                                                   TierEvents events) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<cache::Store> lower,
                         OpenDisk(config, std::move(events.log)));
  cache::Checks checks;
  checks.entry = CheckStored;
  checks.on_damage = std::move(events.on_damage);
  lower = std::make_unique<cache::CheckedStore>(std::move(lower),
                                                std::move(checks));
  std::unique_ptr<Tiers> tiers(new Tiers);
  if (trust.policy() != SignaturePolicy::kOff) {
    auto trusted = std::make_unique<cache::TrustedStore>(
        std::move(lower), VouchingOf(trust, std::move(events.on_refused)));
    tiers->trusted_ = trusted.get();
    lower = std::move(trusted);
  }
  cache::MemoryOptions options;
  options.bytes = static_cast<uint64_t>(config.memory_cache_mib * kMib);
  auto memory = std::make_unique<cache::MemoryStore>(options);
  tiers->memory_ = memory.get();
  tiers->all_ =
      std::make_unique<cache::TieredStore>(std::move(memory), std::move(lower));
  return tiers;
}

void Tiers::Reconsider() {
  if (trusted_ == nullptr) return;
  trusted_->Reconsider();
  all_->ClearUpper([this] { memory_->Clear(); });
}

}  // namespace ingot::server
