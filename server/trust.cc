#include "server/trust.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"

namespace ingot::server {
namespace {

// Bytes of an id that whoever signed may have made up.
constexpr size_t kLongestShownId = 64;
constexpr absl::string_view kChecks = "ingot_signature_checks_total";

Counter& CheckCounter(Counters& counters, absl::string_view result) {
  return counters.Get(absl::StrCat(kChecks, "{result=\"", result, "\"}"));
}

}  // namespace

absl::StatusOr<SignaturePolicy> ParseSignaturePolicy(absl::string_view text) {
  if (text == "off") return SignaturePolicy::kOff;
  if (text == "verify_if_present") return SignaturePolicy::kVerifyIfPresent;
  if (text == "require") return SignaturePolicy::kRequire;
  return absl::InvalidArgumentError(
      absl::StrCat("signature_policy: found ", text,
                   ", allowed off, verify_if_present, require"));
}

const Ed25519Key* Trust::Keys::FindTrusted(absl::string_view id) const {
  const auto found =
      std::find_if(trusted.begin(), trusted.end(),
                   [&](const Ed25519Key& key) { return key.id == id; });
  return found == trusted.end() ? nullptr : &*found;
}

std::string Trust::Keys::TrustedIds() const {
  return absl::StrJoin(trusted, ", ", [](std::string* out, const auto& key) {
    absl::StrAppend(out, key.id);
  });
}

Trust::Trust(const TrustSettings& settings, Counters& counters)
    : settings_(settings),
      made_(counters.Get("ingot_signatures_made_total")),
      verified_(CheckCounter(counters, "trusted")),
      unsigned_(CheckCounter(counters, "unsigned")),
      refused_(CheckCounter(counters, "refused")),
      key_errors_(counters.Get("ingot_signature_key_errors_total")) {}

absl::StatusOr<std::unique_ptr<Trust>> Trust::Open(
    const TrustSettings& settings, Counters& counters) {
  std::unique_ptr<Trust> trust(new Trust(settings, counters));
  INGOT_ASSIGN_OR_RETURN(KeyFiles files, trust->ReadFiles());
  INGOT_ASSIGN_OR_RETURN(trust->keys_, trust->Parse(std::move(files)));
  if (settings.policy != SignaturePolicy::kOff &&
      trust->keys_->trusted.empty()) {
    return absl::InvalidArgumentError(
        "signature_policy: found one that nothing can meet, allowed off, or "
        "another with trusted_keys or signing_key");
  }
  return trust;
}

absl::StatusOr<Trust::KeyFiles> Trust::ReadFiles() const {
  KeyFiles files;
  if (!settings_.signing_key.empty()) {
    absl::StatusOr<std::string> text =
        ReadPrivateKeyFile(settings_.signing_key);
    INGOT_RETURN_IF_ERROR(Annotate(text.status(), "signing_key"));
    files.signing = *std::move(text);
  }
  if (!settings_.trusted_keys.empty()) {
    absl::StatusOr<std::string> text =
        ReadPublicKeyFile(settings_.trusted_keys);
    INGOT_RETURN_IF_ERROR(Annotate(text.status(), "trusted_keys"));
    files.trusted = *std::move(text);
  }
  return files;
}

absl::StatusOr<std::shared_ptr<const Trust::Keys>> Trust::Parse(
    KeyFiles files) const {
  auto keys = std::make_shared<Keys>();
  if (!settings_.signing_key.empty()) {
    absl::StatusOr<std::vector<Ed25519Key>> signing =
        ParsePrivateKeys(settings_.signing_key, files.signing);
    INGOT_RETURN_IF_ERROR(Annotate(signing.status(), "signing_key"));
    keys->signing = *std::move(signing);
  }
  if (!settings_.trusted_keys.empty()) {
    absl::StatusOr<std::vector<Ed25519Key>> trusted =
        ParsePublicKeys(settings_.trusted_keys, files.trusted);
    INGOT_RETURN_IF_ERROR(Annotate(trusted.status(), "trusted_keys"));
    keys->trusted = *std::move(trusted);
  }
  for (const Ed25519Key& key : keys->signing) {
    if (keys->FindTrusted(key.id) == nullptr) keys->trusted.push_back(key);
  }
  keys->files = std::move(files);
  return std::shared_ptr<const Keys>(std::move(keys));
}

std::shared_ptr<const Trust::Keys> Trust::keys() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return keys_;
}

