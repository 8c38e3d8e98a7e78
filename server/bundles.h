// Repro bundles: what a developer needs to see a failed build happen again.
//
//   <directory>/<id>/key_encoding   what the worker was sent
//                    reason         one line, as the caller got it
//                    log            the end of the worker's standard error
//                    ir             MLIR and LLVM IR, where the worker lived
//                    quarantined    empty; present while the kernel is refused
//
// The id is the first 16 hex digits of the kernel's key.
#ifndef INGOT_SERVER_BUNDLES_H_
#define INGOT_SERVER_BUNDLES_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot::server {

struct Bundle {
  std::string key_encoding;
  std::string reason;
  std::string log;
  std::string ir;
  bool quarantined = false;
};

// Thread-safe. Keeps the newest `max_bundles`.
class Bundles {
 public:
  Bundles(std::string directory, size_t max_bundles);

  static std::string Id(absl::string_view key);

  // Best effort: a full disk costs the bundle, never the answer.
  void Write(absl::string_view key, const Bundle& bundle);
  void Remove(absl::string_view key);

  // What earlier runs quarantined: key encodings with their reasons.
  std::vector<Bundle> LoadQuarantined() const;

  // Ids, the one written last first.
  std::vector<std::string> List() const;
  // NOT_FOUND for an id that there is not (any more).
  absl::StatusOr<Bundle> Load(absl::string_view id) const;

 private:
  void PruneLocked();

  const std::string directory_;
  const size_t max_bundles_;
  std::mutex mutex_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_BUNDLES_H_
