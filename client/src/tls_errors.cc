#include "client/src/tls_errors.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <memory>

namespace ingot::client {
namespace {

std::string CertificateAdvice(const TlsPeer& peer, long verdict) {
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "it is not for \"" + peer.name +
             "\"; use a name that it is for, or tls_server_name";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "it has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "it is not valid yet";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "none of tls_ca " + peer.options.ca + " signed it";
    default:
      return X509_verify_cert_error_string(verdict);
  }
}

std::string OwnCertificate(const TlsPeer& peer) {
  return peer.options.certificate.empty()
             ? "none was given"
             : "it got " + peer.options.certificate;
}

// What a daemon tells of our side by an alert; its names are OpenSSL's.
std::string AlertAdvice(const TlsPeer& peer, const std::string& error) {
  const std::string own = OwnCertificate(peer);
  const auto says = [&](const char* words) {
    return error.find(words) != std::string::npos;
  };
  if (says("certificate required")) {
    return "it asks for a client certificate, and " + own +
           ": tls_certificate, tls_private_key";
  }
  if (says("alert unknown ca")) {
    return "its tls_client_ca did not sign the client certificate: " + own;
  }
  if (says("alert certificate expired")) {
    return "the client certificate has expired: " + own;
  }
  if (says("alert bad certificate") || says("alert unsupported certificate") ||
      says("alert certificate unknown") || says("handshake failure")) {
    return "it does not accept the client certificate: " + own;
  }
  if (says("wrong version number") || says("packet length too long") ||
      says("record layer failure")) {
    return "it does not speak TLS";
  }
  return "";
}

bool OwnExpired(const TlsPeer& peer) {
  X509* own = SSL_get_certificate(peer.session);
  return own != nullptr && X509_cmp_current_time(X509_get0_notAfter(own)) < 0;
}

}  // namespace

int OnVerify(int good, x509_store_ctx_st* context) {
  if (good != 0) return good;
  auto* session = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(
      context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* peer = static_cast<TlsPeer*>(SSL_get_app_data(session));
  X509* certificate = X509_STORE_CTX_get0_cert(context);
  if (certificate != nullptr) {
    char text[256] = "";
    X509_NAME_oneline(X509_get_subject_name(certificate), text, sizeof(text));
    peer->refused = text;
  }
  return good;
}

std::string LastTlsError() {
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  char text[128];
  ERR_error_string_n(code, text, sizeof(text));
  return text;
}

Status HandshakeRefused(const TlsPeer& peer, const std::string& error) {
  const char* address = peer.address.text.c_str();
  const long verdict = SSL_get_verify_result(peer.session);
  if (verdict != X509_V_OK) {
    return Error(INGOT_UNAVAILABLE,
                 "the daemon at %s shows certificate %s, which is refused: %s",
                 address, peer.refused.c_str(),
                 CertificateAdvice(peer, verdict).c_str());
  }
  const std::string advice = AlertAdvice(peer, error);
  return Error(INGOT_UNAVAILABLE, "no TLS with the daemon at %s: %s%s%s",
               address, advice.c_str(), advice.empty() ? "" : ": ",
               error.c_str());
}

Status RefusedAfterHandshake(const TlsPeer& peer, const std::string& error) {
  if (!AlertAdvice(peer, error).empty()) return HandshakeRefused(peer, error);
  const std::string advice =
      peer.options.certificate.empty()
          ? "does it ask for a client certificate? None was given: "
            "tls_certificate, tls_private_key"
      : OwnExpired(peer)
          ? "the client certificate has expired: " + peer.options.certificate
          : "does its tls_client_ca know who signed the client certificate " +
                peer.options.certificate + "?";
  return Error(INGOT_UNAVAILABLE,
               "the daemon at %s hung up after the handshake: %s (%s)",
               peer.address.text.c_str(), advice.c_str(), error.c_str());
}

Status HandshakeTimeout(const TlsPeer& peer) {
  return Error(INGOT_UNAVAILABLE,
               "no TLS with the daemon at %s: no answer in time",
               peer.address.text.c_str());
}

}  // namespace ingot::client
