// ingotctl keygen: a new key for a daemon to sign with, and for others to
// trust.
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "client/ctl/command.h"
#include "client/src/code_object.h"

namespace ingot::ctl {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr size_t kIdBytes = 16;

struct KeyTexts {
  std::string id;  // proto/signatures.md
  std::string private_pem;
  std::string public_pem;
};

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

Status MakeKey(KeyTexts* texts) {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free);
  const Bio secret(BIO_new(BIO_s_mem()), &BIO_free);
  const Bio open(BIO_new(BIO_s_mem()), &BIO_free);
  unsigned char raw[32];
  size_t size = sizeof(raw);
  if (key == nullptr || secret == nullptr || open == nullptr ||
      EVP_PKEY_get_raw_public_key(key.get(), raw, &size) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(secret.get(), key.get(), nullptr, nullptr,
                                    0, nullptr, nullptr) != 1 ||
      PEM_write_bio_PUBKEY(open.get(), key.get()) != 1) {
    return Error(INGOT_INTERNAL, "OpenSSL cannot make an Ed25519 key");
  }
  texts->id = client::Hex(client::Sha256(raw, size).substr(0, kIdBytes));
  texts->private_pem = Contents(secret.get());
  // What stands between keys is for people.
  texts->public_pem = "ingot key " + texts->id + "\n" + Contents(open.get());
  return Status();
}

// Never over a file that is there: it may be the only copy of a key.
Status WriteNew(const std::string& path, mode_t mode, const std::string& text) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) {
    return Error(INGOT_FAILED_PRECONDITION,
                 "%s: found %s, allowed a name that is free", path.c_str(),
                 strerror(errno));
  }
  const bool written = fchmod(fd, mode) == 0 &&
                       write(fd, text.data(), text.size()) ==
                           static_cast<ssize_t>(text.size()) &&
                       fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (written) return Status();
  unlink(path.c_str());
  return Error(INGOT_FAILED_PRECONDITION, "%s: cannot be written: %s",
               path.c_str(), strerror(error));
}

Status RunKeygen(const std::string& path, const Globals& globals) {
  KeyTexts texts;
  INGOT_CLIENT_RETURN_IF_ERROR(MakeKey(&texts));
  const std::string public_path = path + ".pub";
  INGOT_CLIENT_RETURN_IF_ERROR(WriteNew(path, 0600, texts.private_pem));
  const Status status = WriteNew(public_path, 0644, texts.public_pem);
  if (!status.ok()) {
    unlink(path.c_str());
    return status;
  }
  if (globals.json()) {
    printf("{\"keyId\":\"%s\"}\n", texts.id.c_str());
    return Status();
  }
  printf("key %s\n", texts.id.c_str());
  printf("%s: for ingotd's signing_key; keep it secret\n", path.c_str());
  printf("%s: for trusted_keys of daemons and clients\n", public_path.c_str());
  return Status();
}

}  // namespace

void AddKeygen(const Registry& registry) {
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  CLI::App* keygen = registry.app->add_subcommand(
      "keygen", "make an Ed25519 key to sign kernels with: FILE and FILE.pub");
  auto path = std::make_shared<std::string>();
  keygen->add_option("file", *path, "where the private key goes")->required();
  keygen->callback([=] { *run = [=] { return RunKeygen(*path, *globals); }; });
}

}  // namespace ingot::ctl
