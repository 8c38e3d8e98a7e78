#include "client/src/signatures.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstdlib>

#include "client/src/code_object.h"
#include "client/src/small_file.h"

namespace ingot::client {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kIdBytes = 16;
constexpr size_t kSignatureBytes = 64;
// Bytes of an id that whoever signed may have made up.
constexpr size_t kLongestShownId = 64;

// A library asks nobody for a pass phrase.
int NoPassword(char*, int, int, void*) { return -1; }

const unsigned char* Data(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

bool Verifies(EVP_PKEY* key, std::string_view bytes,
              std::string_view signature) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const bool good =
      context != nullptr && signature.size() == kSignatureBytes &&
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) ==
          1 &&
      EVP_DigestVerify(context.get(), Data(signature), signature.size(),
                       Data(bytes), bytes.size()) == 1;
  ERR_clear_error();
  return good;
}

// What a stranger wrote, fit for a message.
std::string Shown(std::string_view id) {
  std::string shown;
  for (const char c : id.substr(0, kLongestShownId)) {
    shown += c > ' ' && c < 0x7f ? c : '?';
  }
  return shown;
}

void Append(std::string* list, const std::string& item) {
  if (!list->empty()) *list += ", ";
  *list += item;
}

size_t CountBlocks(const std::string& text) {
  static const char kBegin[] = "-----BEGIN ";
  size_t blocks = 0;
  for (size_t at = text.find(kBegin); at != std::string::npos;
       at = text.find(kBegin, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') ++blocks;
  }
  return blocks;
}

}  // namespace

Status ParseSignaturePolicy(const std::string& text, SignaturePolicy* policy) {
  if (text == "off") {
    *policy = SignaturePolicy::kOff;
  } else if (text == "verify_if_present") {
    *policy = SignaturePolicy::kVerifyIfPresent;
  } else if (text == "require") {
    *policy = SignaturePolicy::kRequire;
  } else {
    return Error(INGOT_INVALID_ARGUMENT,
                 "signature policy: found \"%.100s\", allowed off, "
                 "verify_if_present, require",
                 text.c_str());
  }
  return Status();
}

void FillKeysFromEnvironment(SignatureOptions* options) {
  const char* keys = getenv("INGOT_TRUSTED_KEYS");
  if (options->trusted_keys.empty() && keys != nullptr) {
    options->trusted_keys = keys;
  }
}

Status FillFromEnvironment(SignatureOptions* options) {
  FillKeysFromEnvironment(options);
  const char* policy = getenv("INGOT_SIGNATURE_POLICY");
  if (policy != nullptr && *policy != '\0') {
    return Annotate(ParseSignaturePolicy(policy, &options->policy),
                    "INGOT_SIGNATURE_POLICY");
  }
  options->policy = options->trusted_keys.empty() ? SignaturePolicy::kOff
                                                  : SignaturePolicy::kRequire;
  return Status();
}

Status Signatures::ParseKeys(const std::string& path, const std::string& text,
                             Keys* keys) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  if (bio == nullptr) return Error(INGOT_RESOURCE_EXHAUSTED, "no memory");
  keys->clear();
  while (EVP_PKEY* read =
             PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr)) {
    Key key;
    key.key = std::shared_ptr<EVP_PKEY>(read, &EVP_PKEY_free);
    unsigned char raw[kKeyBytes];
    size_t size = sizeof(raw);
    if (EVP_PKEY_get_base_id(read) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_public_key(read, raw, &size) != 1) {
      continue;
    }
    key.id = Hex(Sha256(raw, size).substr(0, kIdBytes));
    keys->push_back(std::move(key));
  }
  ERR_clear_error();
  // OpenSSL passes over blocks that are damaged or something else.
  const size_t blocks = CountBlocks(text);
  if (!keys->empty() && keys->size() == blocks) return Status();
  return Error(INGOT_INVALID_ARGUMENT,
               "trusted keys %s: found %zu PEM blocks, %zu of them Ed25519 "
               "public keys, allowed such keys as `ingotctl keygen` makes them",
               path.c_str(), blocks, keys->size());
}

Status Signatures::Open(const SignatureOptions& options,
                        std::unique_ptr<Signatures>* signatures) {
  std::unique_ptr<Signatures> made(new Signatures(options));
  if (made->off()) {
    *signatures = std::move(made);
    return Status();
  }
  if (options.trusted_keys.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "signature policy: found one without trusted keys, allowed "
                 "off, or another with a file of them");
  }
  INGOT_CLIENT_RETURN_IF_ERROR(Annotate(
      ReadSmallFile(options.trusted_keys, &made->text_), "trusted keys"));
  auto keys = std::make_shared<Keys>();
  INGOT_CLIENT_RETURN_IF_ERROR(
      ParseKeys(options.trusted_keys, made->text_, keys.get()));
  made->keys_ = std::move(keys);
  *signatures = std::move(made);
  return Status();
}

std::shared_ptr<const Signatures::Keys> Signatures::CurrentKeys() {
  std::string text;
  const Status status = ReadSmallFile(options_.trusted_keys, &text);
  const std::lock_guard<std::mutex> lock(mutex());
  if (!status.ok() || text == text_) return keys_;
  auto keys = std::make_shared<Keys>();
  if (ParseKeys(options_.trusted_keys, text, keys.get()).ok()) {
    keys_ = std::move(keys);
  }
  text_ = std::move(text);
  return keys_;
}

Status Signatures::Judge(const char* what, const Signed& read) {
  const std::shared_ptr<const Keys> keys = CurrentKeys();
  std::string strangers;
  bool trusted = false;
  for (const Signature& signature : read.signatures) {
    const auto key = std::find_if(
        keys->begin(), keys->end(),
        [&](const Key& each) { return each.id == signature.key_id; });
    if (key == keys->end()) {
      Append(&strangers, Shown(signature.key_id));
    } else if (!Verifies(key->key.get(), read.bytes, signature.value)) {
      return Error(INGOT_DATA_LOSS,
                   "%s: found a signature by key %s that is of other bytes: it "
                   "was forged or altered",
                   what, key->id.c_str());
    } else {
      trusted = true;
    }
  }
  if (trusted || options_.policy == SignaturePolicy::kVerifyIfPresent) {
    return Status();
  }
  std::string allowed;
  for (const Key& key : *keys) Append(&allowed, key.id);
  return Error(INGOT_FAILED_PRECONDITION,
               "%s: found %s%s, allowed a signature by %s", what,
               strangers.empty() ? "no signature" : "signatures by ",
               strangers.c_str(), allowed.c_str());
}

Status Signatures::CheckPlan(std::string_view plan) {
  if (off()) return Status();
  Signed read;
  INGOT_CLIENT_RETURN_IF_ERROR(ReadSignedPlan(plan, &read));
  return Judge("plan", read);
}

Status Signatures::CheckRecord(std::string_view record) {
  if (off()) return Status();
  Signed read;
  INGOT_CLIENT_RETURN_IF_ERROR(ReadSignedRecord(record, &read));
  return Judge("record", read);
}

}  // namespace ingot::client
