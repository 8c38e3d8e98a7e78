#include "cache/rocksdb_hooks.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::cache {
namespace {

class LineLogger : public rocksdb::Logger {
 public:
  explicit LineLogger(std::function<void(absl::string_view)> log)
      : Logger(rocksdb::WARN_LEVEL), log_(std::move(log)) {}

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    if (!log_) return;
    char line[1024];
    vsnprintf(line, sizeof line, format, arguments);
    log_(absl::StrCat("rocksdb: ", line));
  }
  // Headers, at whatever level, are the options again at every opening.
  void LogHeader(const char*, va_list) override {}

 private:
  const std::function<void(absl::string_view)> log_;
};

class ErrorListener : public rocksdb::EventListener {
 public:
  explicit ErrorListener(std::function<void(const rocksdb::Status&)> failed)
      : failed_(std::move(failed)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason,
                         rocksdb::Status* status) override {
    failed_(*status);
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  const std::function<void(const rocksdb::Status&)> failed_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> MakeLogger(
    std::function<void(absl::string_view)> log) {
  return std::make_shared<LineLogger>(std::move(log));
}

std::shared_ptr<rocksdb::EventListener> MakeErrorListener(
    std::function<void(const rocksdb::Status&)> failed) {
  return std::make_shared<ErrorListener>(std::move(failed));
}

}  // namespace ingot::cache