bool Trust::CanSign() const { return !keys()->signing.empty(); }

bool Trust::CanVouch() const {
  return policy() != SignaturePolicy::kRequire || CanSign();
}

size_t Trust::trusted_keys() const { return keys()->trusted.size(); }

absl::StatusOr<bool> Trust::Reload() {
  const absl::StatusOr<bool> changed = TryReload();
  const std::string error = std::string(changed.status().message());
  if (error == std::exchange(reload_error_, error))
    return changed.ok() && *changed;
  if (!changed.ok()) key_errors_.Add();
  return changed;
}

absl::StatusOr<bool> Trust::TryReload() {
  INGOT_ASSIGN_OR_RETURN(KeyFiles files, ReadFiles());
  if (files == keys()->files) return false;
  INGOT_ASSIGN_OR_RETURN(std::shared_ptr<const Keys> fresh,
                         Parse(std::move(files)));
  const std::lock_guard<std::mutex> lock(mutex_);
  keys_ = std::move(fresh);
  return true;
}

absl::Status Trust::CheckRecord(absl::string_view key,
                                absl::string_view record) const {
  if (policy() == SignaturePolicy::kOff) return absl::OkStatus();
  return Check("record", key, ReadSignedRecord(record));
}

absl::Status Trust::CheckPlan(absl::string_view plan_key,
                              absl::string_view plan) const {
  if (policy() == SignaturePolicy::kOff) return absl::OkStatus();
  return Check("plan", plan_key, ReadSignedPlan(plan));
}

absl::Status Trust::Check(absl::string_view what, absl::string_view key,
                          const absl::StatusOr<Signed>& found) const {
  const absl::Status judged =
      found.ok() ? Judge(what, key, *found) : found.status();
  if (!judged.ok()) refused_.Add();
  return judged;
}

absl::Status Trust::Judge(absl::string_view what, absl::string_view key,
                          const Signed& found) const {
  if (found.key != key) {
    return absl::DataLossError(
        absl::StrCat(what, ": it stands under the key of another"));
  }
  const std::shared_ptr<const Keys> known = keys();
  std::vector<std::string> strangers;
  bool trusted = false;
  for (const Signature& signature : found.signatures) {
    const Ed25519Key* key = known->FindTrusted(signature.key_id);
    if (key == nullptr) {
      strangers.push_back(
          absl::CHexEscape(signature.key_id.substr(0, kLongestShownId)));
    } else if (!Verifies(*key, found.bytes, signature.value)) {
      return absl::DataLossError(
          absl::StrCat(what, ": found a signature by key ", key->id,
                       " that is of other bytes: it was forged or altered"));
    } else {
      trusted = true;
    }
  }
  if (trusted || policy() != SignaturePolicy::kRequire) {
    (trusted ? verified_ : unsigned_).Add();
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      what, ": found ",
      strangers.empty()
          ? "no signature"
          : absl::StrCat("signatures by ", absl::StrJoin(strangers, ", ")),
      ", allowed one by ", known->TrustedIds()));
}

void Trust::SignRecord(std::string* record) const {
  const absl::StatusOr<Signed> read = ReadSignedRecord(*record);
  if (!read.ok()) return;  // not ours: what is unsigned is trusted by nobody
  for (const Ed25519Key& key : keys()->signing) {
    AppendRecordSignature({key.id, SignBytes(key, read->bytes)}, record);
    made_.Add();
  }
}

void Trust::SignPlan(std::string* plan) const {
  const absl::StatusOr<Signed> read = ReadSignedPlan(*plan);
  if (!read.ok()) return;
  for (const Ed25519Key& key : keys()->signing) {
    AppendPlanSignature({key.id, SignBytes(key, read->bytes)}, plan);
    made_.Add();
  }
}

}  // namespace ingot::server
