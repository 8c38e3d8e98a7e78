#include "cache/rocksdb_schema.h"

#include "cache/digest.h"

namespace ingot::cache {
namespace {

constexpr char kFormat = 1;

void AppendLittle(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

uint64_t ReadLittle(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

// Big-endian, so that byte order is time order.
void AppendAccess(std::string& out, const AccessValue& access) {
  out.push_back(static_cast<char>(access.cls));
  for (int i = 7; i >= 0; --i) {
    out.push_back(static_cast<char>(access.micros >> (8 * i)));
  }
}

constexpr size_t kAccessBytes = 9;

bool KnownClass(char byte) {
  return byte == static_cast<char>(Class::kEvictable) ||
         byte == static_cast<char>(Class::kPinned);
}

}  // namespace

std::string EncodeSchema(const SchemaValue& value) {
  std::string out;
  AppendLittle(out, value.version, 4);
  AppendLittle(out, value.oldest_reader, 4);
  return out;
}

std::optional<SchemaValue> DecodeSchema(absl::string_view bytes) {
  // Longer is a later schema's; its first two fields keep their place.
  if (bytes.size() < 8) return std::nullopt;
  return SchemaValue{
      .version = static_cast<uint32_t>(ReadLittle(bytes.substr(0, 4))),
      .oldest_reader = static_cast<uint32_t>(ReadLittle(bytes.substr(4, 4)))};
}

std::string EncodeCounters(const Counters& counters) {
  std::string out;
  AppendLittle(out, counters.entries, 8);
  AppendLittle(out, counters.bytes, 8);
  return out;
}

std::optional<Counters> DecodeCounters(absl::string_view bytes) {
  if (bytes.size() < 16) return std::nullopt;
  return Counters{.entries = ReadLittle(bytes.substr(0, 8)),
                  .bytes = ReadLittle(bytes.substr(8, 8))};
}

std::string EncodeRecord(const RecordValue& value) {
  std::string out;
  out.reserve(1 + kHashBytes + 8 + value.record.size());
  out.push_back(kFormat);
  out.append(value.digest.data(), value.digest.size());
  AppendLittle(out, value.object_size, 8);
  out.append(value.record.data(), value.record.size());
  return out;
}

std::optional<RecordValue> DecodeRecord(absl::string_view bytes) {
  constexpr size_t kHeader = 1 + kHashBytes + 8;
  if (bytes.size() < kHeader || bytes[0] != kFormat) return std::nullopt;
  return RecordValue{.digest = bytes.substr(1, kHashBytes),
                     .object_size = ReadLittle(bytes.substr(1 + kHashBytes, 8)),
                     .record = bytes.substr(kHeader)};
}

std::string EncodePlan(absl::string_view plan) {
  std::string out(1, kFormat);
  out.append(plan.data(), plan.size());
  return out;
}

std::optional<absl::string_view> DecodePlan(absl::string_view bytes) {
  if (bytes.empty() || bytes[0] != kFormat) return std::nullopt;
  return bytes.substr(1);
}

std::string EncodeAccess(const AccessValue& value) {
  std::string out;
  AppendAccess(out, value);
  return out;
}

std::optional<AccessValue> DecodeAccess(absl::string_view bytes) {
  if (bytes.size() != kAccessBytes || !KnownClass(bytes[0])) {
    return std::nullopt;
  }
  AccessValue value{.cls = static_cast<Class>(bytes[0])};
  for (const char byte : bytes.substr(1)) {
    value.micros = value.micros << 8 | static_cast<uint8_t>(byte);
  }
  return value;
}

std::string EntryId(Kind kind, absl::string_view key) {
  std::string id(1, static_cast<char>(kind));
  id.append(key.data(), key.size());
  return id;
}

std::string EncodeLruKey(const AccessValue& access, absl::string_view id) {
  std::string out;
  out.reserve(kAccessBytes + id.size());
  AppendAccess(out, access);
  out.append(id.data(), id.size());
  return out;
}

std::optional<LruKey> DecodeLruKey(absl::string_view bytes) {
  if (bytes.size() < kAccessBytes + 2) return std::nullopt;
  const std::optional<AccessValue> access =
      DecodeAccess(bytes.substr(0, kAccessBytes));
  const absl::string_view id = bytes.substr(kAccessBytes);
  const bool known = id[0] == static_cast<char>(Kind::kKernel) ||
                     id[0] == static_cast<char>(Kind::kPlan);
  if (!access.has_value() || !known) return std::nullopt;
  return LruKey{.access = *access, .id = id};
}

}  // namespace ingot::cache
