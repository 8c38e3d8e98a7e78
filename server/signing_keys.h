// Ed25519 keys from PEM files: private ones to sign with, public ones to trust.
#ifndef INGOT_SERVER_SIGNING_KEYS_H_
#define INGOT_SERVER_SIGNING_KEYS_H_

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot::server {

// One key, private or public. Immutable; any thread.
struct Ed25519Key {
  std::string id;  // proto/signatures.md
  std::shared_ptr<EVP_PKEY> key;
};

// The text of a PEM file. Of a private key's: FAILED_PRECONDITION when group or
// others may do anything to it, or it is not this user's or root's.
absl::StatusOr<std::string> ReadPublicKeyFile(const std::string& path);
absl::StatusOr<std::string> ReadPrivateKeyFile(const std::string& path);

// Every key of such a text. INVALID_ARGUMENT naming `path` when it holds none,
// a damaged one, or another kind of key.
absl::StatusOr<std::vector<Ed25519Key>> ParsePublicKeys(absl::string_view path,
                                                        absl::string_view text);
absl::StatusOr<std::vector<Ed25519Key>> ParsePrivateKeys(
    absl::string_view path, absl::string_view text);

// 64 bytes. REQUIRES: `key` is a private one.
std::string SignBytes(const Ed25519Key& key, absl::string_view bytes);

bool Verifies(const Ed25519Key& key, absl::string_view bytes,
              absl::string_view signature);

}  // namespace ingot::server

#endif  // INGOT_SERVER_SIGNING_KEYS_H_
