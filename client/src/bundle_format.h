// The bytes of a bundle, as proto/bundle.md says; shared by reader and writer.
#ifndef INGOT_CLIENT_SRC_BUNDLE_FORMAT_H_
#define INGOT_CLIENT_SRC_BUNDLE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace ingot::client {

inline constexpr char kBundleMagic[8] = {'I', 'N', 'G', 'O',
                                         'T', 'B', 'D', 'L'};
inline constexpr uint32_t kBundleVersion = 1;

inline constexpr size_t kHashBytes = 32;
inline constexpr size_t kBundleHeaderBytes = 128;
inline constexpr size_t kPlanEntryBytes = 128;
inline constexpr size_t kKernelEntryBytes = 88;
inline constexpr size_t kObjectEntryBytes = 48;

inline constexpr uint32_t kMaxBundleEntries = 1 << 20;     // of each kind
inline constexpr uint32_t kMaxBundleMessage = 1 << 20;     // bytes
inline constexpr uint64_t kMaxBundleObject = 64ull << 20;  // bytes

using Hash = std::array<uint8_t, kHashBytes>;

struct BundleHeader {
  uint32_t version = kBundleVersion;
  uint32_t oldest_reader = kBundleVersion;
  uint64_t file_bytes = 0;
  uint64_t directory_offset = 0;
  uint32_t manifest_bytes = 0;
  uint32_t plans = 0;
  uint32_t kernels = 0;
  uint32_t objects = 0;
  Hash directory_hash = {};
};

struct BundlePlan {
  Hash spec_digest = {};
  Hash fingerprint = {};
  Hash hash = {};  // of the plan's bytes
  uint64_t epoch = 0;
  uint64_t offset = 0;
  uint32_t size = 0;
  bool serving = false;
};

struct BundleKernel {
  Hash key = {};
  Hash hash = {};  // of the record's bytes
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t object = 0;  // index
};

struct BundleObject {
  Hash digest = {};
  uint64_t offset = 0;
  uint64_t size = 0;
};

// The order of entries. No two are equal in it.
bool Before(const BundlePlan& a, const BundlePlan& b);
inline bool Before(const BundleKernel& a, const BundleKernel& b) {
  return a.key < b.key;
}
inline bool Before(const BundleObject& a, const BundleObject& b) {
  return a.digest < b.digest;
}

// Where the next blob, or the directory's next part, begins.
constexpr uint64_t BundleAlign(uint64_t offset) {
  return (offset + 7) & ~uint64_t{7};
}

// Bytes of the directory of a file with this header.
uint64_t DirectoryBytes(const BundleHeader& header);

// Each writes or reads as many bytes as the constant above says. EncodeHeader
// adds the header's own SHA-256, which DecodeHeader leaves to the reader to
// compare; what must be zero is compared by DecodeX, which return false for
// anything else.
void EncodeHeader(const BundleHeader& header, uint8_t* out);
void EncodePlan(const BundlePlan& plan, uint8_t* out);
void EncodeKernel(const BundleKernel& kernel, uint8_t* out);
void EncodeObject(const BundleObject& object, uint8_t* out);
bool DecodeHeader(const uint8_t* bytes, BundleHeader* header);
bool DecodePlan(const uint8_t* bytes, BundlePlan* plan);
bool DecodeKernel(const uint8_t* bytes, BundleKernel* kernel);
void DecodeObject(const uint8_t* bytes, BundleObject* object);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_BUNDLE_FORMAT_H_
