#include <string>

#include "absl/strings/match.h"
#include "cache/rocksdb_schema.h"
#include "compiler/kernel_spec.h"
#include "compiler/sha256.h"
#include "google/protobuf/stubs/logging.h"
#include "ingot/v1/record.pb.h"
#include "server/record_fields.h"
#include "server/validity.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

// What a decoder takes, its encoder writes. A later schema may add to the first
// two.
void ExpectReadAsWritten(absl::string_view bytes) {
  if (const auto schema = cache::DecodeSchema(bytes)) {
    Expect(absl::StartsWith(bytes, cache::EncodeSchema(*schema)));
  }
  if (const auto counters = cache::DecodeCounters(bytes)) {
    Expect(absl::StartsWith(bytes, cache::EncodeCounters(*counters)));
  }
  if (const auto record = cache::DecodeRecord(bytes)) {
    Expect(cache::EncodeRecord(*record) == bytes);
  }
  if (const auto plan = cache::DecodePlan(bytes)) {
    Expect(cache::EncodePlan(*plan) == bytes);
  }
  if (const auto access = cache::DecodeAccess(bytes)) {
    Expect(cache::EncodeAccess(*access) == bytes);
  }
  if (const auto place = cache::DecodeLruKey(bytes)) {
    Expect(cache::EncodeLruKey(place->access, place->id) == bytes);
  }
}

void ExpectKeysHold(absl::string_view encoding) {
  const absl::StatusOr<KernelSpec> spec = DecodeKernelSpec(encoding);
  if (spec.ok()) Expect(EncodeKernelSpec(*spec) == encoding);
}

}  // namespace

void RecordBytes(const uint8_t* data, size_t size) {
  const google::protobuf::LogSilencer silence;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  ExpectReadAsWritten(bytes);
  ExpectKeysHold(bytes);
  if (size < 2) return;
  const size_t length = data[0] + 256u * data[1];
  if (length > size - 2) return;
  const std::string record = bytes.substr(2, length);
  const std::string object = bytes.substr(2 + length);
  v1::Record parsed;
  if (!parsed.ParseFromString(record)) {
    Expect(!server::CheckStoredRecord(std::string(32, 'k'), record).ok());
    return;
  }
  // What a hit cannot read where it lies is not stored in the first place.
  Expect(server::RecordKeyEncoding(record) == parsed.key_encoding() ||
         !server::CheckStoredRecord(parsed.key(), record).ok());
  ExpectKeysHold(parsed.key_encoding());
  const std::string digest = Sha256(object);
  const std::string key = KernelKey(parsed.key_encoding());
  const bool alone = server::CheckStoredRecord(key, record).ok();
  const bool whole = server::CheckStored(key, record, digest, object).ok();
  Expect(alone || !whole);
  if (whole) {
    Expect(parsed.digest() == digest && parsed.size() == object.size());
    Expect(!server::CheckStored(digest, record, digest, object).ok());
  }
}

}  // namespace ingot::fuzz
