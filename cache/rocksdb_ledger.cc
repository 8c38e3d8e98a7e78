#include "cache/rocksdb_ledger.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"

namespace ingot::cache {
namespace {

uint64_t Minus(uint64_t from, uint64_t amount) {
  // Counters may drift where damage hid what an entry was charged; they never
  // wrap.
  return from - std::min(from, amount);
}

std::string RefKey(absl::string_view digest, absl::string_view key) {
  return absl::StrCat(digest, key);
}

// The key after every evictable place in `lru`.
std::string EndOfEvictable() {
  return std::string(1, static_cast<char>(Class::kPinned));
}

}  // namespace

Ledger::Ledger(RocksDatabase* database, std::function<uint64_t()> now_micros)
    : database_(database), now_micros_(std::move(now_micros)) {
  absl::MutexLock lock(&mutex_);
  Load();
}

void Ledger::Load() {
  std::string bytes;
  if (database_->GetIfReadable(Family::kMeta, kCountersKey, &bytes)) {
    counters_ = DecodeCounters(bytes).value_or(Counters());
  }
  shown_entries_ = counters_.entries;
  shown_bytes_ = counters_.bytes;
  front_.clear();
  // A clock set back must not put new entries in front of old ones.
  const std::optional<std::string> youngest =
      database_->LastKey(Family::kLru, EndOfEvictable());
  if (!youngest.has_value()) return;
  const std::optional<LruKey> place = DecodeLruKey(*youngest);
  if (place.has_value()) {
    last_stamp_ = std::max(last_stamp_, place->access.micros);
  }
}

absl::Status Ledger::Recover() {
  absl::MutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(database_->Reopen());
  // The write that failed is in the log whole or not at all.
  Load();
  rocksdb::WriteBatch batch;
  INGOT_RETURN_IF_ERROR(Commit(batch, counters_));
  return database_->Sync();
}

Counters Ledger::counters() const {
  return {.entries = shown_entries_.load(std::memory_order_relaxed),
          .bytes = shown_bytes_.load(std::memory_order_relaxed)};
}

absl::Status Ledger::Writable() const {
  // Nothing is staged for a database without families.
  return database_->failed() ? absl::UnavailableError("an earlier write failed")
                             : absl::OkStatus();
}

uint64_t Ledger::Stamp() {
  last_stamp_ = std::max(last_stamp_ + 1, now_micros_());
  return last_stamp_;
}

absl::Status Ledger::Publish(const Publication& publication) {
  absl::MutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Writable());
  rocksdb::WriteBatch batch;
  Counters counters = counters_;
  const std::string value =
      EncodeRecord({.digest = publication.digest,
                    .object_size = publication.object.size(),
                    .record = publication.record});
  // Asked before the old entry is released: a record that is replaced under the
  // same digest still charges its object.
  const bool shared = IsReferenced(publication.digest, publication.key);
  const std::string id = EntryId(Kind::kKernel, publication.key);
  const Class cls = ClassOf(id);
  StageRemoval(batch, counters, Kind::kKernel, publication.key);
  batch.Put(database_->family(Family::kRecords), publication.key, value);
  // Written even if it is there: a rebuild heals a damaged object for all keys
  // that share it.
  batch.Put(database_->family(Family::kObjects), publication.digest,
            publication.object);
  batch.Put(database_->family(Family::kRefs),
            RefKey(publication.digest, publication.key), rocksdb::Slice());
  StagePlace(batch, id, {.cls = cls, .micros = Stamp()});
  counters.entries += 1;
  counters.bytes += ChargeOf(publication.key, value);
  if (!shared) counters.bytes += publication.object.size();
  return Commit(batch, counters);
}

absl::Status Ledger::PutPlan(absl::string_view key, absl::string_view plan) {
  absl::MutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Writable());
  rocksdb::WriteBatch batch;
  Counters counters = counters_;
  const std::string value = EncodePlan(plan);
  StageRemoval(batch, counters, Kind::kPlan, key);
  batch.Put(database_->family(Family::kPlans), ToSlice(key), value);
  StagePlace(batch, EntryId(Kind::kPlan, key), {.micros = Stamp()});
  counters.bytes += ChargeOf(key, value);
  return Commit(batch, counters);
}

