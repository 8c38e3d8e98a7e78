// The client's error value: a google.rpc code and a text. The library links no
// abseil, so it has its own.
#ifndef INGOT_CLIENT_SRC_STATUS_H_
#define INGOT_CLIENT_SRC_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "client/include/ingot/ingot.h"

namespace ingot::client {

struct Status {
  int code = INGOT_OK;
  std::string message;
  // From a RetryInfo detail of the daemon: milliseconds; -1: there was none.
  int64_t retry_after_ms = -1;

  bool ok() const { return code == INGOT_OK; }
};

// Formats like printf; texts longer than 1 KiB are cut.
__attribute__((format(printf, 2, 3))) Status Error(int code, const char* format,
                                                   ...);

// `status` with `context` put before its message.
inline Status Annotate(Status status, const std::string& context) {
  if (!status.ok()) status.message = context + ": " + status.message;
  return status;
}

// Lower-case hexadecimal.
std::string Hex(const std::string& bytes);

}  // namespace ingot::client

#define INGOT_CLIENT_RETURN_IF_ERROR(expression)          \
  do {                                                    \
    ::ingot::client::Status ingot_status_ = (expression); \
    if (!ingot_status_.ok()) return ingot_status_;        \
  } while (false)

#endif  // INGOT_CLIENT_SRC_STATUS_H_
