// The text behind ingot_last_error: one a thread, of fixed size, so that
// failing never allocates.
#ifndef INGOT_CLIENT_SRC_LAST_ERROR_H_
#define INGOT_CLIENT_SRC_LAST_ERROR_H_

#include "client/src/status.h"

namespace ingot::client {

// Keeps the message of a failure; returns the code to hand out, which is one of
// ingot.h.
ingot_status Report(const Status& status);

const char* LastError();

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_LAST_ERROR_H_
