// TLS for the TCP port: the daemon shows its certificate and asks for the
// caller's.
#ifndef INGOT_SERVER_RPC_CREDENTIALS_H_
#define INGOT_SERVER_RPC_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "proto/status.h"

namespace ingot::server {

// PEM files.
struct TlsFiles {
  std::string certificate;  // the daemon's, with its chain
  std::string private_key;
  std::string client_ca;  // who may have signed callers' certificates
};

// Files that change are read again within ten seconds; connections that exist
// go on. INVALID_ARGUMENT when a file cannot be used as things are now.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TlsCredentials(
    const TlsFiles& files);

}  // namespace ingot::server

#endif  // INGOT_SERVER_RPC_CREDENTIALS_H_
