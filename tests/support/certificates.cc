#include "tests/support/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <memory>

namespace ingot::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr long kDay = 24 * 60 * 60;

void Check(bool ok) {
  if (!ok) std::abort();
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

Bio ReadFrom(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())),
          &BIO_free};
}

void AddExtension(X509* certificate, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, nullptr, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  Check(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate Make(const std::string& name, const Certificate* authority,
                 const CertificateOptions& options) {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const X509Pointer made(X509_new(), &X509_free);
  Check(key != nullptr && made != nullptr);
  X509_set_version(made.get(), X509_VERSION_3);
  uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()),
                  options.expired ? -kDay : kDay);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  if (authority == nullptr) {
    X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
    AddExtension(made.get(), NID_basic_constraints, "critical,CA:TRUE");
    Check(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
  } else {
    AddExtension(made.get(), NID_subject_alt_name,
                 options.alternative_names.empty()
                     ? "DNS:" + name + ",IP:127.0.0.1"
                     : options.alternative_names);
    const X509Pointer signer(
        PEM_read_bio_X509(ReadFrom(authority->certificate).get(), nullptr,
                          nullptr, nullptr),
        &X509_free);
    const Key signing(
        PEM_read_bio_PrivateKey(ReadFrom(authority->private_key).get(), nullptr,
                                nullptr, nullptr),
        &EVP_PKEY_free);
    Check(signer != nullptr && signing != nullptr);
    X509_set_issuer_name(made.get(), X509_get_subject_name(signer.get()));
    Check(X509_sign(made.get(), signing.get(), EVP_sha256()) > 0);
  }
  const Bio certificate(BIO_new(BIO_s_mem()), &BIO_free);
  const Bio private_key(BIO_new(BIO_s_mem()), &BIO_free);
  Check(PEM_write_bio_X509(certificate.get(), made.get()) == 1);
  Check(PEM_write_bio_PrivateKey(private_key.get(), key.get(), nullptr, nullptr,
                                 0, nullptr, nullptr) == 1);
  return {Contents(certificate.get()), Contents(private_key.get())};
}

}  // namespace

Certificate MakeAuthority(const std::string& name) {
  return Make(name, nullptr, {});
}

Certificate MakeCertificate(const std::string& name,
                            const Certificate& authority,
                            const CertificateOptions& options) {
  return Make(name, &authority, options);
}

}  // namespace ingot::testing
