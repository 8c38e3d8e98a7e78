#include "tests/emulator/taint_memory.h"

#include <algorithm>
#include <cstring>

#include "tests/emulator/launch.h"

namespace ingot::emulator::taint {
namespace {

// Room for loads of eight bytes at the end.
constexpr size_t kPad = 16;
// Origins beyond these are not told apart.
constexpr size_t kMostOrigins = 1 << 16;

// Likewise for rows.
template <class Visit>
void ForRowRuns(const AccessList& accesses, uint32_t spaces,
                const Visit& visit) {
  for (int n = 0; n < accesses.rows(); ++n) {
    const AccessRow& row = accesses.row(n);
    if ((spaces >> static_cast<int>(row.space) & 1) == 0) continue;
    if (row.adjoin) {
      const auto bytes = static_cast<uint16_t>(row.end() - row.low);
      if (!visit({row.low, bytes, 0, row.space})) return;
      continue;
    }
    for (uint64_t todo = row.lanes; todo != 0; todo &= todo - 1) {
      if (!visit(row[__builtin_ctzll(todo)])) return;
    }
  }
}

// Calls `visit` for the accesses to some spaces, those that lie one behind the
// other as one; until it returns false.
template <class Visit>
void ForRuns(const AccessList& accesses, uint32_t spaces, Visit visit) {
  constexpr uint32_t kMostBytes = 4096;  // half of what `nowhere_` holds
  if (accesses.rows() != 0) return ForRowRuns(accesses, spaces, visit);
  Access run{0, 0, 0, Space::kGlobal};
  for (const Access& a : accesses) {
    if ((spaces >> static_cast<int>(a.space) & 1) == 0) continue;
    if (a.address == run.address + run.bytes && a.space == run.space &&
        a.space != Space::kScratch && run.bytes != 0 &&
        run.bytes < kMostBytes) {
      run.bytes = static_cast<uint16_t>(run.bytes + a.bytes);
      continue;
    }
    if (run.bytes != 0 && !visit(run)) return;
    run = a;
  }
  if (run.bytes != 0) visit(run);
}

uint64_t OrOf(const uint8_t* p, uint32_t bytes) {
  uint64_t all = 0, word;
  for (; bytes >= 32; bytes -= 32, p += 32) {
    uint64_t four[4];
    std::memcpy(four, p, 32);
    all |= four[0] | four[1] | four[2] | four[3];
  }
  for (; bytes >= 8; bytes -= 8, p += 8) {
    std::memcpy(&word, p, 8);
    all |= word;
  }
  if (bytes >= 4) {
    uint32_t half;
    std::memcpy(&half, p, 4);
    all |= half;
    p += 4;
    bytes -= 4;
  }
  for (; bytes > 0; --bytes) all |= *p++;
  return all;
}

bool AllWritten(const uint8_t* p, uint32_t bytes) {
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    if (word != ~uint64_t{0}) return false;
  }
  for (; bytes > 0; --bytes) {
    if (*p++ != 0xff) return false;
  }
  return true;
}

}  // namespace

void Memory::StartGroup(const Group& group) {
  lds_bytes_ = group.lds_bytes;
  lds_.assign(lds_bytes_ + kPad, 0xff);
  lds_defined_ = lds_bytes_ == 0;
  lds_doubt_ = 0;
  scratch_.assign(
      size_t{group.waves[0]->scratch_bytes} * kLanes * group.waves.size() +
          kPad,
      0xff);
  origins_.assign(1, Origin());
}

uint8_t* Memory::Place(const Wave& wave, const Access& access) {
  if (access.space == Space::kLds) {
    const bool inside = access.address + access.bytes <= lds_.size();
    return inside ? lds_.data() + access.address : nowhere_;
  }
  if (access.address + access.bytes > wave.scratch_bytes) return nowhere_;
  const size_t lane = static_cast<size_t>(wave.index) * kLanes +
                      static_cast<size_t>(access.lane);
  return scratch_.data() + lane * wave.scratch_bytes + access.address;
}

WrittenBytes* Memory::Global(const Wave& wave, const Access& access) {
  if (access.address < hit_.begin || access.address >= hit_.end) {
    const Interval* found =
        wave.launch->memory->Find(access.address, access.bytes);
    if (found == nullptr) return nullptr;
    hit_ = *found;
  }
  WrittenBytes* written = hit_.written.get();
  return written == nullptr || written->whole() ? nullptr : written;
}

