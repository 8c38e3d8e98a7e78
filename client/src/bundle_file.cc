#include "client/src/bundle_file.h"

#include <algorithm>
#include <cstring>

#include "client/src/code_object.h"

namespace ingot::client {
namespace {

std::string Text(uint64_t value) { return std::to_string(value); }

std::string FoundHash(const std::string& found, const Hash& expected) {
  return "found SHA-256 " + Hex(found) + ", expected " + Hex(BytesOf(expected));
}

}  // namespace

Hash HashOf(const std::string& bytes) {
  Hash hash = {};
  memcpy(hash.data(), bytes.data(), std::min(bytes.size(), hash.size()));
  return hash;
}

std::string BytesOf(const Hash& hash) {
  return std::string(reinterpret_cast<const char*>(hash.data()), hash.size());
}

Status BundleFile::Open(std::unique_ptr<ByteSource> source,
                        std::shared_ptr<const BundleFile>* file) {
  std::shared_ptr<BundleFile> opened(new BundleFile(std::move(source)));
  INGOT_CLIENT_RETURN_IF_ERROR(opened->ReadHeader());
  INGOT_CLIENT_RETURN_IF_ERROR(opened->CheckHeader());
  INGOT_CLIENT_RETURN_IF_ERROR(opened->ReadDirectory());
  *file = std::move(opened);
  return Status();
}

Status BundleFile::Open(const std::string& path,
                        std::shared_ptr<const BundleFile>* file) {
  std::unique_ptr<ByteSource> source;
  INGOT_CLIENT_RETURN_IF_ERROR(OpenFile(path, &source));
  return Open(std::move(source), file);
}

Status BundleFile::Damage(uint64_t offset, const std::string& what) const {
  return Error(INGOT_DATA_LOSS, "%s: at offset %llu: %s", name().c_str(),
               static_cast<unsigned long long>(offset), what.c_str());
}

Status BundleFile::ReadHeader() {
  uint8_t bytes[kBundleHeaderBytes] = {};
  const size_t there = std::min<uint64_t>(sizeof(bytes), this->bytes());
  INGOT_CLIENT_RETURN_IF_ERROR(source_->Read(0, there, bytes));
  if (memcmp(bytes, kBundleMagic, sizeof(kBundleMagic)) != 0) {
    return Damage(0, "found no bundle of kernels, which begins with INGOTBDL");
  }
  if (there < sizeof(bytes)) {
    return Damage(there, "found the end, expected a header of " +
                             Text(sizeof(bytes)) + " bytes");
  }
  const bool plain = DecodeHeader(bytes, &header_);
  if (header_.oldest_reader > kBundleVersion) {
    return Error(INGOT_UNIMPLEMENTED,
                 "%s: at offset 8: found bundle format %u, which readers of "
                 "format %u and newer understand; this one knows %u",
                 name().c_str(), header_.version, header_.oldest_reader,
                 kBundleVersion);
  }
  const size_t hashed = kBundleHeaderBytes - kHashBytes;
  const std::string hash = Sha256(bytes, hashed);
  if (memcmp(hash.data(), bytes + hashed, kHashBytes) != 0) {
    return Damage(hashed, "the header's SHA-256 is not that of the header");
  }
  if (!plain) return Damage(48, "found other bytes than zeros");
  return Status();
}

Status BundleFile::CheckHeader() const {
  if (header_.version < header_.oldest_reader || header_.oldest_reader == 0) {
    return Damage(8, "found format " + Text(header_.version) + " for readers " +
                         Text(header_.oldest_reader) + ", allowed 1 or more");
  }
  if (header_.file_bytes != bytes()) {
    return Damage(16, "found a file of " + Text(bytes()) + " bytes, expected " +
                          Text(header_.file_bytes));
  }
  if (header_.manifest_bytes > kMaxBundleMessage) {
    return Damage(32, "found a manifest of " + Text(header_.manifest_bytes) +
                          " bytes, allowed " + Text(kMaxBundleMessage));
  }
  const uint32_t most =
      std::max({header_.plans, header_.kernels, header_.objects});
  if (most > kMaxBundleEntries) {
    return Damage(36, "found " + Text(most) + " entries, allowed " +
                          Text(kMaxBundleEntries));
  }
  const uint64_t directory = DirectoryBytes(header_);
  if (header_.directory_offset < kBundleHeaderBytes ||
      header_.directory_offset % 8 != 0 || header_.directory_offset > bytes() ||
      bytes() - header_.directory_offset != directory) {
    return Damage(24, "found a directory at " + Text(header_.directory_offset) +
                          ", expected its " + Text(directory) +
                          " bytes at the end of the file");
  }
  return Status();
}

template <typename Entry>
Status BundleFile::CheckOrder(const std::vector<Entry>& entries,
                              uint64_t offset, size_t entry_bytes) const {
  for (size_t i = 1; i < entries.size(); ++i) {
    if (Before(entries[i - 1], entries[i])) continue;
    return Damage(offset + i * entry_bytes,
                  "found an entry that does not come after the one before");
  }
  return Status();
}

Status BundleFile::CheckExtent(uint64_t entry_offset, uint64_t offset,
                               uint64_t size, uint64_t most) const {
  const uint64_t end = header_.directory_offset;
  if (offset >= kBundleHeaderBytes && offset % 8 == 0 && offset <= end &&
      size > 0 && size <= most && size <= end - offset) {
    return Status();
  }
  return Damage(entry_offset, "found " + Text(size) + " bytes at " +
                                  Text(offset) + ", allowed up to " +
                                  Text(most) + " before " + Text(end));
}

Status BundleFile::ReadDirectory() {
  const uint64_t begin = header_.directory_offset;
  std::vector<uint8_t> bytes(DirectoryBytes(header_));
  INGOT_CLIENT_RETURN_IF_ERROR(
      source_->Read(begin, bytes.size(), bytes.data()));
  const std::string hash = Sha256(bytes.data(), bytes.size());
  if (hash != BytesOf(header_.directory_hash)) {
    return Damage(begin,
                  "the directory: " + FoundHash(hash, header_.directory_hash));
  }
  manifest_.assign(reinterpret_cast<const char*>(bytes.data()),
                   header_.manifest_bytes);
  size_t at = header_.manifest_bytes;
  for (; at % 8 != 0; ++at) {
    if (bytes[at] != 0) return Damage(begin + at, "found no zero");
  }
  const uint64_t plans_at = begin + at;
  plans_.resize(header_.plans);
  for (BundlePlan& plan : plans_) {
    const uint64_t entry = begin + at;
    if (!DecodePlan(&bytes[at], &plan)) {
      return Damage(entry, "found a plan entry with unknown flags");
    }
    INGOT_CLIENT_RETURN_IF_ERROR(
        CheckExtent(entry, plan.offset, plan.size, kMaxBundleMessage));
    at += kPlanEntryBytes;
  }
  const uint64_t kernels_at = begin + at;
  kernels_.resize(header_.kernels);
  for (BundleKernel& kernel : kernels_) {
    const uint64_t entry = begin + at;
    if (!DecodeKernel(&bytes[at], &kernel)) {
      return Damage(entry, "found a kernel entry with more than is known");
    }
    INGOT_CLIENT_RETURN_IF_ERROR(
        CheckExtent(entry, kernel.offset, kernel.size, kMaxBundleMessage));
    if (kernel.object >= header_.objects) {
      return Damage(entry, "found object " + Text(kernel.object) +
                               ", allowed below " + Text(header_.objects));
    }
    at += kKernelEntryBytes;
  }
  const uint64_t objects_at = begin + at;
  objects_.resize(header_.objects);
  for (BundleObject& object : objects_) {
    const uint64_t entry = begin + at;
    DecodeObject(&bytes[at], &object);
    INGOT_CLIENT_RETURN_IF_ERROR(
        CheckExtent(entry, object.offset, object.size, kMaxBundleObject));
    at += kObjectEntryBytes;
  }
  INGOT_CLIENT_RETURN_IF_ERROR(CheckOrder(plans_, plans_at, kPlanEntryBytes));
  INGOT_CLIENT_RETURN_IF_ERROR(
      CheckOrder(kernels_, kernels_at, kKernelEntryBytes));
  return CheckOrder(objects_, objects_at, kObjectEntryBytes);
}

std::pair<size_t, size_t> BundleFile::FindPlans(const Hash& spec_digest) const {
  const auto begin =
      std::lower_bound(plans_.begin(), plans_.end(), spec_digest,
                       [](const BundlePlan& plan, const Hash& digest) {
                         return plan.spec_digest < digest;
                       });
  auto end = begin;
  while (end != plans_.end() && end->spec_digest == spec_digest) ++end;
  return {begin - plans_.begin(), end - plans_.begin()};
}

size_t BundleFile::FindKernel(const Hash& key) const {
  const auto found =
      std::lower_bound(kernels_.begin(), kernels_.end(), key,
                       [](const BundleKernel& kernel, const Hash& wanted) {
                         return kernel.key < wanted;
                       });
  const bool hit = found != kernels_.end() && found->key == key;
  return hit ? static_cast<size_t>(found - kernels_.begin()) : kernels_.size();
}

Status BundleFile::ReadBlob(uint64_t offset, uint64_t size, const Hash& hash,
                            std::string* bytes) const {
  bytes->resize(size);
  INGOT_CLIENT_RETURN_IF_ERROR(
      source_->Read(offset, size, reinterpret_cast<uint8_t*>(bytes->data())));
  const std::string found = Sha256(bytes->data(), bytes->size());
  if (found == BytesOf(hash)) return Status();
  return Damage(offset,
                FoundHash(found, hash) + " of " + Text(size) + " bytes");
}

Status BundleFile::ReadPlan(const BundlePlan& plan, std::string* bytes) const {
  return ReadBlob(plan.offset, plan.size, plan.hash, bytes);
}

Status BundleFile::ReadRecord(const BundleKernel& kernel,
                              std::string* bytes) const {
  return ReadBlob(kernel.offset, kernel.size, kernel.hash, bytes);
}

Status BundleFile::ReadObject(const BundleObject& object,
                              std::string* bytes) const {
  return ReadBlob(object.offset, object.size, object.digest, bytes);
}

Status BundleFile::CheckAll() const {
  struct Blob {
    uint64_t offset;
    uint64_t size;
    const Hash* hash;
  };
  std::vector<Blob> blobs;
  blobs.reserve(plans_.size() + kernels_.size() + objects_.size());
  for (const BundlePlan& plan : plans_) {
    blobs.push_back({plan.offset, plan.size, &plan.hash});
  }
  for (const BundleKernel& kernel : kernels_) {
    blobs.push_back({kernel.offset, kernel.size, &kernel.hash});
  }
  for (const BundleObject& object : objects_) {
    blobs.push_back({object.offset, object.size, &object.digest});
  }
  std::sort(blobs.begin(), blobs.end(),
            [](const Blob& a, const Blob& b) { return a.offset < b.offset; });
  uint64_t at = kBundleHeaderBytes;
  std::string bytes;
  for (const Blob& blob : blobs) {
    if (blob.offset != at) {
      return Damage(
          at, "found a gap or an overlap before offset " + Text(blob.offset));
    }
    INGOT_CLIENT_RETURN_IF_ERROR(
        ReadBlob(blob.offset, blob.size, *blob.hash, &bytes));
    at += blob.size;
    uint8_t zeros[8] = {};
    const size_t padding = BundleAlign(at) - at;
    INGOT_CLIENT_RETURN_IF_ERROR(source_->Read(at, padding, zeros));
    for (size_t i = 0; i < padding; ++i) {
      if (zeros[i] != 0) return Damage(at + i, "found no zero");
    }
    at += padding;
  }
  if (at == header_.directory_offset) return Status();
  return Damage(at, "found bytes that no entry names, up to offset " +
                        Text(header_.directory_offset));
}

}  // namespace ingot::client
