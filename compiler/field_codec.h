// The byte format that specs and kernel specs are encoded in
// (proto/canonical.md, Grammar): little-endian integers, `bytes` with a u32
// length, named fields.
#ifndef INGOT_COMPILER_FIELD_CODEC_H_
#define INGOT_COMPILER_FIELD_CODEC_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

// Appends to a string that it owns.
class FieldWriter {
 public:
  void Raw(absl::string_view bytes) { out_.append(bytes.data(), bytes.size()); }
  void U8(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void U32(uint32_t value) { Little(value, 4); }
  void I64(int64_t value) { Little(static_cast<uint64_t>(value), 8); }
  void Bytes(absl::string_view bytes) {
    U32(static_cast<uint32_t>(bytes.size()));
    Raw(bytes);
  }

  void StringField(absl::string_view name, absl::string_view value) {
    Bytes(name);
    Bytes(value);
  }
  void U8Field(absl::string_view name, uint8_t value) {
    Bytes(name);
    U32(1);
    U8(value);
  }
  void U32Field(absl::string_view name, uint32_t value) {
    Bytes(name);
    U32(4);
    U32(value);
  }
  void I64Field(absl::string_view name, int64_t value) {
    Bytes(name);
    U32(8);
    I64(value);
  }

  const std::string& str() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  void Little(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      out_.push_back(static_cast<char>(value >> (8 * i)));
    }
  }

  std::string out_;
};

// Reads what a FieldWriter wrote. Once something is missing or not as expected
// the reader has failed: every later read gives zero or an empty view.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  // Whether everything was consumed, without failure.
  bool Done() const { return ok_ && rest_.empty(); }
  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  absl::string_view Raw(size_t size) {
    if (rest_.size() < size) {
      Fail();
      return {};
    }
    const absl::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  uint8_t U8() { return static_cast<uint8_t>(Little(1)); }
  uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
  int64_t I64() { return static_cast<int64_t>(Little(8)); }
  absl::string_view Bytes() { return Raw(U32()); }

  // The value of the next field, which must be `name`.
  absl::string_view Field(absl::string_view name) {
    if (Bytes() != name) Fail();
    return Bytes();
  }
  uint8_t U8Field(absl::string_view name) { return Sub(name, 1).U8(); }
  uint32_t U32Field(absl::string_view name) { return Sub(name, 4).U32(); }
  int64_t I64Field(absl::string_view name) { return Sub(name, 8).I64(); }

 private:
  FieldReader Sub(absl::string_view name, size_t size) {
    const absl::string_view value = Field(name);
    if (value.size() != size) Fail();
    return FieldReader(ok_ ? value : absl::string_view());
  }
  uint64_t Little(size_t size) {
    const absl::string_view bytes = Raw(size);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
    }
    return value;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_FIELD_CODEC_H_
