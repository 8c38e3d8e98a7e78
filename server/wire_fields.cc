#include "server/wire_fields.h"

namespace ingot::server {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kBytes = 2;
constexpr uint32_t kFixed32 = 5;

}  // namespace

bool WireReader::Varint(uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_.remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::Take(size_t size, absl::string_view* bytes) {
  if (rest_.size() < size) return false;
  *bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::ReadValue() {
  uint64_t size = 0;
  switch (type_) {
    case kVarint:
      return Varint(&number_);
    case kBytes:
      return Varint(&size) && Take(size, &bytes_);
    case kFixed64:
    case kFixed32: {
      absl::string_view fixed;
      if (!Take(type_ == kFixed64 ? 8 : 4, &fixed)) return false;
      number_ = 0;
      for (size_t i = fixed.size(); i-- > 0;) {
        number_ = number_ << 8 | static_cast<unsigned char>(fixed[i]);
      }
      return true;
    }
    default:
      return false;  // groups: no message of ours has them
  }
}

bool WireReader::Next() {
  if (!ok_ || rest_.empty()) return false;
  const char* const start = rest_.data();
  uint64_t tag = 0;
  ok_ = Varint(&tag) && (tag >> 3) != 0 && (tag >> 32) == 0;
  if (!ok_) return false;
  field_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<uint32_t>(tag & 7);
  bytes_ = {};
  ok_ = ReadValue();
  raw_ = absl::string_view(start, static_cast<size_t>(rest_.data() - start));
  return ok_;
}

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendHeader(std::string* out, uint32_t field, uint64_t size) {
  AppendVarint(out, uint64_t{field} << 3 | kBytes);
  AppendVarint(out, size);
}

void AppendField(std::string* out, uint32_t field, absl::string_view bytes) {
  AppendHeader(out, field, bytes.size());
  out->append(bytes.data(), bytes.size());
}

void AppendField(std::string* out, uint32_t field, uint64_t value) {
  if (value == 0) return;
  AppendVarint(out, uint64_t{field} << 3 | kVarint);
  AppendVarint(out, value);
}

absl::string_view FindBytes(absl::string_view message, uint32_t field) {
  absl::string_view found;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == field && reader.is_bytes()) found = reader.bytes();
  }
  return reader.ok() ? found : absl::string_view();
}

}  // namespace ingot::server
