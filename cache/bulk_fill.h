// A store of many synthetic entries in seconds, for benches of start-up and
// size: sorted tables are written and ingested, past log and memtable.
#ifndef INGOT_CACHE_BULK_FILL_H_
#define INGOT_CACHE_BULK_FILL_H_

#include <cstdint>
#include <functional>
#include <string>

#include "cache/store.h"

namespace ingot::cache {

struct BulkFillOptions {
  std::string directory;
  uint64_t entries = 1000000;
  size_t object_bytes = 1024;
  // The entry of a number below `entries`; asked twice for each, and always the
  // same. Keys must differ; digests may be shared. Empty = SyntheticEntry.
  std::function<Publication(uint64_t number)> entry;
};

// Pseudo-random bytes under keys and digests that are right, with a record that
// only a store without a validity check of its own accepts.
Publication SyntheticEntry(uint64_t number, size_t object_bytes);

// Fills the RocksDB store in `directory`, which nobody may have open and which
// must be empty or absent (else kFailedPrecondition). Needs about 150 bytes of
// memory an entry. After a failure the directory is to be thrown away.
absl::Status BulkFill(const BulkFillOptions& options);

}  // namespace ingot::cache

#endif  // INGOT_CACHE_BULK_FILL_H_
