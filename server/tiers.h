// The stores of this daemon, one above the other: memory, what is trusted, what
// is whole, the disk.
#ifndef INGOT_SERVER_TIERS_H_
#define INGOT_SERVER_TIERS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "cache/memory_store.h"
#include "cache/store.h"
#include "cache/tiered_store.h"
#include "cache/trusted_store.h"
#include "proto/status.h"
#include "server/config.h"
#include "server/trust.h"

namespace ingot::server {

// Called from any thread. All are required.
struct TierEvents {
  std::function<void(absl::string_view line)> log;
  using Entry =
      std::function<void(absl::string_view key, const absl::Status& why)>;
  Entry on_damage;   // found damaged, and dropped
  Entry on_refused;  // not trusted, and a miss
};

// Thread-safe.
class Tiers {
 public:
  // `trust` must outlive this.
  static absl::StatusOr<std::unique_ptr<Tiers>> Open(const Config& config,
                                                     const Trust& trust,
                                                     TierEvents events);

  cache::Store& all() { return *all_; }
  cache::Store& memory() { return *memory_; }

  // Whom to trust has changed: everything is checked anew when it is next read.
  void Reconsider();

 private:
  Tiers() = default;

  std::unique_ptr<cache::TieredStore> all_;
  cache::MemoryStore* memory_ = nullptr;    // inside all_
  cache::TrustedStore* trusted_ = nullptr;  // likewise; null: all is trusted
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_TIERS_H_