absl::StatusOr<bool> Ledger::Remove(Kind kind, absl::string_view key, Pin pin) {
  absl::MutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Writable());
  const std::string id = EntryId(kind, key);
  const bool stays_pinned = pin == Pin::kKeep && ClassOf(id) == Class::kPinned;
  rocksdb::WriteBatch batch;
  Counters counters = counters_;
  const bool found = StageRemoval(batch, counters, kind, key);
  if (batch.Count() == 0) return false;
  if (stays_pinned) {
    StagePlace(batch, id, {.cls = Class::kPinned, .micros = Stamp()});
  }
  INGOT_RETURN_IF_ERROR(Commit(batch, counters));
  return found;
}

absl::StatusOr<bool> Ledger::SetPinned(absl::string_view key, bool pinned) {
  absl::MutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Writable());
  std::string value;
  INGOT_ASSIGN_OR_RETURN(const bool found,
                         database_->Get(Family::kRecords, key, &value));
  const std::string id = EntryId(Kind::kKernel, key);
  if (!found && ClassOf(id) != Class::kPinned) return false;
  rocksdb::WriteBatch batch;
  StageUnplace(batch, id);
  if (pinned) {
    StagePlace(batch, id, {.cls = Class::kPinned, .micros = Stamp()});
  } else if (found) {
    StagePlace(batch, id, {.cls = Class::kEvictable, .micros = Stamp()});
  }
  INGOT_RETURN_IF_ERROR(Commit(batch, counters_));
  return true;
}

bool Ledger::IsPinned(absl::string_view key) const {
  return ClassOf(EntryId(Kind::kKernel, key)) == Class::kPinned;
}

Class Ledger::ClassOf(absl::string_view id) const {
  std::string bytes;
  if (!database_->GetIfReadable(Family::kAccess, id, &bytes)) {
    return Class::kEvictable;
  }
  return DecodeAccess(bytes).value_or(AccessValue()).cls;
}

bool Ledger::StageRemoval(rocksdb::WriteBatch& batch, Counters& counters,
                          Kind kind, absl::string_view key) {
  StageUnplace(batch, EntryId(kind, key));
  const Family family =
      kind == Kind::kKernel ? Family::kRecords : Family::kPlans;
  std::string value;
  const absl::StatusOr<bool> found = database_->Get(family, key, &value);
  // An unreadable entry is removed like any other; its charge is unknown.
  if (found.ok() && !*found) return false;
  batch.Delete(database_->family(family), ToSlice(key));
  if (kind == Kind::kKernel) counters.entries = Minus(counters.entries, 1);
  counters.bytes = Minus(counters.bytes, ChargeOf(key, value));
  const std::optional<RecordValue> record = DecodeRecord(value);
  if (kind == Kind::kKernel && record.has_value()) {
    StageRelease(batch, counters, record->digest, record->object_size, key);
  }
  return true;
}

void Ledger::StageRelease(rocksdb::WriteBatch& batch, Counters& counters,
                          absl::string_view digest, uint64_t object_size,
                          absl::string_view key) {
  batch.Delete(database_->family(Family::kRefs), RefKey(digest, key));
  if (IsReferenced(digest, key)) return;
  batch.Delete(database_->family(Family::kObjects), ToSlice(digest));
  counters.bytes = Minus(counters.bytes, object_size);
  released_bytes_.fetch_add(object_size, std::memory_order_relaxed);
}

bool Ledger::IsReferenced(absl::string_view digest,
                          absl::string_view except) const {
  const std::string own = RefKey(digest, except);
  bool another = false;
  const absl::Status status = database_->Walk(
      Family::kRefs, digest, [&](absl::string_view ref, absl::string_view) {
        if (!absl::StartsWith(ref, digest)) return false;
        another = ref != own;
        return !another;
      });
  // Unknown counts as referenced: an object kept too long is space, one lost
  // too early is another key's kernel.
  return another || !status.ok();
}

void Ledger::StagePlace(rocksdb::WriteBatch& batch, absl::string_view id,
                        const AccessValue& access) {
  const std::string place = EncodeLruKey(access, id);
  batch.Put(database_->family(Family::kAccess), ToSlice(id),
            EncodeAccess(access));
  batch.Put(database_->family(Family::kLru), place, rocksdb::Slice());
  if (place < front_) front_ = place;
}

