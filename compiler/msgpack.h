// A reader for MessagePack as AMD's metadata notes use it, over bytes that may
// be damaged or hostile. Nothing is copied: views point into the input.
#ifndef INGOT_COMPILER_MSGPACK_H_
#define INGOT_COMPILER_MSGPACK_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot {

struct MsgValue {
  enum Kind { kNil, kBool, kInt, kString, kArray, kMap, kOther };
  Kind kind = kNil;
  uint64_t number = 0;       // kBool, kInt; elements of kArray, pairs of kMap
  absl::string_view string;  // kString
};

// A cursor. A failed reader stays failed and gives nil values.
class MsgReader {
 public:
  explicit MsgReader(absl::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool Done() const { return rest_.empty(); }

  // The next value. After kArray or kMap the elements follow: read or Skip
  // them.
  MsgValue Next();
  // Steps over one whole value, containers included.
  void Skip();
  // Next(), which must be of this kind; else the reader fails.
  uint64_t Int();
  absl::string_view String();
  uint64_t Array();
  uint64_t Map();

 private:
  uint64_t Big(int bytes);
  absl::string_view Take(uint64_t size);
  uint64_t Expect(MsgValue::Kind kind);
  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_MSGPACK_H_
