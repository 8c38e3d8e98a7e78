#include "cache/rocksdb_database.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "cache/digest.h"
#include "cache/rocksdb_hooks.h"
#include "cache/rocksdb_schema.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"

namespace ingot::cache {
namespace {

// Stored names; never renamed. Index = Family.
constexpr std::array<const char*, kFamilies> kNames = {
    "default", "records", "objects", "refs", "plans", "access", "lru"};

constexpr char kSetAside[] = "damaged";
// Smaller objects lie in the tables.
constexpr uint64_t kMinBlobBytes = 4096;

rocksdb::BlockBasedTableOptions TableOptions(
    const std::shared_ptr<rocksdb::Cache>& block_cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = block_cache;
  table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  // Index and filters count against the cache: memory does not grow with the
  // number of entries.
  table.cache_index_and_filter_blocks = true;
  // In pieces: the whole index of a 64 MiB table is larger than a shard of the
  // cache, and would be read anew for every lookup (132 us, in pieces 27, with
  // a million entries).
  table.index_type =
      rocksdb::BlockBasedTableOptions::IndexType::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

void SetFamilyOptions(const RocksOptions& store, Family family,
                      rocksdb::ColumnFamilyOptions& options) {
  options.compression = rocksdb::kLZ4Compression;
  // Reads matter, writes are rare: let level 0 grow rather than stall a publish
  // behind a compaction that cannot finish.
  options.level0_slowdown_writes_trigger = 100;
  options.level0_stop_writes_trigger = 1000;
  if (family == Family::kRefs) {
    options.prefix_extractor.reset(
        rocksdb::NewFixedPrefixTransform(kHashBytes));
  }
  if (family == Family::kObjects) {
    // Objects in blob files of their own: a damaged object is dropped by its
    // tombstone alone, while a damaged block inside a table would fail every
    // compaction of that table; and files are in order of time, as eviction is.
    // LZ4 reads a 64 KiB code object in 39 us at 0.32 of its size, ZSTD in 61
    // us at 0.20, none in 66 us.
    options.enable_blob_files = true;
    options.min_blob_size = kMinBlobBytes;
    // Small files, so that collecting some needs little free space.
    options.blob_file_size = store.memory_bytes / 2;
    options.blob_compression_type = rocksdb::kLZ4Compression;
    // Only CollectObjects moves live objects: it knows how much space there is,
    // where RocksDB's own compactions fill the disk, fail and try again for
    // ever.
    options.enable_blob_garbage_collection = false;
  }
}

void SetDatabaseOptions(const RocksOptions& options, bool tolerant,
                        rocksdb::DBOptions& db) {
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  if (options.env != nullptr) db.env = options.env;
  db.info_log = MakeLogger(options.log);
  db.max_open_files = 512;
  db.max_background_jobs = 2;
  db.bytes_per_sync = 1 << 20;
  // A log that reserves its whole length makes a small disk look full when it
  // is not, and flushing it makes space that the next one takes at once.
  db.allow_fallocate = false;
  db.db_write_buffer_size = options.memory_bytes;
  // Bounds what a restart replays.
  db.max_total_wal_size = options.memory_bytes;
  db.skip_stats_update_on_db_open = true;
  db.wal_recovery_mode =
      tolerant ? rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords
               : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // Background work stops at its first error. Going on, it would sync a log
  // whose sync has failed before, on which this release aborts the process.
  db.paranoid_checks = !tolerant;
  db.max_bgerror_resume_count = 0;  // a failed database is opened again
}

// Damage that opening cannot get past, as opposed to a full disk, a missing
// permission or a lock.
bool IsDamage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsPathNotFound() ||
         status.IsInvalidArgument() || status.IsNotFound() ||
         (status.IsIOError() &&
          status.ToString().find("No such file") != std::string::npos);
}

// Moves everything but the lock and an earlier set-aside into
// `directory`/damaged, replacing that: one copy for a post-mortem, not a leak.
absl::Status SetAside(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path target = fs::path(directory) / kSetAside;
  fs::remove_all(target, error);
  if (!error) fs::create_directory(target, error);
  if (error) {
    return absl::InternalError(
        absl::StrCat("creating ", target.string(), ": ", error.message()));
  }
  for (const fs::directory_entry& file : fs::directory_iterator(directory)) {
    const std::string name = file.path().filename();
    if (name == kSetAside || name == "owner.pid") continue;
    fs::rename(file.path(), target / name, error);
    if (error) {
      return absl::InternalError(absl::StrCat(
          "setting aside ", file.path().string(), ": ", error.message()));
    }
  }
  return absl::OkStatus();
}

// Keeps a value that was read, and the cache in which its block may lie.
struct Pinned {
  std::shared_ptr<rocksdb::Cache> cache;
  rocksdb::PinnableSlice value;  // released first
};

rocksdb::ReadOptions WalkOptions() {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  // `refs` has a prefix extractor; a walk must not be cut short by it.
  options.total_order_seek = true;
  return options;
}

}  // namespace

absl::Status ToStatus(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = absl::StrCat("rocksdb: ", status.ToString());
  if (status.IsCorruption()) return absl::DataLossError(text);
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

rocksdb::Options FamilyOptions(const RocksOptions& options, Family family) {
  rocksdb::Options result;
  SetDatabaseOptions(options, false, result);
  SetFamilyOptions(options, family, result);
  result.table_factory.reset(
      rocksdb::NewBlockBasedTableFactory(TableOptions(nullptr)));
  return result;
}

RocksDatabase::RocksDatabase(const RocksOptions& options,
                             std::unique_ptr<DirectoryLock> lock)
    : options_(options),
      block_cache_(rocksdb::NewLRUCache(options.memory_bytes, 4)),
      lock_(std::move(lock)) {}

absl::StatusOr<std::unique_ptr<RocksDatabase>> RocksDatabase::Open(
    const RocksOptions& options) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<DirectoryLock> lock,
                         DirectoryLock::Acquire(options.directory));
  std::unique_ptr<RocksDatabase> database(
      new RocksDatabase(options, std::move(lock)));
  absl::MutexLock exclusive(&database->mutex_);
  const absl::Status status = database->OpenAndCheck();
  if (absl::IsResourceExhausted(status)) {
    database->Log(absl::StrCat(status.message(), ": starting without a store"));
    database->Close();
    database->failed_ = true;
    return database;
  }
  INGOT_RETURN_IF_ERROR(status);
  return database;
}

