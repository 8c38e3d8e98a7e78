// Certificates made on the spot, for tests of TLS.
#ifndef INGOT_TESTS_SUPPORT_CERTIFICATES_H_
#define INGOT_TESTS_SUPPORT_CERTIFICATES_H_

#include <string>

namespace ingot::testing {

// PEM. Aborts when OpenSSL fails: a test has nothing to say then.
struct Certificate {
  std::string certificate;
  std::string private_key;
};

// A certificate that may sign others.
Certificate MakeAuthority(const std::string& name);
struct CertificateOptions {
  // What it is for, as OpenSSL writes alternative names; empty: `name` as a DNS
  // name, and 127.0.0.1.
  std::string alternative_names;
  bool expired = false;
};
// One of `name`, signed by `authority`.
Certificate MakeCertificate(const std::string& name,
                            const Certificate& authority,
                            const CertificateOptions& options = {});

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_CERTIFICATES_H_
