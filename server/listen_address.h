// Where the daemon listens: what may be listened on, and who is there already.
#ifndef INGOT_SERVER_LISTEN_ADDRESS_H_
#define INGOT_SERVER_LISTEN_ADDRESS_H_

#include <string>

#include "proto/status.h"

namespace ingot::server {

// INVALID_ARGUMENT for what is no host:port, and for a host that is not
// loopback unless `insecure`. A host is a numeric address or "localhost": a
// name could resolve to anything.
absl::Status CheckTcpAddress(const std::string& address, bool insecure);

// Makes the folder of a Unix socket. FAILED_PRECONDITION when a daemon answers
// there or something that is no socket is in the way; a socket that nobody
// listens on is removed. INVALID_ARGUMENT for a path too long for a socket.
absl::Status PrepareSocketPath(const std::string& path);

}  // namespace ingot::server

#endif  // INGOT_SERVER_LISTEN_ADDRESS_H_
