// The log: one JSON object a line, on standard error or in a file.
#ifndef INGOT_SERVER_LOG_H_
#define INGOT_SERVER_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace spdlog {
class logger;
}

namespace ingot::server {

// A member of the object: text is quoted and escaped, a number is not.
struct LogField {
  LogField(const char* name, absl::string_view text);
  LogField(const char* name, const std::string& text)
      : LogField(name, absl::string_view(text)) {}
  LogField(const char* name, const char* text)
      : LogField(name, absl::string_view(text)) {}
  LogField(const char* name, int64_t number);

  const char* name;
  std::string json;  // the value, encoded
};

// Thread-safe.
class Log {
 public:
  enum class Level { kDebug, kInfo, kWarn, kError };

  // `level`: debug, info, warn, error. `file`: appended to; empty: standard
  // error. INVALID_ARGUMENT when the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<Log>> Open(absl::string_view level,
                                                   const std::string& file);
  ~Log();

  bool Enabled(Level level) const;
  // {"ts":"2026-01-31T12:00:00.123Z","level":"info","event":event, fields...}
  void Write(Level level, absl::string_view event,
             std::initializer_list<LogField> fields);

 private:
  explicit Log(std::shared_ptr<spdlog::logger> logger);
  const std::shared_ptr<spdlog::logger> logger_;
};

// `text` as a JSON string with its quotes; bytes that are no UTF-8 are
// replaced.
std::string JsonString(absl::string_view text);

}  // namespace ingot::server

#endif  // INGOT_SERVER_LOG_H_
