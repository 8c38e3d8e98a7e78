#include "client/ctl/bundle_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "client/src/bundle_file.h"
#include "client/src/code_object.h"
#include "ingot/v1/plan.pb.h"
#include "ingot/v1/record.pb.h"

namespace ingot::ctl {
namespace {

using client::Error;
using client::Hash;
using client::HashOf;
using client::Status;

constexpr size_t kBufferBytes = 1 << 20;

Status Refused(const std::string& what) {
  return Error(INGOT_INVALID_ARGUMENT, "%s", what.c_str());
}

Status FileError(const char* what, const std::string& path) {
  return Error(INGOT_FAILED_PRECONDITION, "%s: %s: %s", path.c_str(), what,
               strerror(errno));
}

// A file under its name, locked by us: the lock alone may be on a file that
// another writer has meanwhile renamed or removed.
Status OpenLocked(const std::string& path, int* fd) {
  for (;;) {
    *fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (*fd < 0) return FileError("open", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
      const Status failed =
          errno == EWOULDBLOCK
              ? Error(INGOT_FAILED_PRECONDITION,
                      "%s: another export is writing it", path.c_str())
              : FileError("lock", path);
      close(*fd);
      return failed;
    }
    struct stat ours = {};
    struct stat named = {};
    if (fstat(*fd, &ours) == 0 && stat(path.c_str(), &named) == 0 &&
        ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
      return Status();
    }
    close(*fd);
  }
}

// So that the rename itself survives a loss of power.
Status SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError("open", folder);
  // Some file systems sync no folders.
  const bool synced = fsync(fd) == 0 || errno == EINVAL;
  const Status status = synced ? Status() : FileError("sync", folder);
  close(fd);
  return status;
}

}  // namespace

BundleWriter::BundleWriter(std::string path, int fd)
    : path_(std::move(path)), partial_(path_ + ".partial"), fd_(fd) {
  buffer_.assign(client::kBundleHeaderBytes, 0);
  size_ = buffer_.size();
}

Status BundleWriter::Create(const std::string& path,
                            std::unique_ptr<BundleWriter>* writer) {
  int fd = -1;
  INGOT_CLIENT_RETURN_IF_ERROR(OpenLocked(path + ".partial", &fd));
  writer->reset(new BundleWriter(path, fd));
  if (ftruncate(fd, 0) != 0) return (*writer)->Failed("truncate");
  return Status();
}

BundleWriter::~BundleWriter() {
  if (!finished_) unlink(partial_.c_str());
  close(fd_);
}

Status BundleWriter::Failed(const char* what) const {
  return FileError(what, partial_);
}

Status BundleWriter::Append(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  buffer_.insert(buffer_.end(), bytes, bytes + size);
  size_ += size;
  return buffer_.size() < kBufferBytes ? Status() : Flush();
}

Status BundleWriter::Flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written =
        write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno != EINTR) return Failed("write");
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
  buffer_.clear();
  return Status();
}

Status BundleWriter::AppendBlob(const std::string& bytes, uint64_t* offset) {
  *offset = size_;
  INGOT_CLIENT_RETURN_IF_ERROR(Append(bytes.data(), bytes.size()));
  const char zeros[8] = {};
  return Append(zeros, client::BundleAlign(size_) - size_);
}

Status BundleWriter::AddObject(const std::string& digest,
                               const std::string& bytes) {
  if (client::Sha256(bytes.data(), bytes.size()) != digest) {
    return Refused("object " + client::Hex(digest) +
                   ": its bytes have another SHA-256");
  }
  if (bytes.size() > client::kMaxBundleObject) {
    return Refused("object " + client::Hex(digest) + ": found " +
                   std::to_string(bytes.size()) + " bytes, allowed " +
                   std::to_string(client::kMaxBundleObject));
  }
  client::BundleObject entry = {HashOf(digest), 0, bytes.size()};
  if (objects_.count(entry.digest) > 0) return Status();
  INGOT_CLIENT_RETURN_IF_ERROR(AppendBlob(bytes, &entry.offset));
  objects_[entry.digest] = entry;
  return Status();
}

Status BundleWriter::AddRecord(const std::string& bytes) {
  ingot::v1::Record record;
  if (!record.ParseFromString(bytes) || record.key().size() != 32 ||
      bytes.size() > client::kMaxBundleMessage) {
    return Refused("record: found what is none, or one of more than 1 MiB");
  }
  Kernel kernel;
  kernel.entry.key = HashOf(record.key());
  kernel.digest = HashOf(record.digest());
  if (kernels_.count(kernel.entry.key) > 0) return Status();
  if (objects_.count(kernel.digest) == 0) {
    return Refused("kernel " + client::Hex(record.key()) +
                   ": its object is missing");
  }
  kernel.entry.hash = HashOf(client::Sha256(bytes.data(), bytes.size()));
  kernel.entry.size = static_cast<uint32_t>(bytes.size());
  INGOT_CLIENT_RETURN_IF_ERROR(AppendBlob(bytes, &kernel.entry.offset));
  kernels_[kernel.entry.key] = kernel;
  ++contents_[{record.description().op(), record.fingerprint()}].kernels;
  ++targets_[record.description().target()];
  return Status();
}

