// Why a TLS handshake failed, in words that say what to change.
#ifndef INGOT_CLIENT_SRC_TLS_ERRORS_H_
#define INGOT_CLIENT_SRC_TLS_ERRORS_H_

#include <string>

#include "client/src/address.h"
#include "client/src/status.h"
#include "client/src/tls_options.h"

struct ssl_st;
struct x509_store_ctx_st;

namespace ingot::client {

// The last of this thread's errors of OpenSSL.
std::string LastTlsError();

struct TlsPeer {
  ssl_st* session;
  const TlsOptions& options;
  const Address& address;
  const std::string& name;  // what its certificate must name
  std::string refused;      // whose certificate we refused
};

// For SSL_set_verify: keeps whose certificate is refused in the session's
// TlsPeer, which is its app data.
int OnVerify(int good, x509_store_ctx_st* context);

// UNAVAILABLE. `error`: what the stream says broke it.
Status HandshakeRefused(const TlsPeer& peer, const std::string& error);
// The same when our side was content and the daemon then hung up. gRPC says
// nothing when it refuses a certificate.
Status RefusedAfterHandshake(const TlsPeer& peer, const std::string& error);
Status HandshakeTimeout(const TlsPeer& peer);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_TLS_ERRORS_H_