bool Memory::Undefined(const Wave& wave, const Access& access) {
  if (access.space != Space::kGlobal)
    return OrOf(Place(wave, access), access.bytes) != 0;
  const WrittenBytes* written = Global(wave, access);
  if (written == nullptr) return false;
  const uint8_t* known = written->At(access.address);
  return known != nullptr && !AllWritten(known, access.bytes);
}

// Most accesses are to one allocation that is written as a whole, or to the
// defined part of LDS.
bool Memory::PlainlyDefined(const AccessList& accesses, uint32_t spaces) const {
  const bool whole = hit_.written == nullptr || hit_.written->whole();
  const uint64_t begin = hit_.begin, size = whole ? hit_.end - hit_.begin : 0;
  bool clear = true;
  const auto look = [&](Space space, uint64_t address, uint64_t end) {
    const bool asked = (spaces >> static_cast<int>(space) & 1) != 0;
    const bool known = (space == Space::kGlobal && address - begin < size) ||
                       (space == Space::kLds && end <= lds_doubt_);
    clear &= !asked || known;
  };
  for (int n = 0; n < accesses.rows(); ++n) {
    const AccessRow& row = accesses.row(n);
    look(row.space, row.low, row.end());
    look(row.space, row.high, row.end());
  }
  if (accesses.rows() != 0) return clear;
  for (const Access& a : accesses)
    look(a.space, a.address, a.address + a.bytes);
  return clear;
}

bool Memory::AnyUndefined(const Wave& wave, const AccessList& accesses,
                          uint32_t spaces) {
  if (lds_defined_) spaces &= ~SpaceBit(Space::kLds);
  if (spaces == 0) return false;
  if (PlainlyDefined(accesses, spaces)) return false;
  bool any = false;
  ForRuns(accesses, spaces, [&](const Access& run) {
    any = Undefined(wave, run);
    return !any;
  });
  return any;
}

void Memory::StoreDefined(const Wave& wave, const AccessList& accesses,
                          uint32_t spaces) {
  if (lds_defined_) spaces &= ~SpaceBit(Space::kLds);
  ForRuns(accesses, spaces, [&](const Access& run) {
    Store(wave, run, nullptr);
    return true;
  });
}

void Memory::LookAtLds() {
  if (lds_defined_) return;
  constexpr size_t kPiece = 1024;
  while (lds_doubt_ < lds_bytes_) {
    const size_t bytes = std::min(kPiece, lds_bytes_ - lds_doubt_);
    if (OrOf(&lds_[lds_doubt_], static_cast<uint32_t>(bytes)) != 0) return;
    lds_doubt_ += bytes;
  }
  lds_defined_ = true;
}

void Memory::Load(const Wave& wave, const Access& access, uint8_t* undef) {
  if (access.space != Space::kGlobal) {
    std::memcpy(undef, Place(wave, access), access.bytes);
    return;
  }
  const WrittenBytes* written = Global(wave, access);
  const uint8_t* known =
      written == nullptr ? nullptr : written->At(access.address);
  for (uint32_t n = 0; n < access.bytes; ++n)
    undef[n] = known == nullptr || known[n] != 0 ? 0 : 0xff;
}

void Memory::Store(const Wave& wave, const Access& access,
                   const uint8_t* undef) {
  if (access.space == Space::kGlobal) {
    WrittenBytes* written = Global(wave, access);
    if (written != nullptr) written->Mark(access.address, access.bytes);
  } else if (undef == nullptr) {
    std::memset(Place(wave, access), 0, access.bytes);
  } else if (uint8_t* place = Place(wave, access); place != nowhere_) {
    std::memcpy(place, undef, access.bytes);
    if (access.space != Space::kLds) return;
    lds_defined_ = false;
    lds_doubt_ = std::min<size_t>(lds_doubt_, access.address);
  }
}

uint32_t Memory::AddOrigin(const Origin& origin) {
  if (origins_.size() < kMostOrigins) origins_.push_back(origin);
  return static_cast<uint32_t>(origins_.size() - 1);
}

const Origin* Memory::FindOrigin(uint32_t number) const {
  return number == 0 || number >= origins_.size() ? nullptr : &origins_[number];
}

}  // namespace ingot::emulator::taint