RocksDatabase::~RocksDatabase() {
  absl::MutexLock exclusive(&mutex_);
  Close();
}

void RocksDatabase::Log(const std::string& line) const {
  if (options_.log) options_.log(line);
}

void RocksDatabase::Close() {
  if (db_ == nullptr) return;
  // RocksDB asserts that every handle was destroyed before it.
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle);
  }
  handles_.clear();
  db_.reset();
}

absl::Status RocksDatabase::Reopen() {
  INGOT_RETURN_IF_ERROR(TryDisk());
  absl::MutexLock alone(&write_mutex_);
  absl::MutexLock exclusive(&mutex_);
  Close();
  const absl::Status status = OpenAndCheck();
  if (!status.ok()) Close();
  failed_ = !status.ok();
  return status;
}

rocksdb::Env* RocksDatabase::env() const {
  return options_.env == nullptr ? rocksdb::Env::Default() : options_.env;
}

absl::Status RocksDatabase::TryDisk() const {
  const std::string path = absl::StrCat(options_.directory, "/trial");
  const std::string bytes(1 << 20, '\0');
  const rocksdb::Status written =
      rocksdb::WriteStringToFile(env(), bytes, path, /*should_sync=*/true);
  env()->DeleteFile(path).PermitUncheckedError();
  return ToStatus(written);
}

absl::Status RocksDatabase::OpenAndCheck() {
  INGOT_RETURN_IF_ERROR(OpenOrSetAside());
  const absl::Status schema = CheckSchema();
  if (!absl::IsDataLoss(schema)) return schema;
  Log(absl::StrCat("store ", options_.directory, ": ", schema.message(),
                   ": set aside under ", kSetAside, ", beginning empty"));
  Close();
  INGOT_RETURN_IF_ERROR(SetAside(options_.directory));
  INGOT_RETURN_IF_ERROR(OpenOrSetAside());
  return CheckSchema();
}

absl::Status RocksDatabase::OpenOrSetAside() {
  rocksdb::Status status = OpenOnce(/*tolerant=*/false);
  if (!status.ok() && IsDamage(status)) {
    Log(absl::StrCat("store ", options_.directory, " is damaged (",
                     status.ToString(),
                     "): opening without what cannot be read"));
    // Entries are checked one by one when they are read, so a hole in the log
    // or a broken table costs the entries in it and no others.
    unmergeable_ = true;
    status = OpenOnce(/*tolerant=*/true);
  }
  if (!status.ok() && IsDamage(status)) {
    Log(absl::StrCat("store ", options_.directory, " cannot be opened (",
                     status.ToString(), "): set aside under ", kSetAside,
                     ", beginning empty"));
    INGOT_RETURN_IF_ERROR(SetAside(options_.directory));
    status = OpenOnce(/*tolerant=*/false);
  }
  return Annotate(ToStatus(status),
                  absl::StrCat("opening store ", options_.directory));
}

