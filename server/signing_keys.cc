#include "server/signing_keys.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "compiler/sha256.h"

namespace ingot::server {
namespace {

constexpr size_t kRawKeyBytes = 32;
constexpr size_t kSignatureBytes = 64;
constexpr size_t kIdBytes = 16;
constexpr off_t kLargestFile = 1 << 20;

using Reader = EVP_PKEY* (*)(BIO*, EVP_PKEY**, pem_password_cb*, void*);

// A daemon has nobody to ask for a pass phrase.
int NoPassword(char*, int, int, void*) { return -1; }

absl::Status Refuse(absl::string_view path, absl::string_view found,
                    absl::string_view allowed) {
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": found ", found, ", allowed ", allowed));
}

absl::StatusOr<Ed25519Key> MakeKey(absl::string_view path, EVP_PKEY* owned) {
  Ed25519Key key;
  key.key = std::shared_ptr<EVP_PKEY>(owned, &EVP_PKEY_free);
  std::array<unsigned char, kRawKeyBytes> raw;
  size_t size = raw.size();
  if (EVP_PKEY_get_base_id(owned) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(owned, raw.data(), &size) != 1 ||
      size != raw.size()) {
    const char* type = EVP_PKEY_get0_type_name(owned);
    return Refuse(path, type == nullptr ? "another key" : type, "Ed25519 keys");
  }
  const std::string hash = Sha256(
      absl::string_view(reinterpret_cast<const char*>(raw.data()), raw.size()));
  key.id = absl::BytesToHexString(absl::string_view(hash).substr(0, kIdBytes));
  return key;
}

// What group and others may do to a private key's file is what they may do in
// the daemon's name.
absl::Status CheckPrivate(const std::string& path, const struct stat& facts) {
  if ((facts.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: found mode %04o, allowed 0600: whoever reads it can sign", path,
        facts.st_mode & 07777));
  }
  if (facts.st_uid != geteuid() && facts.st_uid != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: found an owner with uid %d, allowed this user's "
                        "or root's",
                        path, facts.st_uid));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path, bool secret) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Refuse(path, std::strerror(errno), "a PEM file");
  const absl::Cleanup closer = [fd] { close(fd); };
  struct stat facts;
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_size > kLargestFile) {
    return Refuse(path, "no file, or a large one", "a PEM file");
  }
  if (secret) INGOT_RETURN_IF_ERROR(CheckPrivate(path, facts));
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  const ssize_t size = read(fd, text.data(), text.size());
  if (size < 0) return Refuse(path, std::strerror(errno), "a PEM file");
  text.resize(static_cast<size_t>(size));
  return text;
}

size_t CountBlocks(absl::string_view text) {
  size_t blocks = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "-----BEGIN ")) ++blocks;
  }
  return blocks;
}

absl::StatusOr<std::vector<Ed25519Key>> Parse(absl::string_view path,
                                              absl::string_view text,
                                              Reader read_key,
                                              absl::string_view wanted) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  if (bio == nullptr) return absl::ResourceExhaustedError("no memory");
  std::vector<Ed25519Key> keys;
  while (EVP_PKEY* key = read_key(bio.get(), nullptr, &NoPassword, nullptr)) {
    INGOT_ASSIGN_OR_RETURN(Ed25519Key made, MakeKey(path, key));
    keys.push_back(std::move(made));
  }
  ERR_clear_error();
  // OpenSSL passes over blocks that are damaged, encrypted or something else.
  const size_t blocks = CountBlocks(text);
  if (keys.empty() || keys.size() != blocks) {
    return Refuse(path,
                  absl::StrCat(blocks, " PEM blocks, ", keys.size(),
                               " of them such keys"),
                  wanted);
  }
  return keys;
}

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* Data(absl::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

absl::StatusOr<std::string> ReadPublicKeyFile(const std::string& path) {
  return ReadFile(path, false);
}

absl::StatusOr<std::string> ReadPrivateKeyFile(const std::string& path) {
  return ReadFile(path, true);
}

absl::StatusOr<std::vector<Ed25519Key>> ParsePublicKeys(
    absl::string_view path, absl::string_view text) {
  return Parse(path, text, &PEM_read_bio_PUBKEY,
               "Ed25519 public keys as `ingotctl keygen` makes them");
}

absl::StatusOr<std::vector<Ed25519Key>> ParsePrivateKeys(
    absl::string_view path, absl::string_view text) {
  return Parse(path, text, &PEM_read_bio_PrivateKey,
               "Ed25519 private keys as `ingotctl keygen` makes them");
}

std::string SignBytes(const Ed25519Key& key, absl::string_view bytes) {
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                         key.key.get()) != 1 ||
      EVP_DigestSign(context.get(),
                     reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Data(bytes), bytes.size()) != 1) {
    std::abort();  // out of memory, or the caller's key is no private one
  }
  return signature;
}

bool Verifies(const Ed25519Key& key, absl::string_view bytes,
              absl::string_view signature) {
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const bool good =
      context != nullptr && signature.size() == kSignatureBytes &&
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr,
                           key.key.get()) == 1 &&
      EVP_DigestVerify(context.get(), Data(signature), signature.size(),
                       Data(bytes), bytes.size()) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace ingot::server
