#include "client/src/last_error.h"

#include <cstdio>

namespace ingot::client {
namespace {

// Not all zero: a program whose only thread-local data is zero gets a TLS
// segment without contents, which mold 1.10 may put before the first mapped
// page of the segment that becomes read-only, and then the program does not
// load.
struct LastErrorText {
  char text[1023];
  char not_zero;
};
thread_local LastErrorText last_error = {"", 1};

}  // namespace

ingot_status Report(const Status& status) {
  if (status.ok()) return INGOT_OK;
  snprintf(last_error.text, sizeof(last_error.text), "%s",
           status.message.c_str());
  const bool known = status.code > INGOT_OK && status.code <= 16;
  return known ? status.code : INGOT_UNKNOWN;
}

const char* LastError() { return last_error.text; }

}  // namespace ingot::client
