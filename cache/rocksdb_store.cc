#include "cache/rocksdb_store.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "cache/arguments.h"
#include "cache/background_task.h"
#include "cache/recency.h"
#include "cache/rocksdb_database.h"
#include "cache/rocksdb_ledger.h"
#include "cache/rocksdb_schema.h"
#include "cache/write_gate.h"

namespace ingot::cache {
namespace {

// Uses waiting to be written; about 100 bytes each.
constexpr size_t kPendingUses = 1 << 17;
constexpr size_t kEvictChunk = 64;

uint64_t FreeBytes(const std::string& directory) {
  struct statvfs fs;
  // A file system that does not answer is not known to be full.
  if (statvfs(directory.c_str(), &fs) != 0) {
    return std::numeric_limits<uint64_t>::max();
  }
  return uint64_t{fs.f_bavail} * fs.f_frsize;
}

// The `record` part of a stored value, which it moves from.
Bytes RecordIn(std::string value, absl::string_view record) {
  const size_t header = value.size() - record.size();
  auto owner = std::make_shared<const std::string>(std::move(value));
  const absl::string_view whole(*owner);
  return Bytes(std::move(owner), whole.substr(header));
}

RocksOptions WithDefaults(RocksOptions options) {
  if (!options.now_micros) {
    options.now_micros = [] {
      return static_cast<uint64_t>(absl::GetCurrentTimeNanos() / 1000);
    };
  }
  if (!options.free_bytes) {
    options.free_bytes = [directory = options.directory] {
      return FreeBytes(directory);
    };
  }
  return options;
}

class RocksStore : public Store {
 public:
  RocksStore(RocksOptions options, std::unique_ptr<RocksDatabase> database,
             std::unique_ptr<Ledger> ledger)
      : options_(std::move(options)),
        database_(std::move(database)),
        ledger_(std::move(ledger)),
        recency_(kPendingUses),
        gate_({.floor_bytes = options_.free_floor_bytes,
               .free_bytes = options_.free_bytes,
               .resume = [this] { return Resume(); },
               .log = options_.log}),
        last_recency_(options_.now_micros()),
        sync_(options_.sync_delay, absl::InfiniteDuration(),
              [this] { Sync(); }),
        upkeep_(absl::ZeroDuration(),
                std::min(options_.heal_period, options_.recency_period),
                [this] { Upkeep(); }) {
    if (database_->failed()) gate_.Shut("the disk is full");
  }

  ~RocksStore() override {
    stopping_ = true;
    if (gate_.shut()) return;
    ledger_->ApplyUses(recency_.Take(), options_.recency_resolution)
        .IgnoreError();
    Sync();
  }

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
  absl::StatusOr<std::optional<Entry>> GetOnce(absl::string_view key);
  // Up to `limit` values with a key above `after`, read in pages: `visit` may
  // take its time and may call this store.
  absl::Status WalkInPages(
      Family family, absl::string_view after, size_t limit,
      absl::FunctionRef<bool(const std::string& key, const std::string& value)>
          visit);
  absl::Status Admit(uint64_t bytes);
  absl::Status Written(const absl::Status& status);
  absl::StatusOr<bool> Changed(const absl::StatusOr<bool>& found);
  uint64_t Watermark() const;
  void Sync();
  absl::Status Resume();
  void Upkeep();
  void FlushUses();
  void EvictTo(uint64_t target_bytes);
  void EvictForQuota();
  void EvictForSpace();
  void CollectDead();
  void Collect();

