// A reader for the MessagePack subset of AMDGPU metadata notes.
#ifndef TESTS_EMULATOR_MSGPACK_H_
#define TESTS_EMULATOR_MSGPACK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot::emulator {

// A value: nil, bool, integer, string, array or map. Binary and extension
// values and floats do not occur in the notes and are refused.
struct MsgValue {
  enum class Kind { kNil, kBool, kInt, kString, kArray, kMap };
  Kind kind = Kind::kNil;
  int64_t number = 0;  // kBool, kInt
  std::string text;
  std::vector<MsgValue> items;    // kArray; kMap: the values
  std::vector<std::string> keys;  // kMap: as many as items

  // The entry named `key`, or nullptr.
  const MsgValue* Find(const char* key) const;
  // The entry's integer or text, or the default when absent or of another kind.
  int64_t Int(const char* key, int64_t otherwise) const;
  std::string Text(const char* key) const;
};

// Empty when the bytes are not one well-formed value (trailing bytes are legal:
// notes are padded). Nesting is limited to 16 levels.
std::optional<MsgValue> ParseMsgPack(const uint8_t* data, size_t size);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_MSGPACK_H_
