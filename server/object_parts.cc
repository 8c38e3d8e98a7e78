#include "server/object_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "cache/digest.h"

namespace ingot::server {

void ObjectParts::Erase(Objects::iterator object) {
  bytes_ -= object->second.bytes.size();
  objects_.erase(object);
}

void ObjectParts::MakeRoom(absl::string_view keep, size_t bytes) {
  const MonotonicTime now = clock_();
  for (auto at = objects_.begin(); at != objects_.end();) {
    const auto next = std::next(at);
    if (at->first != keep && now - at->second.touched > lifetime_) Erase(at);
    at = next;
  }
  while (bytes_ + bytes > max_bytes_) {
    auto oldest = objects_.end();
    for (auto at = objects_.begin(); at != objects_.end(); ++at) {
      if (at->first == keep) continue;
      if (oldest == objects_.end() ||
          at->second.touched < oldest->second.touched) {
        oldest = at;
      }
    }
    if (oldest == objects_.end()) return;
    Erase(oldest);
  }
}

absl::StatusOr<uint64_t> ObjectParts::Add(absl::string_view digest,
                                          uint64_t offset, uint64_t total,
                                          absl::string_view data) {
  if (digest.size() != cache::kHashBytes || total == 0 ||
      total > kMaxObjectBytes || data.size() > kMaxPartBytes ||
      offset > total || data.size() > total - offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parts: found ", data.size(), " bytes at ", offset, " of ", total,
        ", allowed up to ", kMaxPartBytes, " inside an object of up to ",
        kMaxObjectBytes, " with a digest of 32 bytes"));
  }
  MakeRoom(digest, data.size());
  auto found = objects_.find(digest);
  if (found == objects_.end()) {
    if (offset != 0) return 0;
    found = objects_.emplace(std::string(digest), Object{}).first;
    found->second.total = total;
  }
  Object& object = found->second;
  object.touched = clock_();
  if (object.bytes.size() != offset || object.total != total) {
    return object.bytes.size();
  }
  object.bytes.append(data.data(), data.size());
  bytes_ += data.size();
  const uint64_t held = object.bytes.size();
  if (held < total || cache::Sha256(object.bytes) == digest) return held;
  Erase(found);
  return absl::DataLossError(
      absl::StrCat("parts: the ", total, " bytes of object ",
                   absl::BytesToHexString(digest), " have another SHA-256"));
}

std::optional<std::string> ObjectParts::Whole(absl::string_view digest) {
  const auto found = objects_.find(digest);
  if (found == objects_.end() ||
      found->second.bytes.size() != found->second.total) {
    return std::nullopt;
  }
  return found->second.bytes;
}

void ObjectParts::Forget(absl::string_view digest) {
  const auto found = objects_.find(digest);
  if (found != objects_.end()) Erase(found);
}

}  // namespace ingot::server
