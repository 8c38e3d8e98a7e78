#include "tests/emulator/hip/bundle.h"

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tests/emulator/hip/hip.h"

namespace ingot::emulator::hip {
namespace {

constexpr std::string_view kPlain = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressed = "CCOB";
// Far above what compilers make; what is larger is damage.
constexpr uint64_t kMaxEntries = 4096, kMaxIdBytes = 4096;
constexpr uint64_t kMaxUnpacked = uint64_t{4} << 30;

bool StartsWith(const void* data, size_t size, std::string_view magic) {
  const char* bytes = static_cast<const char*>(data);
  for (size_t n = 0; n < magic.size(); ++n) {
    if (n >= size || bytes[n] != magic[n]) return false;
  }
  return true;
}

// Reads fields one after another, never past the end.
class Reader {
 public:
  Reader(const void* data, size_t size)
      : data_(static_cast<const char*>(data)), size_(size) {}
  template <class T>
  T Take() {
    T value = 0;
    if (const char* at = Skip(sizeof(T)); at != nullptr)
      std::memcpy(&value, at, sizeof(T));
    return value;
  }
  const char* Skip(uint64_t bytes) {
    if (!ok_ || bytes > size_ - at_) {
      ok_ = false;
      return nullptr;
    }
    const char* here = data_ + at_;
    at_ += bytes;
    return here;
  }
  bool ok() const { return ok_; }
  size_t at() const { return at_; }

 private:
  const char* data_;
  size_t size_;
  size_t at_ = 0;
  bool ok_ = true;
};

// 0: does not fit; else the larger the better. `id` is like
// "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-".
int Fit(std::string_view id) {
  constexpr std::string_view kTriple = "amdgcn-amd-amdhsa-";
  const size_t at = id.find(kTriple);
  if (at == std::string_view::npos || id.substr(0, 3) != "hip") return 0;
  std::string_view target = id.substr(at + kTriple.size());
  while (!target.empty() && target[0] == '-') target.remove_prefix(1);
  const size_t colon = target.find(':');
  const std::string_view processor = target.substr(0, colon);
  const std::string_view features =
      colon == std::string_view::npos ? "" : target.substr(colon);
  if (features.find(":sramecc-") != std::string_view::npos ||
      features.find(":xnack+") != std::string_view::npos) {
    return 0;
  }
  if (processor == "gfx950") return 2 + static_cast<int>(features.size());
  return processor == "gfx9-4-generic" ? 1 : 0;
}

int FindInPlain(const void* data, size_t size, const void** object,
                size_t* object_size) {
  Reader in(data, size);
  in.Skip(kPlain.size());
  const uint64_t entries = in.Take<uint64_t>();
  if (!in.ok() || entries > kMaxEntries) return kInvalidImage;
  int best = 0;
  std::string targets;
  for (uint64_t n = 0; n < entries; ++n) {
    const uint64_t offset = in.Take<uint64_t>(), bytes = in.Take<uint64_t>();
    const uint64_t id_bytes = in.Take<uint64_t>();
    if (!in.ok() || id_bytes > kMaxIdBytes) return kInvalidImage;
    const char* id = in.Skip(id_bytes);
    if (id == nullptr || offset > size || bytes > size - offset)
      return kInvalidImage;
    const std::string_view name(id, id_bytes);
    (targets += ' ') += name;
    const int fit = Fit(name);
    if (fit <= best) continue;
    best = fit;
    *object = static_cast<const char*>(data) + offset;
    *object_size = bytes;
  }
  if (best > 0) return kSuccess;
  std::fprintf(stderr, "gfx950 emulator: no gfx950 entry among:%s\n",
               targets.c_str());
  return kNoBinaryForGpu;
}

// Neither makes room for more than the data can hold, whatever a header says.
bool Inflate(const char* from, size_t bytes, uint64_t size, std::string* to) {
  constexpr uint64_t kBestRatio = 1100;
  if (size > bytes * kBestRatio) return false;
  to->assign(size, 0);
  uLongf unpacked = size;
  return uncompress(reinterpret_cast<Bytef*>(to->data()), &unpacked,
                    reinterpret_cast<const Bytef*>(from), bytes) == Z_OK &&
         unpacked == size;
}

bool Unzstd(const char* from, size_t bytes, uint64_t size, std::string* to) {
  if (ZSTD_getFrameContentSize(from, bytes) != size) return false;
  to->assign(size, 0);
  return ZSTD_decompress(to->data(), size, from, bytes) == size;
}

// Header: magic, version and method (u16 each), total size (not in version 1),
// unpacked size, hash (u64). The sizes have 64 bits from version 3 on.
int Unpack(const void* data, size_t size, std::string* unpacked) {
  Reader in(data, size);
  in.Skip(kCompressed.size());
  const uint16_t version = in.Take<uint16_t>(), method = in.Take<uint16_t>();
  const auto take_size = [&in, version]() -> uint64_t {
    return version < 3 ? in.Take<uint32_t>() : in.Take<uint64_t>();
  };
  if (!in.ok() || version < 1 || version > 3 || method > 1)
    return kInvalidImage;
  uint64_t total = size;
  if (version > 1) total = take_size();
  const uint64_t bytes = take_size();
  in.Take<uint64_t>();
  if (!in.ok() || total > size || total < in.at() || bytes > kMaxUnpacked)
    return kInvalidImage;
  // Version 1 does not say where it ends; without a size it cannot be read.
  if (total == ~size_t{0}) return kInvalidImage;
  const char* from = static_cast<const char*>(data) + in.at();
  const size_t packed = total - in.at();
  const bool ok = method == 0 ? Inflate(from, packed, bytes, unpacked)
                              : Unzstd(from, packed, bytes, unpacked);
  return ok ? kSuccess : kInvalidImage;
}

}  // namespace

bool IsBundle(const void* data, size_t size) {
  return StartsWith(data, size, kPlain) || StartsWith(data, size, kCompressed);
}

int FindInBundle(const void* data, size_t size, std::string* unpacked,
                 const void** object, size_t* object_size) {
  if (StartsWith(data, size, kPlain))
    return FindInPlain(data, size, object, object_size);
  if (const int error = Unpack(data, size, unpacked); error != kSuccess)
    return error;
  return FindInPlain(unpacked->data(), unpacked->size(), object, object_size);
}

}  // namespace ingot::emulator::hip
