// Reads a bundle (proto/bundle.md). Header and directory are checked when it is
// opened, plans, records and objects when they are read; nothing that a file
// says is believed before. DATA_LOSS names file and offset, what was found and
// what is allowed; UNIMPLEMENTED is a bundle of a newer format.
#ifndef INGOT_CLIENT_SRC_BUNDLE_FILE_H_
#define INGOT_CLIENT_SRC_BUNDLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/src/bundle_format.h"
#include "client/src/byte_source.h"
#include "client/src/status.h"

namespace ingot::client {

// Of 32 bytes.
Hash HashOf(const std::string& bytes);
std::string BytesOf(const Hash& hash);

// Immutable, so thread-safe and usable after a fork.
class BundleFile {
 public:
  static Status Open(std::unique_ptr<ByteSource> source,
                     std::shared_ptr<const BundleFile>* file);
  static Status Open(const std::string& path,
                     std::shared_ptr<const BundleFile>* file);

  const std::string& name() const { return source_->name(); }
  uint64_t bytes() const { return source_->size(); }
  // An ingot.v1.BundleManifest, serialised.
  const std::string& manifest() const { return manifest_; }
  const std::vector<BundlePlan>& plans() const { return plans_; }
  const std::vector<BundleKernel>& kernels() const { return kernels_; }
  const std::vector<BundleObject>& objects() const { return objects_; }

  // Indices [first, second) of the plans for a spec, best first.
  std::pair<size_t, size_t> FindPlans(const Hash& spec_digest) const;
  // kernels().size() when there is none.
  size_t FindKernel(const Hash& key) const;

  // With the SHA-256 that the directory says.
  Status ReadPlan(const BundlePlan& plan, std::string* bytes) const;
  Status ReadRecord(const BundleKernel& kernel, std::string* bytes) const;
  Status ReadObject(const BundleObject& object, std::string* bytes) const;

  // Every byte, and that blobs lie one after another; what a plan or record
  // means is not looked at.
  Status CheckAll() const;

 private:
  explicit BundleFile(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)) {}

  Status ReadHeader();
  Status CheckHeader() const;
  Status ReadDirectory();
  template <typename Entry>
  Status CheckOrder(const std::vector<Entry>& entries, uint64_t offset,
                    size_t entry_bytes) const;
  Status CheckExtent(uint64_t entry_offset, uint64_t offset, uint64_t size,
                     uint64_t most) const;
  Status ReadBlob(uint64_t offset, uint64_t size, const Hash& hash,
                  std::string* bytes) const;
  Status Damage(uint64_t offset, const std::string& what) const;

  const std::unique_ptr<ByteSource> source_;
  BundleHeader header_;
  std::string manifest_;
  std::vector<BundlePlan> plans_;
  std::vector<BundleKernel> kernels_;
  std::vector<BundleObject> objects_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_BUNDLE_FILE_H_
