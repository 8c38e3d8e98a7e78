// What an operator forbade to hand out: whole ops, or kernels by key. Kept in a
// journal, so it holds over restarts.
#ifndef INGOT_SERVER_DISABLED_H_
#define INGOT_SERVER_DISABLED_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "ingot/v1/disable.pb.h"
#include "proto/status.h"
#include "server/journal.h"

namespace ingot::server {

// Thread-safe. Replies that were made before a change are the caller's to
// forget.
class Disabled {
 public:
  using Items = std::vector<v1::DisabledItem>;

  // `note` gets a line for the log. FAILED_PRECONDITION when the journal cannot
  // be read.
  static absl::StatusOr<std::unique_ptr<Disabled>> Open(
      const std::string& path, const std::function<void(std::string)>& note);

  // FAILED_PRECONDITION saying who disabled it, when and why. Costs one load
  // while nothing is disabled.
  absl::Status CheckOp(absl::string_view op) const;
  absl::Status CheckKey(absl::string_view key) const;
  absl::Status Check(absl::string_view op, absl::string_view key) const;

  // In force at once. An error says only that a restart would forget it.
  absl::Status Add(const Items& items);
  // Those of `items` (by op or key) that were disabled; of all when `all`. What
  // a restart would bring back stays disabled, and is an error.
  absl::StatusOr<Items> Remove(const Items& items, bool all);

  Items List() const;
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  // Ops before keys, then by name.
  using Name = std::pair<bool, std::string>;
  using Map = std::map<Name, v1::DisabledItem>;

  static Name NameOf(const v1::DisabledItem& item);
  absl::Status CheckName(const Name& name) const;
  void Apply(const v1::DisableEvent& event);  // under the lock
  absl::Status Write(const v1::DisabledItem& item, bool enabled);

  std::atomic<size_t> size_{0};
  mutable std::mutex mutex_;
  std::unique_ptr<Journal> journal_;
  Map items_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_DISABLED_H_