rocksdb::Status RocksDatabase::OpenOnce(bool tolerant) {
  rocksdb::DBOptions db_options;
  SetDatabaseOptions(options_, tolerant, db_options);
  db_options.listeners.push_back(
      MakeErrorListener([this](const rocksdb::Status& error) {
        failed_ = true;
        if (error.IsCorruption()) unmergeable_ = true;
      }));
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (size_t i = 0; i < kFamilies; ++i) {
    rocksdb::ColumnFamilyOptions family;
    SetFamilyOptions(options_, static_cast<Family>(i), family);
    family.disable_auto_compactions = unmergeable_;
    family.table_factory.reset(
        rocksdb::NewBlockBasedTableFactory(TableOptions(block_cache_)));
    families.emplace_back(kNames[i], family);
  }
  // RocksDB opens all families or none, also those a later build has added.
  std::vector<std::string> present;
  rocksdb::DB::ListColumnFamilies(db_options, options_.directory, &present)
      .PermitUncheckedError();
  for (const std::string& name : present) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    }
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      db_options, options_.directory, families, &handles_, &db);
  db_.reset(db);
  return status;
}

absl::Status RocksDatabase::CheckSchema() {
  rocksdb::ColumnFamilyHandle* meta =
      handles_[static_cast<size_t>(Family::kMeta)];
  std::string bytes;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), meta, kSchemaKey, &bytes);
  if (!status.IsNotFound()) {
    if (IsDamage(status)) return absl::DataLossError(status.ToString());
    INGOT_RETURN_IF_ERROR(ToStatus(status));
    const std::optional<SchemaValue> schema = DecodeSchema(bytes);
    if (!schema.has_value()) {
      return absl::DataLossError("the store's schema version is unreadable");
    }
    if (schema->oldest_reader > kSchemaVersion) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the store has schema ", schema->version,
          ", which needs a build that knows schema ", schema->oldest_reader,
          "; this one knows ", kSchemaVersion,
          ": run a newer build or give this one a directory of its own"));
    }
    if (schema->version >= kSchemaVersion) return absl::OkStatus();
  }
  return ToStatus(
      db_->Put(rocksdb::WriteOptions(), meta, kSchemaKey,
               EncodeSchema({kSchemaVersion, kSchemaOldestReader})));
}

absl::Status RocksDatabase::Opened() const {
  if (db_ != nullptr) return absl::OkStatus();
  return absl::UnavailableError("the store is not open: its disk was full");
}

absl::StatusOr<bool> RocksDatabase::Get(Family family, absl::string_view key,
                                        std::string* value) const {
  absl::ReaderMutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Opened());
  const rocksdb::Status status = db_->Get(
      rocksdb::ReadOptions(), this->family(family), ToSlice(key), value);
  if (status.IsNotFound()) return false;
  INGOT_RETURN_IF_ERROR(ToStatus(status));
  return true;
}

absl::StatusOr<std::optional<Bytes>> RocksDatabase::GetObject(
    absl::string_view digest) const {
  absl::ReaderMutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Opened());
  auto pinned = std::make_shared<Pinned>();
  pinned->cache = block_cache_;
  // Objects lie in blob files, which the block cache does not hold: what a read
  // leaves in it is index, filter and the small block that names the blob.
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), family(Family::kObjects),
               ToSlice(digest), &pinned->value);
  if (status.IsNotFound()) return std::nullopt;
  INGOT_RETURN_IF_ERROR(ToStatus(status));
  const absl::string_view object = ToView(pinned->value);
  // A smaller one lies in a block with others, which would be kept with it.
  if (object.size() < kMinBlobBytes) {
    return std::make_shared<const std::string>(object);
  }
  return Bytes(std::move(pinned), object);
}

bool RocksDatabase::GetIfReadable(Family family, absl::string_view key,
                                  std::string* value) const {
  return Get(family, key, value).value_or(false);
}

absl::Status RocksDatabase::Walk(
    Family family, absl::string_view from,
    absl::FunctionRef<bool(absl::string_view, absl::string_view)> visit) const {
  absl::ReaderMutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Opened());
  const std::unique_ptr<rocksdb::Iterator> at(
      db_->NewIterator(WalkOptions(), this->family(family)));
  for (at->Seek(ToSlice(from)); at->Valid(); at->Next()) {
    if (!visit(ToView(at->key()), ToView(at->value()))) break;
  }
  return ToStatus(at->status());
}

std::optional<std::string> RocksDatabase::LastKey(Family family,
                                                  absl::string_view at) const {
  absl::ReaderMutexLock lock(&mutex_);
  if (db_ == nullptr) return std::nullopt;
  const std::unique_ptr<rocksdb::Iterator> last(
      db_->NewIterator(WalkOptions(), this->family(family)));
  last->SeekForPrev(ToSlice(at));
  if (!last->Valid()) return std::nullopt;
  return last->key().ToString();
}

absl::Status RocksDatabase::WriteAlone(
    absl::FunctionRef<rocksdb::Status()> write) {
  absl::MutexLock alone(&write_mutex_);
  absl::ReaderMutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Opened());
  if (failed_) return absl::UnavailableError("an earlier write failed");
  const absl::Status status = ToStatus(write());
  if (!status.ok()) failed_ = true;
  if (absl::IsDataLoss(status)) unmergeable_ = true;
  return status;
}