  const RocksOptions options_;
  const std::unique_ptr<RocksDatabase> database_;
  const std::unique_ptr<Ledger> ledger_;
  Recency recency_;
  WriteGate gate_;
  std::atomic<uint64_t> evictions_{0};
  std::atomic<bool> stopping_{false};    // ends an eviction or compaction early
  uint64_t last_recency_;                // upkeep's own
  uint64_t released_at_collection_ = 0;  // upkeep's own
  // Last: their threads use all of the above.
  BackgroundTask sync_;
  BackgroundTask upkeep_;
};

absl::StatusOr<std::optional<Entry>> RocksStore::Get(absl::string_view key) {
  // A record without its object is damage only if it stays so: a deletion may
  // have come between the two reads, and a publish after it.
  absl::StatusOr<std::optional<Entry>> entry;
  for (int attempt = 0; attempt < 3; ++attempt) {
    entry = GetOnce(key);
    if (!absl::IsDataLoss(entry.status())) break;
  }
  return entry;
}

absl::StatusOr<std::optional<Entry>> RocksStore::GetOnce(
    absl::string_view key) {
  std::string value;
  INGOT_ASSIGN_OR_RETURN(const bool found,
                         database_->Get(Family::kRecords, key, &value));
  if (!found) return std::nullopt;
  const std::optional<RecordValue> record = DecodeRecord(value);
  if (!record.has_value()) return absl::DataLossError("malformed record");
  INGOT_ASSIGN_OR_RETURN(std::optional<Bytes> object,
                         database_->GetObject(record->digest));
  if (!object.has_value()) {
    return absl::DataLossError("the record's object is missing");
  }
  if ((*object)->size() != record->object_size) {
    return absl::DataLossError(
        absl::StrCat("the object has ", (*object)->size(),
                     " bytes, its record says ", record->object_size));
  }
  Entry entry = {.digest = std::string(record->digest),
                 .object = *std::move(object),
                 .tier = Tier::kStore};
  entry.record = RecordIn(std::move(value), record->record);
  return entry;
}

absl::StatusOr<std::optional<Bytes>> RocksStore::GetRecord(
    absl::string_view key) {
  std::string value;
  INGOT_ASSIGN_OR_RETURN(const bool found,
                         database_->Get(Family::kRecords, key, &value));
  if (!found) return std::nullopt;
  const std::optional<RecordValue> record = DecodeRecord(value);
  if (!record.has_value()) return absl::DataLossError("malformed record");
  return RecordIn(std::move(value), record->record);
}

absl::StatusOr<std::optional<Bytes>> RocksStore::GetObject(
    absl::string_view digest) {
  return database_->GetObject(digest);
}

absl::StatusOr<std::vector<std::string>> RocksStore::KeysOf(
    absl::string_view digest) {
  std::vector<std::string> keys;
  INGOT_RETURN_IF_ERROR(database_->Walk(
      Family::kRefs, digest, [&](absl::string_view ref, absl::string_view) {
        if (!absl::ConsumePrefix(&ref, digest)) return false;
        keys.emplace_back(ref);
        return true;
      }));
  return keys;
}

absl::StatusOr<std::optional<Bytes>> RocksStore::GetPlan(
    absl::string_view plan_key) {
  std::string value;
  INGOT_ASSIGN_OR_RETURN(const bool found,
                         database_->Get(Family::kPlans, plan_key, &value));
  if (!found) return std::nullopt;
  const std::optional<absl::string_view> plan = DecodePlan(value);
  if (!plan.has_value()) return absl::DataLossError("malformed plan");
  return std::make_shared<const std::string>(*plan);
}

absl::Status RocksStore::Publish(const Publication& publication) {
  INGOT_RETURN_IF_ERROR(CheckHash("key", publication.key));
  INGOT_RETURN_IF_ERROR(CheckHash("digest", publication.digest));
  INGOT_RETURN_IF_ERROR(
      Admit(publication.record.size() + publication.object.size()));
  return Written(ledger_->Publish(publication));
}

absl::Status RocksStore::PutPlan(absl::string_view plan_key,
                                 absl::string_view plan) {
  INGOT_RETURN_IF_ERROR(CheckPlanKey(plan_key));
  INGOT_RETURN_IF_ERROR(Admit(plan.size()));
  return Written(ledger_->PutPlan(plan_key, plan));
}

absl::StatusOr<bool> RocksStore::Changed(const absl::StatusOr<bool>& found) {
  if (!found.ok()) return gate_.Finish(found.status());
  sync_.Kick();
  return found;
}

absl::StatusOr<bool> RocksStore::Delete(absl::string_view key) {
  return Changed(ledger_->Remove(Kind::kKernel, key));
}

absl::StatusOr<bool> RocksStore::Drop(absl::string_view key) {
  return Changed(ledger_->Remove(Kind::kKernel, key, Ledger::Pin::kKeep));
}

absl::StatusOr<bool> RocksStore::SetPinned(absl::string_view key, bool pinned) {
  return Changed(ledger_->SetPinned(key, pinned));
}

absl::Status RocksStore::WalkInPages(
    Family family, absl::string_view after, size_t limit,
    absl::FunctionRef<bool(const std::string& key, const std::string& value)>
        visit) {
  constexpr size_t kPage = 256;
  std::string from(after);
  while (limit > 0) {
    std::vector<std::pair<std::string, std::string>> page;
    const absl::Status status = database_->Walk(
        family, from, [&](absl::string_view key, absl::string_view value) {
          if (key == after) return true;
          page.emplace_back(key, value);
          return page.size() < std::min(kPage, limit);
        });
    for (const auto& [key, value] : page) {
      if (!visit(key, value)) return absl::OkStatus();
    }
    INGOT_RETURN_IF_ERROR(status);
    if (page.empty()) break;
    limit -= page.size();
    // The first key after the last one seen.
    from = page.back().first + std::string(1, '\0');
  }
  return absl::OkStatus();
}

absl::Status RocksStore::Scan(
    absl::string_view after, size_t limit,
    const std::function<bool(const ScanEntry&)>& visit) {
  return WalkInPages(
      Family::kRecords, after, limit,
      [&](const std::string& key, const std::string& value) {
        // A malformed one is shown with an empty record: a scrub must see it.
        const RecordValue record = DecodeRecord(value).value_or(RecordValue());
        return visit({key, std::string(record.record), ledger_->IsPinned(key)});
      });
}

absl::Status RocksStore::ScanPlans(
    absl::string_view after, size_t limit,
    const std::function<bool(const PlanEntry&)>& visit) {
  return WalkInPages(
      Family::kPlans, after, limit,
      [&](const std::string& key, const std::string& value) {
        return visit({key, std::string(DecodePlan(value).value_or(""))});
      });
}

void RocksStore::Touch(Kind kind, absl::string_view key) {
  recency_.Touch(kind, key, options_.now_micros());
}

StoreStats RocksStore::Stats() const {
  const Counters counters = ledger_->counters();
  return {.entries = counters.entries,
          .bytes = counters.bytes,
          .evictions = evictions_.load(std::memory_order_relaxed),
          .dropped_writes = gate_.dropped(),
          .read_only = gate_.shut()};
}

uint64_t RocksStore::Watermark() const {
  return static_cast<uint64_t>(static_cast<double>(options_.quota_bytes) *
                               options_.low_watermark);
}

absl::Status RocksStore::Admit(uint64_t bytes) {
  INGOT_RETURN_IF_ERROR(gate_.Admit(bytes));
  if (options_.quota_bytes == 0) return absl::OkStatus();
  if (bytes > Watermark()) {
    return gate_.Drop(absl::StrCat("an entry of ", bytes,
                                   " bytes does not fit the quota of ",
                                   options_.quota_bytes));
  }
  // Far over quota the publisher pays for eviction itself; nothing can outrun
  // the background thread for long.
  const uint64_t limit = options_.quota_bytes + options_.quota_bytes / 4;
  while (ledger_->counters().bytes + bytes > limit) {
    const absl::StatusOr<size_t> evicted =
        ledger_->Evict(kEvictChunk, limit - bytes);
    if (!evicted.ok()) return gate_.Finish(evicted.status());
    if (*evicted == 0 && ledger_->counters().bytes + bytes > limit) {
      return gate_.Drop("over quota and nothing can be evicted");
    }
    evictions_ += *evicted;
  }
  return absl::OkStatus();
}

absl::Status RocksStore::Written(const absl::Status& status) {
  INGOT_RETURN_IF_ERROR(gate_.Finish(status));
  sync_.Kick();
  if (options_.quota_bytes > 0 &&
      ledger_->counters().bytes > options_.quota_bytes) {
    upkeep_.Kick();
  }
  return absl::OkStatus();
}

void RocksStore::Sync() {
  const absl::Status synced = database_->Sync();
  if (!synced.ok()) {
    gate_.Shut(absl::StrCat("syncing the log: ", synced.message()));
  }
}

absl::Status RocksStore::Resume() {
  if (!database_->failed()) return absl::OkStatus();
  // Opening writes what the log holds into tables, and a store that cannot be
  // opened serves nothing: better read-only for longer.
  const uint64_t free = options_.free_bytes();
  const uint64_t needed = database_->LogBytes();
  if (free < needed) {
    return absl::ResourceExhaustedError(absl::StrCat(
        free, " bytes of disk are free, opening again may take ", needed));
  }
  return ledger_->Recover();
}

void RocksStore::Upkeep() {
  if (database_->failed()) {
    gate_.Shut("the database failed in the background");
    // Also below the floor: only an open database can evict its way back.
    Resume().IgnoreError();
  }
  if (!database_->failed()) EvictForSpace();
  gate_.TryHeal();
  if (gate_.shut()) return;
  const uint64_t now = options_.now_micros();
  const uint64_t period = absl::ToInt64Microseconds(options_.recency_period);
  if (now >= last_recency_ + period) {
    last_recency_ = now;
    FlushUses();
  }
  EvictForQuota();
  CollectDead();
}

void RocksStore::FlushUses() {
  const absl::Status flushed =
      ledger_->ApplyUses(recency_.Take(), options_.recency_resolution);
  if (!flushed.ok()) gate_.Shut(flushed.message());
}

void RocksStore::EvictTo(uint64_t target_bytes) {
  // All uses so far count, however young the recorded ones are.
  absl::Status status =
      ledger_->ApplyUses(recency_.Take(), absl::ZeroDuration());
  while (status.ok() && !stopping_ &&
         ledger_->counters().bytes > target_bytes) {
    const absl::StatusOr<size_t> evicted =
        ledger_->Evict(kEvictChunk, target_bytes);
    status = evicted.status();
    if (!evicted.ok() || *evicted == 0) break;
    evictions_ += *evicted;
  }
  if (!status.ok()) gate_.Shut(status.message());
}

void RocksStore::EvictForQuota() {
  if (options_.quota_bytes == 0 ||
      ledger_->counters().bytes <= options_.quota_bytes) {
    return;
  }
  EvictTo(Watermark());
}

// Space comes back when tombstones meet what they delete; with few writes that
// would be never. A tenth is worth the work.
void RocksStore::CollectDead() {
  const uint64_t dead = ledger_->released_bytes() - released_at_collection_;
  const uint64_t enough =
      std::max(ledger_->counters().bytes / 10, uint64_t{options_.memory_bytes});
  if (dead >= enough) Collect();
}

void RocksStore::EvictForSpace() {
  if (gate_.BytesMissing() == 0) return;
  gate_.Shut("free disk is below the floor");
  // The log goes first: tables hold the same in a third of the space, and until
  // then nothing that is evicted is gone from the disk.
  database_->Flush().IgnoreError();
  const uint64_t missing = gate_.BytesMissing();
  if (missing == 0) return;
  const uint64_t wanted = missing + options_.free_floor_bytes / 4;
  const uint64_t own = database_->BytesOnDisk();
  // Somebody else fills the disk: emptying the store would not help.
  if (own <= wanted) return;
  const uint64_t bytes = ledger_->counters().bytes;
  const double share = static_cast<double>(wanted) / static_cast<double>(own);
  EvictTo(bytes - static_cast<uint64_t>(static_cast<double>(bytes) * share));
  Collect();
}

void RocksStore::Collect() {
  released_at_collection_ = ledger_->released_bytes();
  const absl::Status status =
      database_->CollectObjects(options_.free_bytes() / 2, stopping_);
  if (!status.ok() && !stopping_ && options_.log) {
    options_.log(absl::StrCat("collecting dead objects: ", status.message()));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenRocksStore(RocksOptions options) {
  options = WithDefaults(std::move(options));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<RocksDatabase> database,
                         RocksDatabase::Open(options));
  auto ledger = std::make_unique<Ledger>(database.get(), options.now_micros);
  return std::unique_ptr<Store>(new RocksStore(
      std::move(options), std::move(database), std::move(ledger)));
}

}  // namespace ingot::cache
