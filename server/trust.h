// Which records and plans this daemon takes for good, and what it signs its own
// with: proto/signatures.md.
#ifndef INGOT_SERVER_TRUST_H_
#define INGOT_SERVER_TRUST_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"
#include "server/counters.h"
#include "server/signed_bytes.h"
#include "server/signing_keys.h"

namespace ingot::server {

enum class SignaturePolicy { kOff, kVerifyIfPresent, kRequire };

// "off", "verify_if_present" or "require"; INVALID_ARGUMENT for other words.
absl::StatusOr<SignaturePolicy> ParseSignaturePolicy(absl::string_view text);

struct TrustSettings {
  SignaturePolicy policy = SignaturePolicy::kOff;
  std::string signing_key;   // PEM file; empty: nothing is signed
  std::string trusted_keys;  // PEM file; the signing keys are always trusted
};

// Thread-safe.
class Trust {
 public:
  // INVALID_ARGUMENT or FAILED_PRECONDITION when a file cannot be used, or when
  // the policy would refuse whatever comes. `counters` must outlive this.
  static absl::StatusOr<std::unique_ptr<Trust>> Open(
      const TrustSettings& settings, Counters& counters);

  // Whether a serialised v1::Record or v1::Plan may be used under its key in a
  // store, by the policy. DATA_LOSS for a forgery or another's key,
  // FAILED_PRECONDITION for want of a trusted signature, naming key ids;
  // counted. 150 us a signature.
  absl::Status CheckRecord(absl::string_view key,
                           absl::string_view record) const;
  absl::Status CheckPlan(absl::string_view plan_key,
                         absl::string_view plan) const;

  // Adds this daemon's signatures to a serialised record or plan of its own,
  // one of each signing key.
  void SignRecord(std::string* record) const;
  void SignPlan(std::string* plan) const;

  SignaturePolicy policy() const { return settings_.policy; }
  bool CanSign() const;
  // Whether what this daemon makes itself passes its own policy.
  bool CanVouch() const;
  size_t trusted_keys() const;

  // Reads the files again. True when the keys are others now; what was checked
  // before must then be checked anew. An error leaves the keys as they are, and
  // is counted and returned once. Not from two threads at once.
  absl::StatusOr<bool> Reload();

 private:
  // The text of both files.
  struct KeyFiles {
    std::string signing;
    std::string trusted;
    bool operator==(const KeyFiles&) const = default;
  };
  struct Keys {
    KeyFiles files;
    std::vector<Ed25519Key> signing;
    std::vector<Ed25519Key> trusted;  // the signing ones among them
    const Ed25519Key* FindTrusted(absl::string_view id) const;
    std::string TrustedIds() const;
  };

  Trust(const TrustSettings& settings, Counters& counters);

  absl::StatusOr<KeyFiles> ReadFiles() const;
  absl::StatusOr<bool> TryReload();
  absl::StatusOr<std::shared_ptr<const Keys>> Parse(KeyFiles files) const;
  std::shared_ptr<const Keys> keys() const;
  absl::Status Check(absl::string_view what, absl::string_view key,
                     const absl::StatusOr<Signed>& found) const;
  absl::Status Judge(absl::string_view what, absl::string_view key,
                     const Signed& found) const;

  const TrustSettings settings_;
  Counter& made_;
  Counter& verified_;
  Counter& unsigned_;
  Counter& refused_;
  Counter& key_errors_;
  std::string reload_error_;  // the last one; Reload's
  mutable std::mutex mutex_;
  std::shared_ptr<const Keys> keys_;  // under mutex_
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_TRUST_H_