absl::Status RocksDatabase::Write(rocksdb::WriteBatch& batch) {
  return WriteAlone([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    rocksdb::WriteOptions options;
    // A busy writer may keep the syncing thread from its turn: then it syncs
    // itself, so that the bound holds whatever the scheduler does.
    const absl::Time now = options_.now_micros
                               ? absl::FromUnixMicros(options_.now_micros())
                               : absl::Now();
    options.sync = now > unsynced_since_ + 2 * options_.sync_delay;
    const rocksdb::Status status = db_->Write(options, &batch);
    unsynced_since_ =
        options.sync ? absl::InfiniteFuture() : std::min(unsynced_since_, now);
    return status;
  });
}

absl::Status RocksDatabase::Sync() {
  return WriteAlone([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    unsynced_since_ = absl::InfiniteFuture();
    return db_->SyncWAL();
  });
}

absl::Status RocksDatabase::Flush() {
  return WriteAlone([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return db_->Flush(rocksdb::FlushOptions(), handles_);
  });
}

absl::Status RocksDatabase::Ingest(
    const std::vector<rocksdb::IngestExternalFileArg>& tables) {
  return WriteAlone([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return db_->IngestExternalFiles(tables);
  });
}

// Blob files are in order of age, as eviction is, so the dead are in the oldest
// and RocksDB rewrites a prefix of them. The longest one in which a byte gained
// costs at most four bytes written.
double RocksDatabase::ShareWorthCollecting(uint64_t room) const {
  constexpr uint64_t kMostWritten = 4;
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(family(Family::kObjects), &meta);
  std::sort(meta.blob_files.begin(), meta.blob_files.end(),
            [](const rocksdb::BlobMetaData& a, const rocksdb::BlobMetaData& b) {
              return a.blob_file_number < b.blob_file_number;
            });
  uint64_t live = 0;
  uint64_t dead = 0;
  size_t worth = 0;
  for (size_t i = 0; i < meta.blob_files.size(); ++i) {
    const rocksdb::BlobMetaData& file = meta.blob_files[i];
    live += file.total_blob_bytes - file.garbage_blob_bytes;
    dead += file.garbage_blob_bytes;
    if (live > room) break;
    if (live <= kMostWritten * dead && file.garbage_blob_bytes > 0) {
      worth = i + 1;
    }
  }
  if (worth == 0) return 0;
  // RocksDB rounds share * files down.
  return std::min(1.0, (static_cast<double>(worth) + 0.5) /
                           static_cast<double>(meta.blob_files.size()));
}

absl::Status RocksDatabase::CollectObjects(uint64_t room,
                                           std::atomic<bool>& cancelled) {
  INGOT_RETURN_IF_ERROR(Flush());
  if (unmergeable_) {
    return absl::DataLossError("a table is damaged: not compacting");
  }
  rocksdb::CompactRangeOptions options;
  options.canceled = &cancelled;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  absl::ReaderMutexLock lock(&mutex_);
  INGOT_RETURN_IF_ERROR(Opened());
  // Tables alone, which takes next to no space: tombstones meet what they
  // delete, and only then it is known what is dead.
  options.blob_garbage_collection_policy =
      rocksdb::BlobGarbageCollectionPolicy::kDisable;
  INGOT_RETURN_IF_ERROR(ToStatus(
      db_->CompactRange(options, family(Family::kObjects), nullptr, nullptr)));
  const double share = ShareWorthCollecting(room);
  if (share == 0) return absl::OkStatus();
  options.blob_garbage_collection_policy =
      rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = share;
  return ToStatus(
      db_->CompactRange(options, family(Family::kObjects), nullptr, nullptr));
}

uint64_t RocksDatabase::BytesOnDisk() const {
  absl::ReaderMutexLock lock(&mutex_);
  uint64_t total = 0;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    uint64_t bytes = 0;
    db_->GetIntProperty(handle, rocksdb::DB::Properties::kLiveSstFilesSize,
                        &bytes);
    total += bytes;
    db_->GetIntProperty(handle, rocksdb::DB::Properties::kLiveBlobFileSize,
                        &bytes);
    total += bytes;
  }
  return total;
}

uint64_t RocksDatabase::LogBytes() const {
  std::vector<rocksdb::Env::FileAttributes> files;
  env()
      ->GetChildrenFileAttributes(options_.directory, &files)
      .PermitUncheckedError();
  uint64_t total = 0;
  for (const rocksdb::Env::FileAttributes& file : files) {
    if (absl::EndsWith(file.name, ".log")) total += file.size_bytes;
  }
  return total;
}

}  // namespace ingot::cache
