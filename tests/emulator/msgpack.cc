#include "tests/emulator/msgpack.h"

namespace ingot::emulator {
namespace {

class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool Value(MsgValue* out, int depth) {
    uint8_t tag;
    if (depth > 16 || !Byte(&tag)) return false;
    if (tag <= 0x7f) return Number(out, tag);
    if (tag >= 0xe0) return Number(out, static_cast<int8_t>(tag));
    if (tag <= 0x8f) return Map(out, tag & 0xf, depth);
    if (tag <= 0x9f) return Array(out, tag & 0xf, depth);
    if (tag <= 0xbf) return Text(out, tag & 0x1f);
    return Tagged(out, tag, depth);
  }

 private:
  bool Tagged(MsgValue* out, uint8_t tag, int depth) {
    uint64_t n = 0;
    switch (tag) {
      case 0xc0:
        return true;
      case 0xc2:
      case 0xc3:
        out->kind = MsgValue::Kind::kBool;
        out->number = tag & 1;
        return true;
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return BigEndian(1u << (tag - 0xcc), &n) &&
               Number(out, static_cast<int64_t>(n));
      case 0xd0:
        return BigEndian(1, &n) && Number(out, static_cast<int8_t>(n));
      case 0xd1:
        return BigEndian(2, &n) && Number(out, static_cast<int16_t>(n));
      case 0xd2:
        return BigEndian(4, &n) && Number(out, static_cast<int32_t>(n));
      case 0xd3:
        return BigEndian(8, &n) && Number(out, static_cast<int64_t>(n));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return BigEndian(1u << (tag - 0xd9), &n) && Text(out, n);
      case 0xdc:
      case 0xdd:
        return BigEndian(2u << (tag - 0xdc), &n) && Array(out, n, depth);
      case 0xde:
      case 0xdf:
        return BigEndian(2u << (tag - 0xde), &n) && Map(out, n, depth);
      default:
        return false;
    }
  }

  bool Byte(uint8_t* out) {
    if (at_ >= size_) return false;
    *out = data_[at_++];
    return true;
  }

  bool BigEndian(size_t bytes, uint64_t* out) {
    if (size_ - at_ < bytes) return false;
    *out = 0;
    for (size_t i = 0; i < bytes; ++i) *out = *out << 8 | data_[at_++];
    return true;
  }

  static bool Number(MsgValue* out, int64_t value) {
    out->kind = MsgValue::Kind::kInt;
    out->number = value;
    return true;
  }

  bool Text(MsgValue* out, uint64_t n) {
    if (size_ - at_ < n) return false;
    out->kind = MsgValue::Kind::kString;
    out->text.assign(reinterpret_cast<const char*>(data_ + at_), n);
    at_ += n;
    return true;
  }

  bool Array(MsgValue* out, uint64_t n, int depth) {
    if (size_ - at_ < n) return false;  // an item takes at least a byte
    out->kind = MsgValue::Kind::kArray;
    for (uint64_t i = 0; i < n; ++i) {
      if (!Value(&out->items.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  bool Map(MsgValue* out, uint64_t n, int depth) {
    if (size_ - at_ < n) return false;
    out->kind = MsgValue::Kind::kMap;
    for (uint64_t i = 0; i < n; ++i) {
      MsgValue key;
      if (!Value(&key, depth + 1) || key.kind != MsgValue::Kind::kString)
        return false;
      out->keys.push_back(std::move(key.text));
      if (!Value(&out->items.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

}  // namespace

const MsgValue* MsgValue::Find(const char* key) const {
  for (size_t n = 0; n < keys.size(); ++n) {
    if (keys[n] == key) return &items[n];
  }
  return nullptr;
}

int64_t MsgValue::Int(const char* key, int64_t otherwise) const {
  const MsgValue* v = Find(key);
  return v != nullptr && (v->kind == Kind::kInt || v->kind == Kind::kBool)
             ? v->number
             : otherwise;
}

std::string MsgValue::Text(const char* key) const {
  const MsgValue* v = Find(key);
  return v != nullptr && v->kind == Kind::kString ? v->text : std::string();
}

std::optional<MsgValue> ParseMsgPack(const uint8_t* data, size_t size) {
  MsgValue value;
  if (!Reader(data, size).Value(&value, 0)) return std::nullopt;
  return value;
}

}  // namespace ingot::emulator
