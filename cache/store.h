// The store as the server sees it: plans, records and objects as opaque bytes
// under keys and digests. The cache does not know what a kernel is; what makes
// an entry valid is a function that the server hands to CheckedStore.
#ifndef INGOT_CACHE_STORE_H_
#define INGOT_CACHE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cache/bytes.h"
#include "proto/status.h"

namespace ingot::cache {

// What is stored under a key, and so what Touch refers to.
enum class Kind : uint8_t { kKernel = 'k', kPlan = 'p' };  // never renumber

// Where an entry was found.
enum class Tier : uint8_t { kMemory, kStore, kShared };

// A kernel: its record (serialised by the server) and its object.
struct Entry {
  Bytes record;
  std::string digest;  // 32 bytes, SHA-256 of the object
  Bytes object;
  Tier tier = Tier::kStore;
};

// What one publish makes visible together, or not at all.
struct Publication {
  std::string key;     // 32 bytes
  std::string record;  // opaque
  std::string digest;  // 32 bytes
  std::string object;
};

struct StoreStats {
  uint64_t entries = 0;  // kernels; plans are not counted
  uint64_t bytes = 0;    // objects (once each), records, plans and their keys
  uint64_t evictions = 0;
  uint64_t damaged = 0;  // entries dropped because they failed a check
  uint64_t errors = 0;   // failures hidden from the caller by a decorator
  uint64_t dropped_writes = 0;  // disk full or quota: the caller lost nothing
  bool read_only = false;       // writes are being dropped now
};

struct ScanEntry {
  std::string key;
  std::string record;
  bool pinned = false;
};

struct PlanEntry {
  std::string plan_key;
  std::string plan;
};

// Thread-safe. A miss is nullopt, never an error; a damaged entry is kDataLoss
// from an implementation and a miss from CheckedStore. A key or digest that is
// not 32 bytes is kInvalidArgument from what writes, and a miss from what
// reads.
class Store {
 public:
  virtual ~Store() = default;

  // The entry under `key`. Reading alone need not keep it from eviction: who
  // serves it says so with Touch (TieredStore does).
  virtual absl::StatusOr<std::optional<Entry>> Get(absl::string_view key) = 0;
  // Its record alone; cheaper than Get by the object's size.
  virtual absl::StatusOr<std::optional<Bytes>> GetRecord(
      absl::string_view key) = 0;
  // An object by digest.
  virtual absl::StatusOr<std::optional<Bytes>> GetObject(
      absl::string_view digest) = 0;
  // The keys that name the object, in no order.
  virtual absl::StatusOr<std::vector<std::string>> KeysOf(
      absl::string_view digest) = 0;

  // One atomic write. Publishing an existing key replaces its record. Objects
  // are shared: two keys may name one digest. kResourceExhausted means that the
  // write was dropped (full disk, over quota): it is counted, and whoever holds
  // the bytes goes on with them.
  virtual absl::Status Publish(const Publication& publication) = 0;

  // Plans live under caller-made keys (spec digest + fingerprint + epoch) of 1
  // to 1024 bytes, and are evicted with the kernels, least recently used first.
  virtual absl::StatusOr<std::optional<Bytes>> GetPlan(
      absl::string_view plan_key) = 0;
  virtual absl::Status PutPlan(absl::string_view plan_key,
                               absl::string_view plan) = 0;

  // Removes a key; its object goes with the last key that names it. A key that
  // is not there is no error; returns whether it was.
  virtual absl::StatusOr<bool> Delete(absl::string_view key) = 0;

  // Delete for an entry that is damaged: if it is pinned, so is what will be
  // published in its place. Whatever stands between a CheckedStore and a store
  // that pins must pass it on.
  virtual absl::StatusOr<bool> Drop(absl::string_view key) {
    return Delete(key);
  }

  // A pinned entry is never evicted, and stays pinned when it is published
  // anew; Delete removes it like any other, and forgets the pin. A store in
  // memory keeps copies, which it evicts all the same. Returns whether there
  // was an entry, or a pin that Drop left.
  virtual absl::StatusOr<bool> SetPinned(absl::string_view key,
                                         bool pinned) = 0;

  // Up to `limit` records with key > `after`, in key order. `visit` returning
  // false ends the scan.
  virtual absl::Status Scan(
      absl::string_view after, size_t limit,
      const std::function<bool(const ScanEntry&)>& visit) = 0;
  // The same of plans, in the order of plan keys. A malformed one is
  // shown as an empty plan.
  virtual absl::Status ScanPlans(
      absl::string_view after, size_t limit,
      const std::function<bool(const PlanEntry&)>& visit) = 0;

  // Marks `key` as used now, for eviction. No I/O; what a crash loses of it is
  // order, never an entry. A key that is not there is ignored.
  virtual void Touch(Kind kind, absl::string_view key) = 0;

  // Publish for an entry that another tier has already: bytes may be shared
  // instead of copied.
  virtual absl::Status Fill(absl::string_view key, const Entry& entry) {
    return Publish({std::string(key), std::string(*entry.record), entry.digest,
                    std::string(*entry.object)});
  }

  virtual StoreStats Stats() const = 0;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_STORE_H_
