// The bundles that a client falls back on when no daemon helps: one file, or
// every "*.bundle" of a folder in the order of their names, so that each layer
// of a container image can bring its own. Opened when first needed; a file that
// was replaced since is found as soon as the old one lacks something.
#ifndef INGOT_CLIENT_SRC_BUNDLE_SET_H_
#define INGOT_CLIENT_SRC_BUNDLE_SET_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/src/bundle_file.h"
#include "client/src/deadline.h"
#include "client/src/fork_guard.h"
#include "client/src/status.h"

namespace ingot::client {

// A plan of a bundle, which stays readable whatever happens to the file's name.
struct FoundPlan {
  std::shared_ptr<const BundleFile> file;
  size_t plan = 0;  // index
};

// Thread-safe.
class BundleSet : public ForkGuarded {
 public:
  // "" has no bundles.
  explicit BundleSet(std::string path) : path_(std::move(path)) {}

  bool empty() const { return path_.empty(); }

  // The best plan for the spec that serves, of tuning epoch `epoch` if that is
  // not 0. NOT_FOUND when no bundle has one, FAILED_PRECONDITION when there is
  // one of another fingerprint or epoch alone; a bundle that cannot be used is
  // told when no other one helps, with the codes of BundleFile.
  Status Find(const std::string& spec_digest, uint64_t epoch, FoundPlan* found);

 private:
  struct Opened {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    int64_t modified_ns = 0;
    Status status;                           // of opening what is there now
    std::shared_ptr<const BundleFile> file;  // null, or what was there before
  };

  // What lies under path_ now, not opened.
  Status List(std::vector<Opened>* files) const;
  // Opens what is new; false when nothing is.
  bool RefreshLocked();
  Status FindLocked(const std::string& spec_digest, uint64_t epoch,
                    FoundPlan* found) const;

  const std::string path_;
  // Under mutex().
  std::vector<Opened> files_;
  Status listed_;
};

// A serialised GetKernelResponse with the plan and its kernels, as a daemon
// would have sent it, of source INGOT_SOURCE_BUNDLE. Objects for whose digest
// `held` is true are left out. DEADLINE_EXCEEDED between two reads; a read of a
// file system that hangs is as long as it is.
Status AnswerFromBundle(const FoundPlan& found,
                        const std::function<bool(const std::string&)>& held,
                        Deadline deadline, std::string* response);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_BUNDLE_SET_H_
