#include "cache/bulk_fill.h"

#include <algorithm>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cache/digest.h"
#include "cache/rocksdb_database.h"
#include "cache/rocksdb_schema.h"
#include "rocksdb/sst_file_writer.h"

namespace ingot::cache {
namespace {

constexpr uint64_t kTableBytes = 64 << 20;

// What has to be known of each entry to write every family in its own order.
struct Outline {
  std::string key;
  std::string digest;
  uint64_t number;
};

// Writes one family's keys, which come in order, into tables of bounded size.
class Tables {
 public:
  Tables(RocksDatabase& database, const std::string& directory, Family family)
      : database_(database),
        prefix_(absl::StrCat(directory, "/bulk-", static_cast<int>(family))),
        family_(family),
        options_(FamilyOptions({.directory = directory}, family)) {}

  absl::Status Put(absl::string_view key, absl::string_view value) {
    if (writer_ == nullptr || writer_->FileSize() > kTableBytes) {
      INGOT_RETURN_IF_ERROR(Finish());
      writer_ = std::make_unique<rocksdb::SstFileWriter>(
          rocksdb::EnvOptions(), options_, database_.family(family_));
      files_.push_back(absl::StrCat(prefix_, "-", files_.size(), ".sst"));
      INGOT_RETURN_IF_ERROR(ToStatus(writer_->Open(files_.back())));
    }
    return ToStatus(writer_->Put(ToSlice(key), ToSlice(value)));
  }

  absl::StatusOr<rocksdb::IngestExternalFileArg> Ingestion() {
    INGOT_RETURN_IF_ERROR(Finish());
    rocksdb::IngestExternalFileArg argument;
    argument.column_family = database_.family(family_);
    argument.external_files = files_;
    argument.options.move_files = true;
    return argument;
  }

 private:
  absl::Status Finish() {
    if (writer_ == nullptr) return absl::OkStatus();
    const absl::Status status = ToStatus(writer_->Finish());
    writer_.reset();
    return status;
  }

  RocksDatabase& database_;
  const std::string prefix_;
  const Family family_;
  const rocksdb::Options options_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  std::vector<std::string> files_;
};

// Older entries have lower numbers.
AccessValue AccessOf(const Outline& outline, uint64_t begin_micros) {
  return {.micros = begin_micros + outline.number};
}

class Filler {
 public:
  Filler(const BulkFillOptions& options, RocksDatabase& database)
      : options_(options),
        database_(database),
        begin_micros_(absl::ToUnixMicros(absl::Now()) - options.entries) {
    if (!options_.entry) {
      options_.entry = [bytes = options.object_bytes](uint64_t number) {
        return SyntheticEntry(number, bytes);
      };
    }
  }

  absl::Status Run() {
    outlines_.reserve(options_.entries);
    for (uint64_t i = 0; i < options_.entries; ++i) {
      Publication entry = options_.entry(i);
      outlines_.push_back({std::move(entry.key), std::move(entry.digest), i});
    }
    std::vector<rocksdb::IngestExternalFileArg> arguments;
    INGOT_RETURN_IF_ERROR(WriteByKey(arguments));
    INGOT_RETURN_IF_ERROR(WriteByAge(arguments));
    INGOT_RETURN_IF_ERROR(WriteByDigest(arguments));
    INGOT_RETURN_IF_ERROR(database_.Ingest(arguments));
    rocksdb::WriteBatch batch;
    batch.Put(database_.family(Family::kMeta), kCountersKey,
              EncodeCounters(counters_));
    return database_.Write(batch);
  }

 private:
  using Arguments = std::vector<rocksdb::IngestExternalFileArg>;

  absl::Status WriteByKey(Arguments& arguments) {
    std::sort(outlines_.begin(), outlines_.end(),
              [](const Outline& a, const Outline& b) { return a.key < b.key; });
    Tables records(database_, options_.directory, Family::kRecords);
    Tables access(database_, options_.directory, Family::kAccess);
    for (const Outline& outline : outlines_) {
      const Publication entry = options_.entry(outline.number);
      const std::string value =
          EncodeRecord({.digest = entry.digest,
                        .object_size = entry.object.size(),
                        .record = entry.record});
      INGOT_RETURN_IF_ERROR(records.Put(outline.key, value));
      INGOT_RETURN_IF_ERROR(
          access.Put(EntryId(Kind::kKernel, outline.key),
                     EncodeAccess(AccessOf(outline, begin_micros_))));
      counters_.entries += 1;
      counters_.bytes += ChargeOf(outline.key, value);
    }
    return Append(arguments, records, access);
  }

  absl::Status WriteByAge(Arguments& arguments) {
    std::sort(
        outlines_.begin(), outlines_.end(),
        [](const Outline& a, const Outline& b) { return a.number < b.number; });
    Tables lru(database_, options_.directory, Family::kLru);
    for (const Outline& outline : outlines_) {
      INGOT_RETURN_IF_ERROR(
          lru.Put(EncodeLruKey(AccessOf(outline, begin_micros_),
                               EntryId(Kind::kKernel, outline.key)),
                  ""));
    }
    INGOT_ASSIGN_OR_RETURN(auto argument, lru.Ingestion());
    arguments.push_back(std::move(argument));
    return absl::OkStatus();
  }

  absl::Status WriteByDigest(Arguments& arguments) {
    std::sort(outlines_.begin(), outlines_.end(),
              [](const Outline& a, const Outline& b) {
                return std::tie(a.digest, a.key) < std::tie(b.digest, b.key);
              });
    Tables objects(database_, options_.directory, Family::kObjects);
    Tables refs(database_, options_.directory, Family::kRefs);
    const std::string* last = nullptr;
    for (const Outline& outline : outlines_) {
      INGOT_RETURN_IF_ERROR(
          refs.Put(absl::StrCat(outline.digest, outline.key), ""));
      if (last != nullptr && *last == outline.digest) continue;
      last = &outline.digest;
      const Publication entry = options_.entry(outline.number);
      INGOT_RETURN_IF_ERROR(objects.Put(outline.digest, entry.object));
      counters_.bytes += entry.object.size();
    }
    return Append(arguments, objects, refs);
  }

  static absl::Status Append(Arguments& arguments, Tables& first,
                             Tables& second) {
    for (Tables* tables : {&first, &second}) {
      INGOT_ASSIGN_OR_RETURN(auto argument, tables->Ingestion());
      arguments.push_back(std::move(argument));
    }
    return absl::OkStatus();
  }

  BulkFillOptions options_;
  RocksDatabase& database_;
  const uint64_t begin_micros_;
  std::vector<Outline> outlines_;
  Counters counters_;
};

}  // namespace

Publication SyntheticEntry(uint64_t number, size_t object_bytes) {
  std::mt19937_64 random(number);
  Publication entry = {.key = Sha256(absl::StrCat("synthetic key ", number)),
                       .record = absl::StrCat("synthetic record ", number)};
  entry.object.reserve(object_bytes + 8);
  while (entry.object.size() < object_bytes) {
    const uint64_t word = random();
    entry.object.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  entry.object.resize(object_bytes);
  entry.digest = Sha256(entry.object);
  return entry;
}

absl::Status BulkFill(const BulkFillOptions& options) {
  if (options.entries == 0) {
    return absl::InvalidArgumentError("entries is 0, expected 1 or more");
  }
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<RocksDatabase> database,
                         RocksDatabase::Open({.directory = options.directory}));
  std::string counters;
  if (database->GetIfReadable(Family::kMeta, kCountersKey, &counters)) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.directory, " holds entries already: give a new directory"));
  }
  return Filler(options, *database).Run();
}

}  // namespace ingot::cache
