#include "tests/emulator/profile/byte_set.h"

#include <algorithm>
#include <bit>

namespace ingot::profile {
namespace {

// Bits [from, to) of a word, to <= 64.
uint64_t Bits(uint64_t from, uint64_t to) {
  const uint64_t below = to == 64 ? ~uint64_t{0} : (uint64_t{1} << to) - 1;
  return below & ~((uint64_t{1} << from) - 1);
}

}  // namespace

ByteSet::Page* ByteSet::PageAt(uint64_t number) {
  if (number != last_number_) {
    last_ = &pages_[number];
    last_number_ = number;
  }
  return last_;
}

int ByteSet::AddBits(Page* page, uint64_t word, uint64_t bits) {
  uint64_t& held = (*page)[word];
  // Two words make a line.
  const bool new_line = held == 0 && (*page)[word ^ 1] == 0;
  bytes_ += static_cast<uint64_t>(std::popcount(bits & ~held));
  held |= bits;
  return new_line ? 1 : 0;
}

int ByteSet::Add(uint64_t address, uint32_t bytes) {
  int lines = 0;
  const uint64_t end = address + bytes;
  while (address < end) {
    const uint64_t stop = std::min(end, (address | 63) + 1);
    const uint64_t from = address % 64;
    lines += AddBits(PageAt(address / kPageBytes), address % kPageBytes / 64,
                     Bits(from, from + (stop - address)));
    address = stop;
  }
  return lines;
}

void ByteSet::Merge(const ByteSet& other) {
  for (const auto& [number, page] : other.pages_) {
    Page* mine = PageAt(number);
    for (uint64_t word = 0; word < kWords; ++word) {
      if (page[word] != 0) AddBits(mine, word, page[word]);
    }
  }
}

void ByteSet::Clear() { *this = ByteSet(); }

uint64_t ByteSet::BytesIn(uint64_t begin, uint64_t end) const {
  uint64_t bytes = 0;
  for (const auto& [number, page] : pages_) {
    for (uint64_t word = 0; word < kWords; ++word) {
      const uint64_t at = number * kPageBytes + word * 64;
      const uint64_t from = std::max(begin, at), to = std::min(end, at + 64);
      if (from >= to || page[word] == 0) continue;
      bytes += static_cast<uint64_t>(
          std::popcount(page[word] & Bits(from - at, to - at)));
    }
  }
  return bytes;
}

}  // namespace ingot::profile
