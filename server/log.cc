#include "server/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace ingot::server {
namespace {

spdlog::level::level_enum ToSpdlog(Log::Level level) {
  switch (level) {
    case Log::Level::kDebug:
      return spdlog::level::debug;
    case Log::Level::kInfo:
      return spdlog::level::info;
    case Log::Level::kWarn:
      return spdlog::level::warn;
    case Log::Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Bytes of the UTF-8 character at the front of `text`; 0 when there is none.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const size_t length = byte(0) < 0x80             ? 1
                        : (byte(0) & 0xe0) == 0xc0 ? 2
                        : (byte(0) & 0xf0) == 0xe0 ? 3
                        : (byte(0) & 0xf8) == 0xf0 ? 4
                                                   : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string JsonString(absl::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string json = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += "\\u00";
      json += kHex[(c >> 4) & 15];
      json += kHex[c & 15];
    } else if (length == 0) {
      json += "\\ufffd";
    } else {
      json.append(text.data(), length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  json += '"';
  return json;
}

LogField::LogField(const char* name, absl::string_view text)
    : name(name), json(JsonString(text)) {}

LogField::LogField(const char* name, int64_t number)
    : name(name), json(absl::StrCat(number)) {}

Log::Log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

Log::~Log() { logger_->flush(); }

absl::StatusOr<std::unique_ptr<Log>> Log::Open(absl::string_view level,
                                               const std::string& file) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  try {
    if (file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    }
  } catch (const spdlog::spdlog_ex& error) {
    return absl::InvalidArgumentError(absl::StrCat("log_file: ", error.what()));
  }
  auto logger = std::make_shared<spdlog::logger>("ingotd", std::move(sink));
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
      spdlog::pattern_time_type::utc));
  logger->set_level(level == "debug"   ? spdlog::level::debug
                    : level == "warn"  ? spdlog::level::warn
                    : level == "error" ? spdlog::level::err
                                       : spdlog::level::info);
  logger->flush_on(spdlog::level::info);
  return std::unique_ptr<Log>(new Log(std::move(logger)));
}

bool Log::Enabled(Level level) const {
  return logger_->should_log(ToSpdlog(level));
}

void Log::Write(Level level, absl::string_view event,
                std::initializer_list<LogField> fields) {
  if (!Enabled(level)) return;
  std::string line = "\"event\":" + JsonString(event);
  for (const LogField& field : fields) {
    line += ',';
    line += JsonString(field.name);
    line += ':';
    line += field.json;
  }
  logger_->log(ToSpdlog(level), spdlog::string_view_t(line));
}

}  // namespace ingot::server
