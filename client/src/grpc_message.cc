#include "client/src/grpc_message.h"

#include <algorithm>
#include <cstring>

namespace ingot::client {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string DecodeBase64(const std::string& text) {
  static const char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const char* at = c == '\0' ? nullptr : strchr(alphabet, c);
    if (at == nullptr) break;  // padding, or the end of what is legal
    bits = bits << 6 | static_cast<uint32_t>(at - alphabet);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count);
    }
  }
  return bytes;
}

// Walks a protobuf message's fields; enough for the three nested messages that
// a RetryInfo comes in, which no generated code is worth having for.
class FieldWalker {
 public:
  explicit FieldWalker(const std::string& bytes) : bytes_(bytes) {}

  // False at the end or at what cannot be read.
  bool Next() {
    uint64_t tag;
    if (!Varint(&tag)) return false;
    number = tag >> 3;
    varint = 0;
    payload.clear();
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        return Varint(&varint);
      case 1:
        size = 8;
        break;
      case 2:
        if (!Varint(&size)) return false;
        break;
      case 5:
        size = 4;
        break;
      default:
        return false;
    }
    if (size > bytes_.size() - at_) return false;
    payload = bytes_.substr(at_, size);
    at_ += size;
    return true;
  }

  uint64_t number = 0;
  uint64_t varint = 0;
  std::string payload;

 private:
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(bytes_[at_++]);
      *value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

// The payload of the first field `number`.
bool FindField(const std::string& bytes, uint64_t number, std::string* found) {
  FieldWalker fields(bytes);
  while (fields.Next()) {
    if (fields.number == number) {
      *found = fields.payload;
      return true;
    }
  }
  return false;
}

int64_t DurationMs(const std::string& duration) {
  int64_t milliseconds = 0;
  FieldWalker fields(duration);
  while (fields.Next()) {
    const int64_t value =
        static_cast<int64_t>(std::min<uint64_t>(fields.varint, 1'000'000'000));
    if (fields.number == 1) milliseconds += value * 1000;
    if (fields.number == 2) milliseconds += value / 1'000'000;
  }
  return milliseconds;
}

}  // namespace

Status MessageReader::StartBody() {
  if (prefix_[0] != 0) {
    return Error(INGOT_UNIMPLEMENTED,
                 "the daemon sent a compressed message; none was asked for");
  }
  body_size_ = static_cast<size_t>(prefix_[1]) << 24 |
               static_cast<size_t>(prefix_[2]) << 16 |
               static_cast<size_t>(prefix_[3]) << 8 | prefix_[4];
  if (body_size_ > largest_) {
    return Error(INGOT_RESOURCE_EXHAUSTED,
                 "reply message: found %zu bytes, allowed %zu", body_size_,
                 largest_);
  }
  body_.clear();
  body_.reserve(body_size_);
  return Status();
}

Status MessageReader::Feed(const uint8_t* data, size_t size) {
  while (size > 0) {
    if (prefix_size_ < kMessagePrefix) {
      const size_t take = std::min(size, kMessagePrefix - prefix_size_);
      memcpy(prefix_ + prefix_size_, data, take);
      prefix_size_ += take;
      data += take;
      size -= take;
      if (prefix_size_ < kMessagePrefix) return Status();
      INGOT_CLIENT_RETURN_IF_ERROR(StartBody());
    }
    const size_t take = std::min(size, body_size_ - body_.size());
    const bool whole_here = body_.empty() && take == body_size_;
    if (!whole_here) body_.insert(body_.end(), data, data + take);
    if (whole_here || body_.size() == body_size_) {
      prefix_size_ = 0;
      INGOT_CLIENT_RETURN_IF_ERROR(
          on_message_(whole_here ? data : body_.data(), body_size_));
    }
    data += take;
    size -= take;
  }
  return Status();
}

std::string GrpcTimeout(int64_t milliseconds) {
  constexpr int64_t kMost = 99'999'999;
  milliseconds = std::max<int64_t>(milliseconds, 1);
  if (milliseconds <= kMost) return std::to_string(milliseconds) + "m";
  return std::to_string(std::min(milliseconds / 1000, kMost)) + "S";
}

std::string PercentDecode(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        plain += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

int64_t RetryDelayMs(const std::string& details_base64) {
  const std::string status = DecodeBase64(details_base64);
  FieldWalker details(status);
  while (details.Next()) {
    if (details.number != 3) continue;
    std::string type;
    std::string value;
    std::string duration;
    if (!FindField(details.payload, 1, &type) ||
        type != "type.googleapis.com/google.rpc.RetryInfo") {
      continue;
    }
    FindField(details.payload, 2, &value);
    FindField(value, 1, &duration);
    return DurationMs(duration);
  }
  return -1;
}

int CodeOfHttpStatus(int http_status) {
  switch (http_status) {
    case 400:
      return INGOT_INTERNAL;
    case 401:
      return INGOT_UNAUTHENTICATED;
    case 403:
      return INGOT_PERMISSION_DENIED;
    case 404:
      return INGOT_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
      return INGOT_UNAVAILABLE;
    default:
      return INGOT_UNKNOWN;
  }
}

int CodeOfReset(uint32_t http2_error) {
  switch (http2_error) {
    case 7:  // REFUSED_STREAM
      return INGOT_UNAVAILABLE;
    case 8:  // CANCEL
      return INGOT_CANCELLED;
    case 11:  // ENHANCE_YOUR_CALM
      return INGOT_RESOURCE_EXHAUSTED;
    case 12:  // INADEQUATE_SECURITY
      return INGOT_PERMISSION_DENIED;
    default:
      return INGOT_INTERNAL;
  }
}

}  // namespace ingot::client
