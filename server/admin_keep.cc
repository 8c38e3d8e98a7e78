// Admin: what is kept for good, and what an upgrade left behind.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "server/admin.h"
#include "server/record_scan.h"

namespace ingot::server {
namespace {

// Op and fingerprint.
using Origin = std::pair<std::string, std::string>;
using Digest = std::array<char, 32>;

struct Object {
  uint64_t bytes = 0;
  bool stays = false;  // for a record that does
};

struct Use {
  v1::FingerprintUse shown;
  absl::flat_hash_set<Digest> objects;
};

Digest DigestOf(const v1::Record& record) {
  Digest digest = {};
  std::copy_n(record.digest().data(),
              std::min(record.digest().size(), digest.size()), digest.data());
  return digest;
}

bool IsChosen(const v1::CollectRequest& request,
              const v1::FingerprintUse& use) {
  const auto& wanted = request.fingerprints();
  if (wanted.empty()) return !use.current();
  return std::find(wanted.begin(), wanted.end(), use.fingerprint()) !=
         wanted.end();
}

absl::Status Draining() {
  return absl::UnavailableError("the daemon is draining");
}

}  // namespace

absl::StatusOr<v1::PinResponse> Admin::Pin(const v1::PinRequest& request) {
  if (request.keys().empty()) {
    return absl::InvalidArgumentError("keys: found none, allowed one or more");
  }
  for (const std::string& key : request.keys()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("keys", key));
  }
  v1::PinResponse response;
  for (const std::string& key : request.keys()) {
    INGOT_ASSIGN_OR_RETURN(const bool found, parts_.store.tiers().SetPinned(
                                                 key, !request.unpin()));
    if (!found) response.add_unknown_keys(key);
  }
  if (response.unknown_keys_size() < request.keys_size()) return response;
  return absl::NotFoundError(
      absl::StrCat("keys: found ", absl::BytesToHexString(request.keys(0)),
                   request.keys_size() > 1
                       ? absl::StrCat(" and ", request.keys_size() - 1, " more")
                       : "",
                   ", none of which is stored"));
}

absl::StatusOr<v1::CollectResponse> Admin::Collect(
    const v1::CollectRequest& request) {
  for (const std::string& fingerprint : request.fingerprints()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("fingerprints", fingerprint));
  }
  std::map<Origin, Use> uses;
  absl::flat_hash_map<Digest, Object> objects;
  std::vector<std::string> removable;
  uint64_t removed_bytes = 0;
  v1::CollectResponse response;
  INGOT_RETURN_IF_ERROR(ScanAll(
      parts_.store.tiers(), "", parts_.stopping,
      [&](const cache::ScanEntry& entry) {
        v1::Record record;
        // What no longer parses goes when it is read or verified.
        if (!ParseRecord(entry.record, &record)) return true;
        const Origin origin(record.description().op(), record.fingerprint());
        Use& use = uses[origin];
        v1::FingerprintUse& shown = use.shown;
        if (shown.entries() == 0) {
          shown.set_op(origin.first);
          shown.set_fingerprint(origin.second);
          shown.set_current(IsCurrent(origin.first, origin.second));
          shown.set_collected(IsChosen(request, shown));
        }
        const Digest digest = DigestOf(record);
        Object& object = objects[digest];
        object.bytes = record.size();
        shown.set_entries(shown.entries() + 1);
        shown.set_bytes(
            shown.bytes() + entry.record.size() +
            (use.objects.insert(digest).second ? record.size() : 0));
        if (entry.pinned) shown.set_pinned(shown.pinned() + 1);
        if (shown.collected() && !entry.pinned) {
          removable.push_back(entry.key);
          removed_bytes += entry.record.size();
        } else {
          object.stays = true;
        }
        return true;
      }));
  for (const auto& [digest, object] : objects) {
    if (!object.stays) removed_bytes += object.bytes;
  }
  if (parts_.stopping()) return Draining();
  for (auto& [origin, use] : uses) {
    *response.add_fingerprints() = std::move(use.shown);
  }
  response.set_removed(removable.size());
  response.set_removed_bytes(removed_bytes);
  if (request.dry_run()) return response;
  // Pin waits for the thread that this runs on: none comes in between.
  for (const std::string& key : removable) {
    if (parts_.stopping()) return Draining();
    INGOT_RETURN_IF_ERROR(parts_.store.tiers().Delete(key).status());
  }
  parts_.lookup.ForgetReplies();
  return response;
}

}  // namespace ingot::server
