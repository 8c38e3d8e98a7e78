// Protobuf's wire format without a parser: what is signed are the bytes of a
// message as they came, which protobuf-c does not keep.
#ifndef INGOT_CLIENT_SRC_WIRE_SCAN_H_
#define INGOT_CLIENT_SRC_WIRE_SCAN_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "client/src/status.h"

namespace ingot::client {

// Walks the fields of one message. The bytes may be anything.
class WireScan {
 public:
  explicit WireScan(std::string_view message) : rest_(message) {}

  // False at the end and on damage; ok() tells which.
  bool Next();
  bool ok() const { return ok_; }

  uint32_t field() const { return field_; }
  bool is_bytes() const { return is_bytes_; }
  std::string_view bytes() const { return bytes_; }  // when is_bytes()
  uint64_t number() const { return number_; }        // of a varint
  bool is_number() const { return is_number_; }
  std::string_view raw() const { return raw_; }  // the field with its tag

 private:
  bool Varint(uint64_t* value);
  bool Skip(uint64_t size, std::string_view* skipped);

  std::string_view rest_;
  bool ok_ = true;
  uint32_t field_ = 0;
  bool is_bytes_ = false;
  bool is_number_ = false;
  uint64_t number_ = 0;
  std::string_view bytes_;
  std::string_view raw_;
};

// The plan and the records of a serialised GetKernelResponse, records in the
// order of its kernels. They point into `response`.
struct RawResponse {
  std::string_view plan;
  std::vector<std::string_view> records;
};

// INTERNAL when the message is damaged, or when a plan, or a kernel's record,
// stands in it twice: a parser would merge the two into what nobody signed.
Status SplitResponse(std::string_view response, RawResponse* raw);

// The responses of a serialised GetKernelsResponse, in the order of its
// results; empty for a result without one. INTERNAL likewise.
Status SplitResults(std::string_view message,
                    std::vector<std::string_view>* responses);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_WIRE_SCAN_H_
