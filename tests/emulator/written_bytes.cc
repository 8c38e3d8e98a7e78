#include "tests/emulator/written_bytes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace ingot::emulator {
namespace {

constexpr uint64_t kLine = 64;

// Threads of the host may be writing what is looked at: what they write while
// a kernel is launched is their business, and no race of this code.
[[gnu::no_sanitize_thread]] bool Holds(const uint8_t* p, uint64_t bytes,
                                       uint8_t value) {
  const uint64_t word = value * uint64_t{0x0101010101010101};
  while (bytes >= 8) {
    uint64_t eight;
    std::memcpy(&eight, p, 8);
    if (eight != word) return false;
    p += 8;
    bytes -= 8;
  }
  for (; bytes > 0; --bytes) {
    if (*p++ != value) return false;
  }
  return true;
}

}  // namespace

WrittenBytes::WrittenBytes(uint64_t begin, size_t bytes)
    : begin_(begin), bytes_(bytes) {
  void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  map_ = map == MAP_FAILED ? nullptr : static_cast<uint8_t*>(map);
  // Without a map nothing can be said, so nothing is reported.
  if (map_ == nullptr) whole_ = true;
}

WrittenBytes::~WrittenBytes() {
  if (map_ != nullptr) munmap(map_, bytes_);
}

void WrittenBytes::Mark(uint64_t address, size_t bytes) {
  if (whole()) return;
  if (bytes == bytes_) {
    whole_.store(true, std::memory_order_relaxed);
    return;
  }
  std::memset(map_ + (address - begin_), 0xff, bytes);
}

void WrittenBytes::Copy(uint64_t address, size_t bytes,
                        const WrittenBytes& from, uint64_t source) {
  const uint8_t* known = from.At(source);
  if (known == nullptr) {
    Mark(address, bytes);
  } else if (!whole()) {
    std::memmove(map_ + (address - begin_), known, bytes);
  }
}

void WrittenBytes::Forget() {
  if (map_ == nullptr) return;
  std::memset(map_, 0, bytes_);
  whole_ = false;
}

// A line in which only the fill stands where no kernel has written was not
// written by the host either.
[[gnu::no_sanitize_thread]] bool WrittenBytes::LineWritten(
    uint64_t line) const {
  const uint64_t bytes = std::min<uint64_t>(kLine, bytes_ - line);
  const uint8_t* known = map_ + line;
  const uint8_t* now = reinterpret_cast<const uint8_t*>(begin_ + line);
  if (Holds(known, bytes, 0)) return !Holds(now, bytes, kFreshByte);
  bool all = true;
  for (uint64_t n = 0; n < bytes; ++n) {
    if (known[n] != 0) continue;
    if (now[n] != kFreshByte) return true;
    all = false;
  }
  return all;
}

void WrittenBytes::FindHostWrites() {
  if (whole()) return;
  uint64_t line = 0;
  while (line < bytes_ && LineWritten(line)) line += kLine;
  if (line >= bytes_) {
    whole_.store(true, std::memory_order_relaxed);
    return;
  }
  for (line = 0; line < bytes_; line += kLine) {
    const uint64_t bytes = std::min<uint64_t>(kLine, bytes_ - line);
    // Looked at first, so that the map of untouched memory stays untouched.
    const auto* now = reinterpret_cast<const uint8_t*>(begin_ + line);
    if (!Holds(now, bytes, kFreshByte) && LineWritten(line))
      std::memset(map_ + line, 0xff, bytes);
  }
}

}  // namespace ingot::emulator
