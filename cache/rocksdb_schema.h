// What the RocksDB store keeps on disk. Values that are stored here are never
// renumbered; a change of a grammar takes a new format byte.
//
//   family    key                              value
//   default   "schema"                         version u32le, oldest reader
//   u32le default   "counters"                       entries u64le, bytes u64le
//   records   key                              1, digest, object size u64le,
//   record objects   digest                           the object's bytes refs
//   digest key                       (empty) plans     plan key 1, plan access
//   kind u8, key                     class u8, microseconds u64be lru class u8,
//   micros u64be, kind, key (empty)
//
// `refs` says which keys name an object: it goes with the last of them. `lru`
// is the eviction order, read from its front; `access` finds an entry in it.
// Key and digest are 32 bytes. Class kEvictable sorts before kPinned.
#ifndef INGOT_CACHE_ROCKSDB_SCHEMA_H_
#define INGOT_CACHE_ROCKSDB_SCHEMA_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "cache/store.h"

namespace ingot::cache {

// Written by this build, and the oldest build that can still read it.
inline constexpr uint32_t kSchemaVersion = 1;
inline constexpr uint32_t kSchemaOldestReader = 1;

inline constexpr char kSchemaKey[] = "schema";
inline constexpr char kCountersKey[] = "counters";

enum class Class : uint8_t { kEvictable = 0, kPinned = 1 };

struct SchemaValue {
  uint32_t version = 0;
  uint32_t oldest_reader = 0;
};
std::string EncodeSchema(const SchemaValue& value);
std::optional<SchemaValue> DecodeSchema(absl::string_view bytes);

struct Counters {
  uint64_t entries = 0;
  uint64_t bytes = 0;
};
std::string EncodeCounters(const Counters& counters);
std::optional<Counters> DecodeCounters(absl::string_view bytes);

// A view into the value that it was decoded from.
struct RecordValue {
  absl::string_view digest;
  uint64_t object_size = 0;
  absl::string_view record;
};
std::string EncodeRecord(const RecordValue& value);
std::optional<RecordValue> DecodeRecord(absl::string_view bytes);

std::string EncodePlan(absl::string_view plan);
std::optional<absl::string_view> DecodePlan(absl::string_view bytes);

struct AccessValue {
  Class cls = Class::kEvictable;
  uint64_t micros = 0;
};
std::string EncodeAccess(const AccessValue& value);
std::optional<AccessValue> DecodeAccess(absl::string_view bytes);

// An entry's id: its kind and key, as `access` and the recency map use it.
std::string EntryId(Kind kind, absl::string_view key);

std::string EncodeLruKey(const AccessValue& access, absl::string_view id);
struct LruKey {
  AccessValue access;
  absl::string_view id;
};
std::optional<LruKey> DecodeLruKey(absl::string_view bytes);

// What an entry adds to Counters::bytes besides its object.
inline uint64_t ChargeOf(absl::string_view key, absl::string_view value) {
  return key.size() + value.size();
}

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ROCKSDB_SCHEMA_H_
