// Files of keys and certificates.
#ifndef INGOT_CLIENT_SRC_SMALL_FILE_H_
#define INGOT_CLIENT_SRC_SMALL_FILE_H_

#include <string>

#include "client/src/status.h"

namespace ingot::client {

// The whole of a regular file of at most 1 MiB. INVALID_ARGUMENT naming it.
Status ReadSmallFile(const std::string& path, std::string* text);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_SMALL_FILE_H_
