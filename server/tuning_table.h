// Tuning records with their history: what was in force in which tuning epoch.
// Kept in a journal.
#ifndef INGOT_SERVER_TUNING_TABLE_H_
#define INGOT_SERVER_TUNING_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ingot/v1/tuning.pb.h"
#include "proto/status.h"
#include "server/clock.h"
#include "server/counters.h"
#include "server/journal.h"

namespace ingot::server {

struct TuningOptions {
  std::string path;  // of the journal
  // How long a record is in force; 0: for ever.
  int64_t ttl_ms = 0;
  // How many epochs pin_epoch may go back, at least.
  uint64_t kept_epochs = 4096;
  size_t max_records = 65536;  // in force
  std::function<int64_t()> now_unix_ms = UnixMillis;
  std::function<void(const std::string&)> note;  // a line for the log
};

// Thread-safe.
class TuningTable {
 public:
  using Record = std::shared_ptr<const v1::TuningRecord>;

  // What holds for a spec in an epoch.
  struct Answer {
    // When it began to hold; equal epochs of one spec are equal answers.
    uint64_t epoch = 1;
    std::vector<Record> records;  // newest first
  };

  // FAILED_PRECONDITION when the journal cannot be opened.
  static absl::StatusOr<std::unique_ptr<TuningTable>> Open(
      TuningOptions options, Counters& counters);

  // Called after each change, with no lock held. Set before the first one.
  void OnChange(std::function<void()> changed) {
    changed_ = std::move(changed);
  }

  // In epoch `pin`; 0: now. FAILED_PRECONDITION for an epoch that is not kept
  // any more or did not begin yet, naming those that are allowed.
  absl::StatusOr<Answer> At(absl::string_view spec_digest, uint64_t pin) const;

  // Stamps and keeps a record, in force when this returns. RESOURCE_EXHAUSTED
  // when there are too many; UNAVAILABLE when it cannot be written.
  absl::StatusOr<v1::TuningRecord> Add(v1::TuningRecord record);

  // Ends those of `records` (named by their epochs) that are in force; how
  // many. `why` is one word for the metrics and, after ": ", more for people.
  absl::StatusOr<size_t> End(const std::vector<uint64_t>& records,
                             const std::string& why);
  // Ends what is older than the time to live.
  absl::Status Expire();

  std::vector<Record> List() const;  // ended ones, too, by epoch
  uint64_t epoch() const;
  uint64_t oldest_epoch() const;
  size_t in_force() const;

 private:
  TuningTable(TuningOptions options, Counters& counters)
      : options_(std::move(options)), counters_(counters) {
    for (const char* why : {"replaced", "deleted", "expired", "unusable"}) {
      Ended(why);
    }
  }

  // The counter of records that ended for a reason.
  Counter& Ended(absl::string_view why) {
    return counters_.Get(
        absl::StrCat("ingot_tuning_ended_total{why=\"", why, "\"}"));
  }
  absl::Status Load();
  absl::Status Write(const v1::TuningEvent& event);
  void Apply(const v1::TuningEvent& event);
  void Insert(v1::TuningRecord record);
  void EndLocked(uint64_t record, uint64_t epoch, const std::string& why);
  // Forgets the history that nobody may ask for any more.
  void Prune();

  const TuningOptions options_;
  Counters& counters_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::unique_ptr<Journal> journal_;
  uint64_t epoch_ = 1;
  uint64_t oldest_epoch_ = 1;
  size_t in_force_ = 0;
  bool counting_ = false;  // what the journal tells was counted before
  std::map<uint64_t, Record> records_;  // by epoch
  absl::flat_hash_map<std::string, std::vector<uint64_t>> by_digest_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_TUNING_TABLE_H_
