// Ed25519 keys made on the spot, for tests of signatures.
#ifndef INGOT_TESTS_SUPPORT_SIGNING_KEY_H_
#define INGOT_TESTS_SUPPORT_SIGNING_KEY_H_

#include <string>

namespace ingot::testing {

struct SigningKey {
  std::string private_pem;  // PKCS #8
  std::string public_pem;
  std::string id;  // as proto/signatures.md has it

  // 64 bytes. Aborts when OpenSSL fails: a test has nothing to say then.
  std::string Sign(const std::string& bytes) const;
};

// `seed`: the 32 bytes of the private key; random when empty.
SigningKey MakeSigningKey(const std::string& seed = "");

// Writes a file that only its owner may read.
void WriteSecret(const std::string& path, const std::string& text);

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_SIGNING_KEY_H_
