#include "client/src/json_writer.h"

#include <cmath>
#include <cstdio>

namespace ingot::client {

void JsonWriter::Begin(const char* name) {
  if (!first_) text_ += ',';
  first_ = false;
  if (name == nullptr) return;
  Quote(name);
  text_ += ':';
}

void JsonWriter::Open(const char* name, char bracket) {
  Begin(name);
  text_ += bracket;
  first_ = true;
}

void JsonWriter::Close(char bracket) {
  text_ += bracket;
  first_ = false;
}

void JsonWriter::Quote(const std::string& value) {
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonWriter::String(const char* name, const std::string& value) {
  Begin(name);
  Quote(value);
}

void JsonWriter::Number(const char* name, uint64_t value) {
  Begin(name);
  text_ += std::to_string(value);
}

void JsonWriter::Integer(const char* name, int64_t value) {
  Begin(name);
  text_ += std::to_string(value);
}

void JsonWriter::Number(const char* name, double value) {
  Begin(name);
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  char digits[40];
  snprintf(digits, sizeof(digits), "%.17g", value);
  // A host may have set a locale with a decimal comma.
  for (char* at = digits; *at != '\0'; ++at) {
    if (*at == ',') *at = '.';
  }
  text_ += digits;
}

void JsonWriter::Bool(const char* name, bool value) {
  Begin(name);
  text_ += value ? "true" : "false";
}

}  // namespace ingot::client
