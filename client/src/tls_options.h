// What TLS needs to know, from options and environment.
#ifndef INGOT_CLIENT_SRC_TLS_OPTIONS_H_
#define INGOT_CLIENT_SRC_TLS_OPTIONS_H_

#include <string>

#include "client/src/address.h"
#include "client/src/status.h"

namespace ingot::client {

// Paths of PEM files; empty: not given.
struct TlsOptions {
  std::string ca;           // who may have signed the daemon's certificate
  std::string certificate;  // this process's, with its chain
  std::string private_key;
  std::string server_name;  // what the daemon's must name; empty: the host
};

// Fills what is empty from INGOT_TLS_CA, INGOT_TLS_CERTIFICATE,
// INGOT_TLS_PRIVATE_KEY and INGOT_TLS_SERVER_NAME.
void FillFromEnvironment(TlsOptions* options);

// Decides whether `address` is spoken to through TLS: an "https://" one is, and
// a "host:port" as soon as a CA is named. INVALID_ARGUMENT when what is given
// does not suffice for it.
Status ResolveTls(const TlsOptions& options, Address* address);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_TLS_OPTIONS_H_
