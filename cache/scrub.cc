#include "cache/scrub.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace ingot::cache {
namespace {

// Keys fetched at once; a page's iterator holds old files alive.
constexpr size_t kPage = 256;

class Scrubber {
 public:
  Scrubber(Store& store, const ScrubOptions& options)
      : store_(store), options_(options) {
    if (!options_.now) options_.now = [] { return absl::Now(); };
    if (!options_.sleep) options_.sleep = absl::SleepFor;
    report_.last = options_.after;
  }

  absl::StatusOr<ScrubReport> Run() {
    const uint64_t damaged_before = store_.Stats().damaged;
    begin_ = options_.now();
    while (true) {
      INGOT_ASSIGN_OR_RETURN(const std::vector<std::string> keys, NextPage());
      report_.complete = keys.empty();
      if (keys.empty() || !ReadPage(keys)) break;
    }
    report_.damaged = store_.Stats().damaged - damaged_before;
    return report_;
  }

 private:
  absl::StatusOr<std::vector<std::string>> NextPage() {
    std::vector<std::string> keys;
    INGOT_RETURN_IF_ERROR(
        store_.Scan(report_.last, kPage, [&](const ScanEntry& entry) {
          keys.push_back(entry.key);
          return true;
        }));
    return keys;
  }

  // False when cancelled.
  bool ReadPage(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      if (options_.cancelled && options_.cancelled()) return false;
      const absl::StatusOr<std::optional<Entry>> entry = store_.Get(key);
      report_.last = key;
      if (!entry.ok()) {
        report_.errors += 1;
      } else if (entry->has_value()) {
        report_.entries += 1;
        report_.bytes += (*entry)->record->size() + (*entry)->object->size();
      }
      Pace();
    }
    return true;
  }

  void Pace() {
    if (options_.bytes_per_second == 0) return;
    const absl::Time due =
        begin_ + absl::Seconds(1) * (static_cast<double>(report_.bytes) /
                                     options_.bytes_per_second);
    const absl::Duration ahead = due - options_.now();
    if (ahead > absl::Milliseconds(1)) options_.sleep(ahead);
  }

  Store& store_;
  ScrubOptions options_;
  ScrubReport report_;
  absl::Time begin_;
};

}  // namespace

absl::StatusOr<ScrubReport> Scrub(Store& store, const ScrubOptions& options) {
  return Scrubber(store, options).Run();
}

}  // namespace ingot::cache
