// Protobuf's wire format, by hand, for the paths where a message is looked
// through or put together without being parsed: the bytes of a plan, record or
// reply are kept encoded and only ever copied.
#ifndef INGOT_SERVER_WIRE_FIELDS_H_
#define INGOT_SERVER_WIRE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::server {

// Walks the top level of one message. The bytes may be anything.
class WireReader {
 public:
  explicit WireReader(absl::string_view message) : rest_(message) {}

  // False at the end and on damage; ok() tells which.
  bool Next();
  bool ok() const { return ok_; }

  uint32_t field() const { return field_; }
  bool is_bytes() const { return type_ == 2; }
  bool is_varint() const { return type_ == 0; }
  // Of a length-delimited field; points into the message.
  absl::string_view bytes() const { return bytes_; }
  // Of a varint or fixed field.
  uint64_t number() const { return number_; }
  // The whole field with its tag; points into the message.
  absl::string_view raw() const { return raw_; }

 private:
  bool Varint(uint64_t* value);
  bool Take(size_t size, absl::string_view* bytes);
  bool ReadValue();

  absl::string_view rest_;
  bool ok_ = true;
  uint32_t field_ = 0;
  uint32_t type_ = 0;
  uint64_t number_ = 0;
  absl::string_view bytes_;
  absl::string_view raw_;
};

void AppendVarint(std::string* out, uint64_t value);
// Tag and length of a length-delimited field whose bytes follow.
void AppendHeader(std::string* out, uint32_t field, uint64_t size);
void AppendField(std::string* out, uint32_t field, absl::string_view bytes);
// Not written when zero, as proto3 has it.
void AppendField(std::string* out, uint32_t field, uint64_t value);

// The bytes of the last field of that number, as a parser would have it; empty
// when there is none or the message is damaged.
absl::string_view FindBytes(absl::string_view message, uint32_t field);

}  // namespace ingot::server

#endif  // INGOT_SERVER_WIRE_FIELDS_H_
