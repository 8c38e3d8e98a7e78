// One process owns a store's directory; the next one is told who.
#ifndef INGOT_CACHE_DIRECTORY_LOCK_H_
#define INGOT_CACHE_DIRECTORY_LOCK_H_

#include <memory>
#include <string>

#include "proto/status.h"

namespace ingot::cache {

// Holds `directory`/owner.pid locked for as long as it lives. The lock is the
// kernel's (flock), so it is gone with its holder however that died, in
// whatever pid namespace; the file's text ("pid host") only serves the message.
class DirectoryLock {
 public:
  // Creates the directory (0750) when it is not there. kFailedPrecondition with
  // the holder's pid when it is taken, also by this process itself.
  static absl::StatusOr<std::unique_ptr<DirectoryLock>> Acquire(
      const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_DIRECTORY_LOCK_H_
