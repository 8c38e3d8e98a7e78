#include "client/src/last_error.h"

#include <cstdio>

namespace ingot::client {
namespace {

thread_local char last_error[1024] = "";

}  // namespace

ingot_status Report(const Status& status) {
  if (status.ok()) return INGOT_OK;
  snprintf(last_error, sizeof(last_error), "%s", status.message.c_str());
  const bool known = status.code > INGOT_OK && status.code <= 16;
  return known ? status.code : INGOT_UNKNOWN;
}

const char* LastError() { return last_error; }

}  // namespace ingot::client
