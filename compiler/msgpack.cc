#include "compiler/msgpack.h"

namespace ingot {

absl::string_view MsgReader::Take(uint64_t size) {
  if (size > rest_.size()) {
    Fail();
    return {};
  }
  const absl::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

uint64_t MsgReader::Big(int bytes) {
  uint64_t value = 0;
  for (const char c : Take(bytes)) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

MsgValue MsgReader::Next() {
  const absl::string_view head = Take(1);
  if (head.empty()) return {};
  const uint8_t tag = static_cast<uint8_t>(head[0]);
  const auto string = [&](uint64_t size) {
    return MsgValue{MsgValue::kString, 0, Take(size)};
  };
  const auto other = [&](uint64_t size) {
    Take(size);
    return MsgValue{MsgValue::kOther, 0, {}};
  };
  if (tag < 0x80) return {MsgValue::kInt, tag, {}};
  if (tag < 0x90) return {MsgValue::kMap, tag & 0x0fu, {}};
  if (tag < 0xa0) return {MsgValue::kArray, tag & 0x0fu, {}};
  if (tag < 0xc0) return string(tag & 0x1f);
  switch (tag) {
    case 0xc0:
      return {};
    case 0xc2:
    case 0xc3:
      return {MsgValue::kBool, tag & 1u, {}};
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return other(Big(1 << (tag - 0xc4)));
    case 0xca:
      return other(4);
    case 0xcb:
      return other(8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return {MsgValue::kInt, Big(1 << (tag - 0xcc)), {}};
    case 0xd9:
    case 0xda:
    case 0xdb:
      return string(Big(1 << (tag - 0xd9)));
    case 0xdc:
    case 0xdd:
      return {MsgValue::kArray, Big(2 << (tag - 0xdc)), {}};
    case 0xde:
    case 0xdf:
      return {MsgValue::kMap, Big(2 << (tag - 0xde)), {}};
    default:
      break;
  }
  // Signed integers (0xd0..0xd3 and the negative small ones): metadata holds no
  // negative number, so their value is not kept.
  if (tag >= 0xd0 && tag <= 0xd3) return other(1 << (tag - 0xd0));
  if (tag >= 0xe0) return {MsgValue::kOther, 0, {}};
  Fail();  // extension types
  return {};
}

void MsgReader::Skip() {
  // Every value takes at least a byte, so `left` beyond the input's size is a
  // lie, and the loop ends with the input.
  uint64_t left = 1;
  while (left > 0 && ok_) {
    const MsgValue value = Next();
    --left;
    if (value.kind != MsgValue::kArray && value.kind != MsgValue::kMap)
      continue;
    const uint64_t inner =
        value.kind == MsgValue::kMap ? 2 * value.number : value.number;
    left += inner;
    if (left > rest_.size()) Fail();
  }
}

uint64_t MsgReader::Expect(MsgValue::Kind kind) {
  const MsgValue value = Next();
  if (value.kind != kind) {
    Fail();
    return 0;
  }
  return value.number;
}

uint64_t MsgReader::Int() { return Expect(MsgValue::kInt); }

absl::string_view MsgReader::String() {
  const MsgValue value = Next();
  if (value.kind == MsgValue::kString) return value.string;
  Fail();
  return {};
}

uint64_t MsgReader::Array() { return Expect(MsgValue::kArray); }
uint64_t MsgReader::Map() { return Expect(MsgValue::kMap); }

}  // namespace ingot
