#include "tests/emulator/lds_stamps.h"

#include <bit>
#include <cstring>

namespace ingot::emulator {
namespace {

// The stamps of an entry, side by side.
using Four = int32_t __attribute__((vector_size(16)));

Four Load(const LdsStamps::Entry* e) {
  Four v;
  std::memcpy(&v, e, sizeof(v));
  return v;
}

}  // namespace

void LdsStamps::Resize(uint32_t bytes) {
  if (lds_bytes_ == bytes && !units_.empty()) return;
  lds_bytes_ = bytes;
  shift_ = 4;
  units_.assign(bytes / unit() + 2, Entry());
  bytes_.clear();
}

void LdsStamps::Forget() { std::fill(units_.begin(), units_.end(), Entry()); }

bool LdsStamps::Fit(uint32_t bits) {
  const int shift = std::max(std::countr_zero(bits), kLeastShift);
  if (shift < shift_) {
    const size_t parts = size_t{1} << (shift_ - shift);
    std::vector<Entry> smaller;
    smaller.reserve(units_.size() * parts);
    for (const Entry& e : units_) smaller.insert(smaller.end(), parts, e);
    units_ = std::move(smaller);
    shift_ = shift;
  }
  return (bits & ((1u << kLeastShift) - 1)) == 0;
}

[[gnu::always_inline]] inline void LdsStamps::Renew(bool writes, Stamp stamp,
                                                    Entry* entry) const {
  if (writes) {
    entry->writer = stamp;
    return;
  }
  const Stamp last = entry->reader[0];
  entry->reader[1] = Foreign(last, stamp) ? last : entry->reader[1];
  entry->reader[0] = stamp;
}

[[gnu::always_inline]] inline void LdsStamps::RenewAll(bool writes, Stamp stamp,
                                                       Entry* first,
                                                       uint32_t count) const {
  Entry* const end = first + count;
  if (writes) {
    for (; first != end; ++first) first->writer = stamp;
  } else {
    for (; first != end; ++first) Renew(false, stamp, first);
  }
}

bool LdsStamps::TryRow(const AccessRow& row, bool writes, Stamp stamp) {
  if (!Fit(row.bits | row.bytes)) return false;
  const int shift = shift_;
  const uint32_t parts = row.bytes >> shift;
  const Four base = Four{} + base_, mine = Four{} + stamp, who = Four{} + kWho;
  Entry* const units = units_.data();
  Four foreign = {};
  for (int l = 0; l < kLanes; ++l) {
    const Entry* at = units + (row.at[l] >> shift);
    for (uint32_t n = 0; n < parts; ++n) {
      const Four stamps = Load(at + n);
      foreign |= (stamps >= base) & (((stamps ^ mine) & who) != 0);
    }
  }
  if ((foreign[0] | (writes ? foreign[1] | foreign[2] : 0)) != 0) return false;
  for (int l = 0; l < kLanes; ++l)
    RenewAll(writes, stamp, units + (row.at[l] >> shift), parts);
  return true;
}

bool LdsStamps::TrySpan(uint32_t address, uint32_t bytes, bool writes,
                        Stamp stamp) {
  if (!Fit(address | bytes)) return false;
  Entry* const first = &units_[address >> shift_];
  Entry* const end = first + (bytes >> shift_);
  for (const Entry* e = first; e != end; ++e) {
    if (Foreign(e->writer, stamp)) return false;
    if (writes &&
        (Foreign(e->reader[0], stamp) || Foreign(e->reader[1], stamp)))
      return false;
  }
  RenewAll(writes, stamp, first, bytes >> shift_);
  return true;
}

void LdsStamps::Mark(uint32_t address, uint32_t bytes, bool writes,
                     Stamp stamp) {
  const bool dwords = Fit(address | bytes);
  if (dwords && bytes_.empty()) {
    RenewAll(writes, stamp, &units_[address >> shift_], bytes >> shift_);
    return;
  }
  const uint32_t end = address + bytes;
  for (uint32_t at = address; at < end;) {
    Entry* const e = &units_[at >> shift_];
    const bool whole = at % unit() == 0 && end - at >= unit();
    if (whole && writes && e->writer == kSplit) {
      // One store covers all that the bytes' stamps told apart; readers that
      // it passed are of no more interest than itself.
      *e = Entry();
    }
    if (whole && e->writer != kSplit) {
      Renew(writes, stamp, e);
      at += unit();
    } else {
      Renew(writes, stamp, Split(at >> shift_) + at % unit());
      ++at;
    }
  }
}

// The entries of a dword's four bytes, from now on apart.
LdsStamps::Entry* LdsStamps::Split(uint32_t dword) {
  if (bytes_.empty()) bytes_.resize(units_.size() * 4);
  Entry* const at = &bytes_[size_t{dword} * 4];
  if (units_[dword].writer != kSplit) {
    std::fill(at, at + 4, units_[dword]);
    units_[dword].writer = kSplit;
  }
  return at;
}

}  // namespace ingot::emulator
