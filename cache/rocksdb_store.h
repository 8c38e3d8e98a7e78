// The store on disk: RocksDB in one directory, owned by one process.
//
// What is promised
//   * A publish is one WriteBatch: after any crash an entry is there whole or
//     not at all. The log is synced within `sync_delay` plus one fsync of an
//     acknowledgement (together below 100 ms); what an unsynced tail loses in a
//     power cut is a miss. The death of the process alone loses nothing.
//   * An object is there as long as one key names it.
//   * What is pinned is never evicted, also when the quota is full of it.
//   * Reads write nothing. Uses are collected in memory and written to the
//     eviction index by a background thread.
//   * Over quota, entries go least recently used first down to the low
//     watermark, on a background thread; meanwhile the store may exceed the
//     quota by what is published. Below the floor of free disk, entries go only
//     if that can bring the space back.
//   * A full disk or any failing write makes the store read-only: writes are
//     dropped and counted (kResourceExhausted), reads go on. A background
//     thread tries again every `heal_period`, and writing resumes by itself.
//   * Opening takes no scan, however many entries there are.
#ifndef INGOT_CACHE_ROCKSDB_STORE_H_
#define INGOT_CACHE_ROCKSDB_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "cache/store.h"

namespace rocksdb {
class Env;
}

namespace ingot::cache {

struct RocksOptions {
  std::string directory;

  // 0 = no limit. Counted as StoreStats::bytes: before compression, each object
  // once.
  uint64_t quota_bytes = 0;
  // Eviction goes on down to this share of the quota.
  double low_watermark = 0.9;
  // Free space of the file system below which nothing is written. 0 = until it
  // is full.
  uint64_t free_floor_bytes = 0;

  // RocksDB's write buffers and block cache, each.
  uint64_t memory_bytes = 32 << 20;

  absl::Duration sync_delay = absl::Milliseconds(20);
  absl::Duration heal_period = absl::Seconds(1);
  // How often uses reach the eviction index; a use of an entry whose recorded
  // use is younger than `recency_resolution` is not written.
  absl::Duration recency_period = absl::Seconds(10);
  absl::Duration recency_resolution = absl::Minutes(1);

  // Microseconds since the epoch; empty = the system's clock.
  std::function<uint64_t()> now_micros;
  // One line for an operator (recovered from damage, went read-only, healed).
  // Called from any thread; empty = nobody listens.
  std::function<void(absl::string_view)> log;
  // For tests. Empty = what the file system of `directory` has.
  std::function<uint64_t()> free_bytes;
  // For tests; null = the system's. Must outlive the store.
  rocksdb::Env* env = nullptr;
};

// Opens or creates. kFailedPrecondition: another process has the directory (the
// message names its pid), or a later build wrote it in a schema that this one
// cannot read. A directory too damaged to open is set aside under
// `directory`/damaged and the store begins empty: a cache heals, it does not
// keep a daemon from starting. Nor does a full disk: then reads are
// kUnavailable and the store is read-only until it can be opened.
absl::StatusOr<std::unique_ptr<Store>> OpenRocksStore(RocksOptions options);

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ROCKSDB_STORE_H_
