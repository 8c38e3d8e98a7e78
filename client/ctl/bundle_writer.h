// Writes a bundle (proto/bundle.md): blobs as they come, the directory at the
// end. What is written is invisible until Finish: it goes to PATH.partial,
// which replaces PATH by a rename, so that whoever has the old file open keeps
// it.
#ifndef INGOT_CLIENT_CTL_BUNDLE_WRITER_H_
#define INGOT_CLIENT_CTL_BUNDLE_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/src/bundle_format.h"
#include "client/src/status.h"
#include "ingot/v1/bundle.pb.h"

namespace ingot::ctl {

// Not thread-safe. Holds the entries in memory, some 200 bytes each. An error
// leaves PATH as it was; INVALID_ARGUMENT is of what was added,
// FAILED_PRECONDITION of the file system.
class BundleWriter {
 public:
  // A partial file that was left behind is begun anew; one that another process
  // is writing is FAILED_PRECONDITION.
  static client::Status Create(const std::string& path,
                               std::unique_ptr<BundleWriter>* writer);
  // Removes the partial file if it was not finished.
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // What is there already is not added again.
  client::Status AddObject(const std::string& digest, const std::string& bytes);
  // `record`: an ingot.v1.Record whose object was added.
  client::Status AddRecord(const std::string& record);
  // `plan`: an ingot.v1.Plan whose kernels' records were added.
  client::Status AddPlan(const std::string& plan, bool serving);

  bool empty() const { return kernels_.empty() && plans_.empty(); }

  // Of `manifest` tool, daemon and time are the caller's; counts are filled in.
  // Synced before the rename.
  client::Status Finish(ingot::v1::BundleManifest* manifest);

 private:
  struct Kernel {
    client::BundleKernel entry;
    client::Hash digest = {};
  };
  struct InOrder {
    bool operator()(const client::BundlePlan& a,
                    const client::BundlePlan& b) const {
      return client::Before(a, b);
    }
  };
  using Origin = std::pair<std::string, std::string>;  // op, fingerprint
  struct Content {
    bool serving = false;
    uint64_t plans = 0;
    uint64_t kernels = 0;
  };

  BundleWriter(std::string path, int fd);
  client::Status Failed(const char* what) const;
  client::Status Append(const void* data, size_t size);
  client::Status Flush();
  client::Status AppendBlob(const std::string& bytes, uint64_t* offset);
  void FillIn(ingot::v1::BundleManifest* manifest) const;
  std::vector<uint8_t> Directory(const std::string& manifest,
                                 client::BundleHeader* header) const;

  const std::string path_;
  const std::string partial_;
  const int fd_;
  bool finished_ = false;
  uint64_t size_ = 0;
  std::vector<uint8_t> buffer_;  // not yet written
  std::map<client::Hash, client::BundleObject> objects_;
  std::map<client::Hash, Kernel> kernels_;
  std::set<client::BundlePlan, InOrder> plans_;
  std::map<Origin, Content> contents_;
  std::map<std::string, uint64_t> targets_;
};

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_BUNDLE_WRITER_H_
