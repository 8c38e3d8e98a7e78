#include "tests/support/signing_key.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace ingot::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

void Check(bool ok) {
  if (!ok) std::abort();
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string IdOf(EVP_PKEY* key) {
  std::array<unsigned char, 32> raw;
  size_t size = raw.size();
  Check(EVP_PKEY_get_raw_public_key(key, raw.data(), &size) == 1);
  std::array<unsigned char, 32> hash;
  Check(EVP_Digest(raw.data(), size, hash.data(), nullptr, EVP_sha256(),
                   nullptr) == 1);
  std::string id;
  for (size_t i = 0; i < 16; ++i) {
    id += "0123456789abcdef"[hash[i] >> 4];
    id += "0123456789abcdef"[hash[i] & 15];
  }
  return id;
}

}  // namespace

SigningKey MakeSigningKey(const std::string& seed) {
  std::array<unsigned char, 32> raw;
  Check(RAND_bytes(raw.data(), raw.size()) == 1);
  if (!seed.empty()) std::copy(seed.begin(), seed.end(), raw.begin());
  const Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                             raw.data(), raw.size()),
                &EVP_PKEY_free);
  Check(key != nullptr);
  const Bio secret(BIO_new(BIO_s_mem()), &BIO_free);
  const Bio open(BIO_new(BIO_s_mem()), &BIO_free);
  Check(PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0,
                                 nullptr, nullptr) == 1);
  Check(PEM_write_bio_PUBKEY(open.get(), key.get()) == 1);
  return {Contents(secret.get()), Contents(open.get()), IdOf(key.get())};
}

std::string SigningKey::Sign(const std::string& bytes) const {
  const Bio text(
      BIO_new_mem_buf(private_pem.data(), static_cast<int>(private_pem.size())),
      &BIO_free);
  const Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr),
                &EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::string signature(64, '\0');
  size_t size = signature.size();
  Check(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                           key.get()) == 1);
  Check(EVP_DigestSign(
            context.get(), reinterpret_cast<unsigned char*>(signature.data()),
            &size, reinterpret_cast<const unsigned char*>(bytes.data()),
            bytes.size()) == 1);
  return signature;
}

void WriteSecret(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  Check(chmod(path.c_str(), 0600) == 0);
}

}  // namespace ingot::testing
