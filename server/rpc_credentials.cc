#include "server/rpc_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace ingot::server {
namespace {

constexpr unsigned kReloadSeconds = 10;

absl::Status Unusable(absl::string_view key, absl::string_view file,
                      absl::string_view allowed) {
  char why[256] = "";
  ERR_error_string_n(ERR_get_error(), why, sizeof(why));
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": found ", file.empty() ? "nothing" : file,
                   ", allowed ", allowed, " (", why, ")"));
}

// gRPC takes bad files in silence and refuses every handshake: look first.
absl::Status Check(const TlsFiles& files) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
      SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (context == nullptr) return absl::InternalError("SSL_CTX_new failed");
  if (SSL_CTX_use_certificate_chain_file(context.get(),
                                         files.certificate.c_str()) != 1) {
    return Unusable("tls_certificate", files.certificate,
                    "a PEM file with the daemon's certificate");
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.private_key.c_str(),
                                  SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Unusable("tls_private_key", files.private_key,
                    "a PEM file with the certificate's key");
  }
  if (SSL_CTX_load_verify_locations(context.get(), files.client_ca.c_str(),
                                    nullptr) != 1) {
    return Unusable("tls_client_ca", files.client_ca,
                    "a PEM file with the certificates that sign callers'");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TlsCredentials(
    const TlsFiles& files) {
  INGOT_RETURN_IF_ERROR(Check(files));
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions options(
      std::make_shared<tls::FileWatcherCertificateProvider>(
          files.private_key, files.certificate, files.client_ca,
          kReloadSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return tls::TlsServerCredentials(options);
}

}  // namespace ingot::server
