#include "client/src/tls_stream.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include "client/src/tls_errors.h"

namespace ingot::client {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

constexpr unsigned char kHttp2[] = {2, 'h', '2'};
// A daemon speaks first, and so shows that it took our certificate. One that
// does not is waited for no longer than this.
constexpr int64_t kVerdictMs = 1000;

// A library asks nobody for a pass phrase.
int NoPassword(char*, int, int, void*) { return -1; }

Status Unusable(const char* option, const std::string& file,
                const char* allowed) {
  const Status status =
      Error(INGOT_INVALID_ARGUMENT, "%s: found %s (%s), allowed %s", option,
            file.c_str(), LastTlsError().c_str(), allowed);
  ERR_clear_error();
  return status;
}

Status MakeContext(const TlsOptions& options, Context* context) {
  ERR_clear_error();
  context->reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* made = context->get();
  if (made == nullptr) return Error(INGOT_RESOURCE_EXHAUSTED, "no memory");
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  SSL_CTX_set_default_passwd_cb(made, NoPassword);
  SSL_CTX_set_alpn_protos(made, kHttp2, sizeof(kHttp2));
  if (SSL_CTX_load_verify_locations(made, options.ca.c_str(), nullptr) != 1) {
    return Unusable("tls_ca", options.ca,
                    "a PEM file of those who sign certificates of daemons");
  }
  if (options.certificate.empty()) return Status();
  if (SSL_CTX_use_certificate_chain_file(made, options.certificate.c_str()) !=
      1) {
    return Unusable("tls_certificate", options.certificate,
                    "a PEM file with this process's certificate");
  }
  if (SSL_CTX_use_PrivateKey_file(made, options.private_key.c_str(),
                                  SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(made) != 1) {
    return Unusable("tls_private_key", options.private_key,
                    "a PEM file with the key of tls_certificate");
  }
  return Status();
}

// OpenSSL reads and writes through the stream below: its own sockets would
// raise SIGPIPE.
int BioRead(BIO* bio, char* data, int size) {
  auto* below = static_cast<ByteStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const int64_t moved =
      below->Read(reinterpret_cast<uint8_t*>(data), static_cast<size_t>(size));
  if (moved == ByteStream::kWouldBlock) BIO_set_retry_read(bio);
  return moved >= 0 ? static_cast<int>(moved) : -1;
}

int BioWrite(BIO* bio, const char* data, int size) {
  auto* below = static_cast<ByteStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const int64_t moved = below->Write(reinterpret_cast<const uint8_t*>(data),
                                     static_cast<size_t>(size));
  if (moved == ByteStream::kWouldBlock) BIO_set_retry_write(bio);
  return moved >= 0 ? static_cast<int>(moved) : -1;
}

long BioControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* StreamMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    if (made == nullptr) return made;
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

class TlsStream : public ByteStream {
 public:
  TlsStream(std::unique_ptr<ByteStream> below, Session session)
      : below_(std::move(below)), session_(std::move(session)) {}

  // As much as there is: a short read means that there is no more.
  int64_t Read(uint8_t* data, size_t size) override {
    size_t moved = 0;
    while (moved < size) {
      const int64_t more = ReadOnce(data + moved, size - moved);
      // What ended it comes again with the next read.
      if (more <= 0) return moved > 0 ? static_cast<int64_t>(moved) : more;
      moved += static_cast<size_t>(more);
    }
    return static_cast<int64_t>(moved);
  }

  int64_t Write(const uint8_t* data, size_t size) override {
    if (broken_) return kBroken;
    ERR_clear_error();
    const int most = static_cast<int>(std::min<size_t>(size, INT_MAX));
    const int moved = SSL_write(session_.get(), data, most);
    return moved > 0 ? moved : Stopped(moved);
  }

  bool Wait(bool write, Deadline deadline) override {
    if (SSL_pending(session_.get()) > 0) return true;
    return below_->Wait(write || wants_write_, deadline);
  }

  void Abandon() override { below_->Abandon(); }

  std::string error() const override { return why_; }

  // Runs `step` (SSL_connect, SSL_peek) until it ends: above 0 is success.
  template <typename Step>
  int Finish(Step step, Deadline deadline, bool* timed_out) {
    for (;;) {
      ERR_clear_error();
      const int result = step(session_.get());
      if (result > 0) return result;
      const int64_t stopped = Stopped(result);
      if (stopped != kWouldBlock) return result;
      if (!below_->Wait(wants_write_, deadline)) {
        *timed_out = true;
        return result;
      }
    }
  }

 private:
  int64_t ReadOnce(uint8_t* data, size_t size) {
    if (broken_) return kBroken;
    ERR_clear_error();
    const int most = static_cast<int>(std::min<size_t>(size, INT_MAX));
    const int moved = SSL_read(session_.get(), data, most);
    return moved > 0 ? moved : Stopped(moved);
  }

  // What a call that returned `result` means.
  int64_t Stopped(int result) {
    const int code = SSL_get_error(session_.get(), result);
    wants_write_ = code == SSL_ERROR_WANT_WRITE;
    switch (code) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return kWouldBlock;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      case SSL_ERROR_SSL:
        why_ = LastTlsError();
        break;
      default:  // the stream below, or its end without TLS's own
        why_ = below_->error();
        if (why_.empty()) why_ = "the daemon closed the connection";
        break;
    }
    broken_ = true;
    ERR_clear_error();
    return kBroken;
  }

  const std::unique_ptr<ByteStream> below_;
  const Session session_;  // goes before what it writes to
  bool wants_write_ = false;
  bool broken_ = false;
  std::string why_;
};

bool IsIpAddress(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

// What the daemon's certificate must name; DNS names are also sent along.
bool Expect(SSL* session, const std::string& name) {
  X509_VERIFY_PARAM* parameters = SSL_get0_param(session);
  if (IsIpAddress(name)) {
    return X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1;
  }
  return SSL_set1_host(session, name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, name.c_str()) == 1;
}

Session MakeSession(const Context& context, ByteStream* below) {
  Session session(SSL_new(context.get()), &SSL_free);
  BIO_METHOD* method = StreamMethod();
  BIO* bio = method == nullptr ? nullptr : BIO_new(method);
  if (session == nullptr || bio == nullptr) {
    BIO_free(bio);
    return Session(nullptr, &SSL_free);
  }
  BIO_set_data(bio, below);
  BIO_set_init(bio, 1);
  SSL_set_bio(session.get(), bio, bio);
  SSL_set_mode(session.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return session;
}

}  // namespace

Status CheckTlsFiles(const TlsOptions& options) {
  Context context(nullptr, &SSL_CTX_free);
  return MakeContext(options, &context);
}

Status StartTls(const TlsOptions& options, const Address& address,
                Deadline deadline, std::unique_ptr<ByteStream>* stream) {
  const std::string name =
      options.server_name.empty() ? address.host : options.server_name;
  Context context(nullptr, &SSL_CTX_free);
  Status status = MakeContext(options, &context);
  if (!status.ok()) status.code = INGOT_UNAVAILABLE;  // it was usable once
  INGOT_CLIENT_RETURN_IF_ERROR(status);
  Session session = MakeSession(context, stream->get());
  if (session == nullptr || !Expect(session.get(), name)) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "tls_server_name: found \"%s\", allowed a host name or an "
                 "address",
                 name.c_str());
  }
  SSL* const raw = session.get();
  auto tls =
      std::make_unique<TlsStream>(std::move(*stream), std::move(session));
  TlsPeer peer = {raw, options, address, name, ""};
  SSL_set_app_data(raw, &peer);
  SSL_set_verify(raw, SSL_VERIFY_PEER, OnVerify);
  bool timed_out = false;
  if (tls->Finish([](SSL* ssl) { return SSL_connect(ssl); }, deadline,
                  &timed_out) <= 0) {
    return timed_out ? HandshakeTimeout(peer)
                     : HandshakeRefused(peer, tls->error());
  }
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(raw, &protocol, &size);
  if (size + 1 != sizeof(kHttp2) ||
      !std::equal(protocol, protocol + size, kHttp2 + 1)) {
    return Error(INGOT_UNAVAILABLE,
                 "%s speaks TLS but no HTTP/2: is it an ingotd?",
                 address.text.c_str());
  }
  // With TLS 1.3 a daemon that refuses our certificate says so after the
  // handshake; and what we send meanwhile may cost us its reason.
  char first = 0;
  timed_out = false;
  const int heard =
      tls->Finish([&](SSL* ssl) { return SSL_peek(ssl, &first, 1); },
                  deadline.Within(kVerdictMs), &timed_out);
  if (heard <= 0 && !timed_out) {
    return RefusedAfterHandshake(peer, tls->error());
  }
  SSL_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  SSL_set_app_data(raw, nullptr);
  *stream = std::move(tls);
  return Status();
}

}  // namespace ingot::client
