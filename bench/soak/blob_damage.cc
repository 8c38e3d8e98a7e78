#include "bench/soak/blob_damage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace ingot::bench {
namespace {

// RocksDB's blob file: a header, then records {key length, value length,
// expiration, two check sums, key, value}, lengths in 8 bytes, little endian;
// the key of an object is its digest.
constexpr off_t kFileHeader = 30;
constexpr size_t kRecordHeader = 32;
constexpr size_t kDigest = 32;

struct Place {
  std::string file;
  std::string digest;
  off_t value = 0;
  uint64_t size = 0;
};

void FindIn(const std::string& file, std::vector<Place>* places) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;  // collected in the meantime
  const off_t end = lseek(fd, 0, SEEK_END);
  char head[kRecordHeader + kDigest];
  for (off_t at = kFileHeader; pread(fd, head, sizeof(head), at) ==
                               static_cast<ssize_t>(sizeof(head));) {
    uint64_t key_size;
    uint64_t value_size;
    std::memcpy(&key_size, head, sizeof(key_size));
    std::memcpy(&value_size, head + 8, sizeof(value_size));
    const off_t value = at + static_cast<off_t>(sizeof(head));
    if (key_size != kDigest || value_size == 0 ||
        value_size > static_cast<uint64_t>(end - value)) {
      break;  // the file's footer, or what is being written
    }
    places->push_back(
        {file, std::string(head + kRecordHeader, kDigest), value, value_size});
    at = value + static_cast<off_t>(value_size);
  }
  close(fd);
}

bool FlipBit(const Place& place, std::mt19937_64& random) {
  const int fd = open(place.file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const off_t at = place.value + static_cast<off_t>(random() % place.size);
  char byte = 0;
  bool flipped = pread(fd, &byte, 1, at) == 1;
  byte = static_cast<char>(byte ^ (1 << random() % 8));
  flipped = flipped && pwrite(fd, &byte, 1, at) == 1;
  close(fd);
  return flipped;
}

}  // namespace

std::vector<std::string> DamageObjects(const std::string& store, double share,
                                       std::mt19937_64& random) {
  std::vector<Place> places;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(store, ignored)) {
    if (file.path().extension() == ".blob") {
      FindIn(file.path().string(), &places);
    }
  }
  std::shuffle(places.begin(), places.end(), random);
  const double wanted = share * static_cast<double>(places.size());
  places.resize(std::min(places.size(),
                         std::max<size_t>(1, static_cast<size_t>(wanted))));
  std::vector<std::string> damaged;
  for (const Place& place : places) {
    if (FlipBit(place, random)) damaged.push_back(place.digest);
  }
  return damaged;
}

}  // namespace ingot::bench
