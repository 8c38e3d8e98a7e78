#include "client/src/tls_options.h"

#include <cstdlib>

namespace ingot::client {
namespace {

void Fill(const char* variable, std::string* value) {
  const char* text = getenv(variable);
  if (value->empty() && text != nullptr) *value = text;
}

}  // namespace

void FillFromEnvironment(TlsOptions* options) {
  Fill("INGOT_TLS_CA", &options->ca);
  Fill("INGOT_TLS_CERTIFICATE", &options->certificate);
  Fill("INGOT_TLS_PRIVATE_KEY", &options->private_key);
  Fill("INGOT_TLS_SERVER_NAME", &options->server_name);
}

Status ResolveTls(const TlsOptions& options, Address* address) {
  if (address->kind != Address::kTcp) return Status();
  address->tls = address->tls || !options.ca.empty();
  if (!address->tls) return Status();
  if (options.ca.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "tls_ca: found nothing, allowed a PEM file of those who sign "
                 "certificates of daemons, because %s asks for TLS",
                 address->text.c_str());
  }
  if (options.certificate.empty() != options.private_key.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "tls_certificate, tls_private_key: found one of them, allowed "
                 "both or none");
  }
  return Status();
}

}  // namespace ingot::client
