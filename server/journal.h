// A file of small messages that is only ever added to: what operators decided
// and autotuners found. Apart from the store, because it must outlive one that
// is damaged, cannot be opened for lack of space, or was removed.
#ifndef INGOT_SERVER_JOURNAL_H_
#define INGOT_SERVER_JOURNAL_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot::server {

// On disk: "INGOTJ1\n", then for each entry its size (u32le), the first 8 bytes
// of its SHA-256, and the entry. Not thread-safe. One process at a time: its
// owner holds the lock of the state directory.
class Journal {
 public:
  static constexpr size_t kMaxEntryBytes = size_t{1} << 20;

  struct Opened {
    std::unique_ptr<Journal> journal;
    std::vector<std::string> entries;  // oldest first
    // What of the file's end could not be read, for the log; empty when all
    // could. It is cut off, and added to `path`.damaged.
    std::string damage;
  };
  // Makes the file when there is none. FAILED_PRECONDITION when it cannot be
  // opened or is no journal.
  static absl::StatusOr<Opened> Open(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // On the disk when OK. UNAVAILABLE when it is not, and then the file is as it
  // was.
  absl::Status Append(absl::string_view entry);

  // Replaces the whole file, or leaves it.
  absl::Status Rewrite(const std::vector<std::string>& entries);

 private:
  Journal(std::string path, int fd, off_t end)
      : path_(std::move(path)), fd_(fd), end_(end) {}

  const std::string path_;
  int fd_;
  off_t end_;  // of the last whole entry
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_JOURNAL_H_
