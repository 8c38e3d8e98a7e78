#include "cache/rocksdb_database.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cache/digest.h"
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

void Log(const RocksOptions& options, const std::string& line) {
  if (options.log) options.log(line);
}

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
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

void SetFamilyOptions(Family family, rocksdb::ColumnFamilyOptions& options) {
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
    options.min_blob_size = 4096;
    options.blob_file_size = 64 << 20;
    options.blob_compression_type = rocksdb::kLZ4Compression;
    options.enable_blob_garbage_collection = true;
    options.blob_garbage_collection_age_cutoff = 0.5;
    options.blob_garbage_collection_force_threshold = 0.5;
  }
}

void SetDatabaseOptions(const RocksOptions& options, bool tolerant,
                        rocksdb::DBOptions& db) {
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  if (options.env != nullptr) db.env = options.env;
  // Debian's build without NDEBUG defaults to DEBUG_LEVEL.
  db.info_log_level = rocksdb::WARN_LEVEL;
  db.keep_log_file_num = 4;
  db.max_log_file_size = 4 << 20;
  db.max_open_files = 512;
  db.max_background_jobs = 2;
  db.bytes_per_sync = 1 << 20;
  db.db_write_buffer_size = options.memory_bytes;
  // Bounds what a restart replays.
  db.max_total_wal_size = options.memory_bytes;
  db.skip_stats_update_on_db_open = true;
  db.wal_recovery_mode =
      tolerant ? rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords
               : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // A block that a compaction cannot read must not latch the whole store
  // read-only until a restart. Damage is found by reads and by scrubbing.
  db.paranoid_checks = false;
  db.max_bgerror_resume_count = 0;  // WriteGate resumes, by one rule for all
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
  SetFamilyOptions(family, result);
  result.table_factory.reset(
      rocksdb::NewBlockBasedTableFactory(TableOptions(nullptr)));
  return result;
}

absl::StatusOr<std::unique_ptr<RocksDatabase>> RocksDatabase::Open(
    const RocksOptions& options) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<DirectoryLock> lock,
                         DirectoryLock::Acquire(options.directory));
  std::unique_ptr<RocksDatabase> database(new RocksDatabase(std::move(lock)));
  INGOT_RETURN_IF_ERROR(database->OpenOrSetAside(options));
  absl::Status schema = database->CheckSchema();
  if (absl::IsDataLoss(schema)) {
    Log(options,
        absl::StrCat("store ", options.directory, ": ", schema.message(),
                     ": set aside under ", kSetAside, ", beginning empty"));
    database->Close();
    INGOT_RETURN_IF_ERROR(SetAside(options.directory));
    INGOT_RETURN_IF_ERROR(database->OpenOrSetAside(options));
    schema = database->CheckSchema();
  }
  INGOT_RETURN_IF_ERROR(schema);
  return database;
}

RocksDatabase::~RocksDatabase() { Close(); }

void RocksDatabase::Close() {
  if (db_ == nullptr) return;
  // RocksDB asserts that every handle was destroyed before it.
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle);
  }
  handles_.clear();
  db_.reset();
}

rocksdb::Status RocksDatabase::OpenOnce(const RocksOptions& options,
                                        bool tolerant) {
  rocksdb::DBOptions db_options;
  SetDatabaseOptions(options, tolerant, db_options);
  const auto block_cache = rocksdb::NewLRUCache(options.memory_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (size_t i = 0; i < kFamilies; ++i) {
    rocksdb::ColumnFamilyOptions family;
    SetFamilyOptions(static_cast<Family>(i), family);
    family.table_factory.reset(
        rocksdb::NewBlockBasedTableFactory(TableOptions(block_cache)));
    families.emplace_back(kNames[i], family);
  }
  // RocksDB opens all families or none, also those a later build has added.
  std::vector<std::string> present;
  rocksdb::DB::ListColumnFamilies(db_options, options.directory, &present)
      .PermitUncheckedError();
  for (const std::string& name : present) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    }
  }
  rocksdb::DB* db = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(db_options, options.directory,
                                             families, &handles_, &db);
  db_.reset(db);
  return status;
}

absl::Status RocksDatabase::OpenOrSetAside(const RocksOptions& options) {
  rocksdb::Status status = OpenOnce(options, /*tolerant=*/false);
  if (!status.ok() && IsDamage(status)) {
    Log(options, absl::StrCat("store ", options.directory, " is damaged (",
                              status.ToString(),
                              "): opening without the damaged log records"));
    // Entries are checked one by one when they are read, so a hole in the log
    // costs the entries in it and no others.
    status = OpenOnce(options, /*tolerant=*/true);
  }
  if (!status.ok() && IsDamage(status)) {
    Log(options,
        absl::StrCat("store ", options.directory, " cannot be opened (",
                     status.ToString(), "): set aside under ", kSetAside,
                     ", beginning empty"));
    INGOT_RETURN_IF_ERROR(SetAside(options.directory));
    status = OpenOnce(options, /*tolerant=*/false);
  }
  return Annotate(ToStatus(status),
                  absl::StrCat("opening store ", options.directory));
}

absl::Status RocksDatabase::CheckSchema() const {
  std::string bytes;
  INGOT_ASSIGN_OR_RETURN(const bool found,
                         Get(Family::kMeta, kSchemaKey, &bytes));
  if (found) {
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
  rocksdb::WriteBatch batch;
  INGOT_RETURN_IF_ERROR(
      ToStatus(batch.Put(family(Family::kMeta), kSchemaKey,
                         EncodeSchema({kSchemaVersion, kSchemaOldestReader}))));
  return Write(batch);
}

absl::StatusOr<bool> RocksDatabase::Get(Family family, absl::string_view key,
                                        std::string* value) const {
  rocksdb::ReadOptions options;
  // Objects would only push index and filter blocks out; the tier above keeps
  // those that are used.
  options.fill_cache = family != Family::kObjects;
  const rocksdb::Status status =
      db_->Get(options, this->family(family), ToSlice(key), value);
  if (status.IsNotFound()) return false;
  INGOT_RETURN_IF_ERROR(ToStatus(status));
  return true;
}

bool RocksDatabase::GetIfReadable(Family family, absl::string_view key,
                                  std::string* value) const {
  return Get(family, key, value).value_or(false);
}

absl::Status RocksDatabase::Write(rocksdb::WriteBatch& batch) const {
  return ToStatus(db_->Write(rocksdb::WriteOptions(), &batch));
}

std::unique_ptr<rocksdb::Iterator> RocksDatabase::Iterate(Family family) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  // `refs` has a prefix extractor; a scan must not be cut short by it.
  options.total_order_seek = true;
  return std::unique_ptr<rocksdb::Iterator>(
      db_->NewIterator(options, this->family(family)));
}

uint64_t RocksDatabase::BytesOnDisk() const {
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

}  // namespace ingot::cache
