// Which signatures this process asks for before code reaches a GPU:
// proto/signatures.md.
#ifndef INGOT_CLIENT_SRC_SIGNATURES_H_
#define INGOT_CLIENT_SRC_SIGNATURES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/src/fork_guard.h"
#include "client/src/signed_bytes.h"
#include "client/src/status.h"

struct evp_pkey_st;

namespace ingot::client {

enum class SignaturePolicy { kOff, kVerifyIfPresent, kRequire };

// "off", "verify_if_present" or "require". INVALID_ARGUMENT for other words.
Status ParseSignaturePolicy(const std::string& text, SignaturePolicy* policy);

struct SignatureOptions {
  SignaturePolicy policy = SignaturePolicy::kOff;
  std::string trusted_keys;  // PEM file
};

// Fills what is not given from INGOT_SIGNATURE_POLICY and INGOT_TRUSTED_KEYS;
// keys without a policy are required. INVALID_ARGUMENT for another word.
Status FillFromEnvironment(SignatureOptions* options);
// The keys alone, for a policy that was given.
void FillKeysFromEnvironment(SignatureOptions* options);

// Thread-safe.
class Signatures : public ForkGuarded {
 public:
  // INVALID_ARGUMENT when the policy needs keys and the file has none.
  static Status Open(const SignatureOptions& options,
                     std::unique_ptr<Signatures>* signatures);

  bool off() const { return options_.policy == SignaturePolicy::kOff; }

  // Whether a serialised Plan or Record may be used. DATA_LOSS for a forgery,
  // FAILED_PRECONDITION for want of a trusted signature, naming key ids. The
  // file of keys is looked at again each time; when it cannot be used any more,
  // the keys that it had are. 150 us a signature.
  Status CheckPlan(std::string_view plan);
  Status CheckRecord(std::string_view record);

 private:
  struct Key {
    std::string id;
    std::shared_ptr<evp_pkey_st> key;
  };
  using Keys = std::vector<Key>;

  explicit Signatures(SignatureOptions options)
      : options_(std::move(options)) {}

  static Status ParseKeys(const std::string& path, const std::string& text,
                          Keys* keys);
  std::shared_ptr<const Keys> CurrentKeys();
  Status Judge(const char* what, const Signed& read);

  const SignatureOptions options_;
  // Under mutex().
  std::string text_;
  std::shared_ptr<const Keys> keys_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_SIGNATURES_H_