Status BundleWriter::AddPlan(const std::string& bytes, bool serving) {
  ingot::v1::Plan plan;
  if (!plan.ParseFromString(bytes) || plan.spec_digest().size() != 32 ||
      plan.fingerprint().size() != 32 ||
      bytes.size() > client::kMaxBundleMessage) {
    return Refused("plan: found what is none, or one of more than 1 MiB");
  }
  for (const ingot::v1::Variant& variant : plan.variants()) {
    for (const ingot::v1::Step& step : variant.recipe().steps()) {
      if (step.has_launch() &&
          kernels_.count(HashOf(step.launch().key())) == 0) {
        return Refused("plan of spec " + client::Hex(plan.spec_digest()) +
                       ": kernel " + step.launch().symbol() + " is missing");
      }
    }
  }
  client::BundlePlan entry;
  entry.spec_digest = HashOf(plan.spec_digest());
  entry.fingerprint = HashOf(plan.fingerprint());
  entry.hash = HashOf(client::Sha256(bytes.data(), bytes.size()));
  entry.epoch = plan.epoch();
  entry.size = static_cast<uint32_t>(bytes.size());
  entry.serving = serving;
  if (plans_.count(entry) > 0) return Status();
  INGOT_CLIENT_RETURN_IF_ERROR(AppendBlob(bytes, &entry.offset));
  plans_.insert(entry);
  Content& content = contents_[{plan.resolved_spec().op(), plan.fingerprint()}];
  content.serving = serving;
  ++content.plans;
  return Status();
}

void BundleWriter::FillIn(ingot::v1::BundleManifest* manifest) const {
  for (const auto& [origin, content] : contents_) {
    ingot::v1::BundleContent* out = manifest->add_contents();
    out->set_op(origin.first);
    out->set_fingerprint(origin.second);
    out->set_serving(content.serving);
    out->set_plans(content.plans);
    out->set_kernels(content.kernels);
  }
  uint64_t object_bytes = 0;
  for (const auto& [digest, object] : objects_) object_bytes += object.size;
  manifest->set_plans(plans_.size());
  manifest->set_kernels(kernels_.size());
  manifest->set_objects(objects_.size());
  manifest->set_object_bytes(object_bytes);
  for (const auto& [target, count] : targets_) manifest->add_targets(target);
}

std::vector<uint8_t> BundleWriter::Directory(
    const std::string& manifest, client::BundleHeader* header) const {
  header->manifest_bytes = static_cast<uint32_t>(manifest.size());
  header->plans = static_cast<uint32_t>(plans_.size());
  header->kernels = static_cast<uint32_t>(kernels_.size());
  header->objects = static_cast<uint32_t>(objects_.size());
  std::vector<uint8_t> bytes(client::DirectoryBytes(*header));
  memcpy(bytes.data(), manifest.data(), manifest.size());
  uint8_t* at = bytes.data() + client::BundleAlign(manifest.size());
  for (const client::BundlePlan& plan : plans_) {
    client::EncodePlan(plan, at);
    at += client::kPlanEntryBytes;
  }
  std::map<Hash, uint32_t> places;
  for (const auto& [digest, object] : objects_) {
    places.emplace_hint(places.end(), digest,
                        static_cast<uint32_t>(places.size()));
  }
  for (const auto& [key, kernel] : kernels_) {
    client::BundleKernel entry = kernel.entry;
    entry.object = places.at(kernel.digest);
    client::EncodeKernel(entry, at);
    at += client::kKernelEntryBytes;
  }
  for (const auto& [digest, object] : objects_) {
    client::EncodeObject(object, at);
    at += client::kObjectEntryBytes;
  }
  return bytes;
}

Status BundleWriter::Finish(ingot::v1::BundleManifest* manifest) {
  FillIn(manifest);
  const std::string manifest_bytes = manifest->SerializeAsString();
  const size_t most =
      std::max({plans_.size(), kernels_.size(), objects_.size()});
  if (most > client::kMaxBundleEntries ||
      manifest_bytes.size() > client::kMaxBundleMessage) {
    return Refused(partial_ + ": found " + std::to_string(most) +
                   " entries, allowed " +
                   std::to_string(client::kMaxBundleEntries));
  }
  client::BundleHeader header;
  header.directory_offset = size_;
  const std::vector<uint8_t> directory = Directory(manifest_bytes, &header);
  header.directory_hash =
      HashOf(client::Sha256(directory.data(), directory.size()));
  INGOT_CLIENT_RETURN_IF_ERROR(Append(directory.data(), directory.size()));
  INGOT_CLIENT_RETURN_IF_ERROR(Flush());
  header.file_bytes = size_;
  uint8_t bytes[client::kBundleHeaderBytes];
  client::EncodeHeader(header, bytes);
  if (pwrite(fd_, bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return Failed("write");
  }
  if (fsync(fd_) != 0) return Failed("sync");
  if (rename(partial_.c_str(), path_.c_str()) != 0) return Failed("rename");
  finished_ = true;
  return SyncFolderOf(path_);
}

}  // namespace ingot::ctl
