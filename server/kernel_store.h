// The lookup ladder above a compile: memory, then disk. Knows what a record is,
// which the cache does not: a hit counts only when the stored key encoding is,
// byte for byte, the one asked for.
#ifndef INGOT_SERVER_KERNEL_STORE_H_
#define INGOT_SERVER_KERNEL_STORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "cache/store.h"
#include "proto/status.h"
#include "server/counters.h"

namespace ingot::server {

// Where a kernel came from; the numbers of v1.Source.
enum class Source {
  kMemory = 1,
  kStore = 2,
  kCompiled = 3,
  kCoalesced = 4,
};

struct Found {
  cache::Entry entry;
  Source source = Source::kMemory;
};

// Thread-safe. Nothing here fails a caller: an error of the store is counted
// and is then a miss.
class KernelStore {
 public:
  // `tiers` is all of them as one store; `memory` is its uppermost. Both must
  // outlive this. `note` gets a line for the log.
  KernelStore(cache::Store& memory, cache::Store& tiers, Counters& counters,
              std::function<void(const std::string&)> note);

  // The kernel under `key`, if it is the one that `key_encoding` describes.
  // Fills the memory tier from disk.
  std::optional<Found> Find(absl::string_view key,
                            absl::string_view key_encoding);
  // The same without the object: `entry.object` is null, `entry.digest` empty,
  // and no tier is filled.
  std::optional<Found> FindRecord(absl::string_view key,
                                  absl::string_view key_encoding);
  std::optional<cache::Bytes> FindObject(absl::string_view digest);

  // Into all tiers. What they cannot take is counted, not reported.
  void Publish(const cache::Publication& publication);

  // Likewise, unless it is there. A stored plan goes out with its kernels when
  // a store is copied.
  void KeepPlan(absl::string_view plan_key, absl::string_view plan);

  cache::Store& memory() { return memory_; }
  cache::Store& tiers() { return tiers_; }

 private:
  // The store's answer; nullopt with the error counted when it failed.
  template <typename T>
  std::optional<T> Unless(absl::StatusOr<std::optional<T>> answer);
  void Report(absl::string_view what, const absl::Status& published);
  bool Matches(absl::string_view record, absl::string_view key,
               absl::string_view key_encoding);

  cache::Store& memory_;
  cache::Store& tiers_;
  const std::function<void(const std::string&)> note_;
  Counter& read_errors_;
  Counter& publish_errors_;
  Counter& key_mismatches_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_KERNEL_STORE_H_
