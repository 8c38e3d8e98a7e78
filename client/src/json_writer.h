// Writes one JSON value. Callers open and close in pairs.
#ifndef INGOT_CLIENT_SRC_JSON_WRITER_H_
#define INGOT_CLIENT_SRC_JSON_WRITER_H_

#include <cstdint>
#include <string>

namespace ingot::client {

class JsonWriter {
 public:
  // `name` is given inside an object and left out inside an array.
  void OpenObject(const char* name = nullptr) { Open(name, '{'); }
  void CloseObject() { Close('}'); }
  void OpenArray(const char* name = nullptr) { Open(name, '['); }
  void CloseArray() { Close(']'); }

  void String(const char* name, const std::string& value);
  void Number(const char* name, uint64_t value);
  void Integer(const char* name, int64_t value);
  void Number(const char* name, double value);  // null when not finite
  void Bool(const char* name, bool value);

  const std::string& text() const { return text_; }

 private:
  void Open(const char* name, char bracket);
  void Close(char bracket);
  void Begin(const char* name);
  void Quote(const std::string& value);

  std::string text_;
  bool first_ = true;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_JSON_WRITER_H_