void Ledger::StageUnplace(rocksdb::WriteBatch& batch, absl::string_view id) {
  std::string bytes;
  if (!database_->GetIfReadable(Family::kAccess, id, &bytes)) return;
  batch.Delete(database_->family(Family::kAccess), ToSlice(id));
  const std::optional<AccessValue> access = DecodeAccess(bytes);
  if (!access.has_value()) return;
  batch.Delete(database_->family(Family::kLru), EncodeLruKey(*access, id));
}

absl::Status Ledger::Commit(rocksdb::WriteBatch& batch,
                            const Counters& counters) {
  batch.Put(database_->family(Family::kMeta), kCountersKey,
            EncodeCounters(counters));
  INGOT_RETURN_IF_ERROR(database_->Write(batch));
  counters_ = counters;
  shown_entries_.store(counters.entries, std::memory_order_relaxed);
  shown_bytes_.store(counters.bytes, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status Ledger::ApplyUses(const Recency::Uses& uses,
                               absl::Duration resolution) {
  // Chunks, so that a publish never waits behind all of them.
  constexpr size_t kChunk = 256;
  auto use = uses.begin();
  while (use != uses.end()) {
    absl::MutexLock lock(&mutex_);
    INGOT_RETURN_IF_ERROR(Writable());
    rocksdb::WriteBatch batch;
    for (size_t i = 0; i < kChunk && use != uses.end(); ++i, ++use) {
      StageUse(batch, use->first, use->second, resolution);
    }
    if (batch.Count() > 0) INGOT_RETURN_IF_ERROR(Commit(batch, counters_));
  }
  return absl::OkStatus();
}

void Ledger::StageUse(rocksdb::WriteBatch& batch, absl::string_view id,
                      uint64_t micros, absl::Duration resolution) {
  std::string bytes;
  if (!database_->GetIfReadable(Family::kAccess, id, &bytes)) return;
  std::optional<AccessValue> access = DecodeAccess(bytes);
  if (!access.has_value()) return;
  const uint64_t young = access->micros + absl::ToInt64Microseconds(resolution);
  if (micros <= access->micros || micros < young) return;
  batch.Delete(database_->family(Family::kLru), EncodeLruKey(*access, id));
  access->micros = micros;
  StagePlace(batch, id, *access);
}

absl::StatusOr<std::vector<std::string>> Ledger::OldestPlaces(size_t limit) {
  std::vector<std::string> found;
  const std::string end = EndOfEvictable();
  INGOT_RETURN_IF_ERROR(database_->Walk(
      Family::kLru, front_, [&](absl::string_view place, absl::string_view) {
        if (place >= end || found.size() == limit) return false;
        found.emplace_back(place);
        return true;
      }));
  if (!found.empty()) front_ = found.front();
  return found;
}

absl::StatusOr<bool> Ledger::EvictPlace(const std::string& place) {
  rocksdb::WriteBatch batch;
  Counters counters = counters_;
  batch.Delete(database_->family(Family::kLru), place);
  bool evicted = false;
  const std::optional<LruKey> lru = DecodeLruKey(place);
  // A place that `access` contradicts is a leftover of damage, not the entry's.
  std::string access;
  if (lru.has_value() &&
      (!database_->GetIfReadable(Family::kAccess, lru->id, &access) ||
       access == EncodeAccess(lru->access))) {
    evicted = StageRemoval(batch, counters, static_cast<Kind>(lru->id[0]),
                           lru->id.substr(1));
  }
  INGOT_RETURN_IF_ERROR(Commit(batch, counters));
  return evicted;
}

absl::StatusOr<size_t> Ledger::Evict(size_t limit, uint64_t target_bytes) {
  absl::MutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Writable());
  if (counters_.bytes <= target_bytes) return 0;
  INGOT_ASSIGN_OR_RETURN(const std::vector<std::string> places,
                         OldestPlaces(limit));
  size_t evicted = 0;
  for (const std::string& place : places) {
    if (counters_.bytes <= target_bytes) break;
    INGOT_ASSIGN_OR_RETURN(const bool was_there, EvictPlace(place));
    evicted += was_there ? 1 : 0;
  }
  return evicted;
}

}  // namespace ingot::cache
