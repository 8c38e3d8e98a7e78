#include "tests/emulator/race_lds.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/emulator/launch.h"
#include "tests/emulator/race_poll.h"

namespace ingot::emulator {
namespace {

constexpr int kSerialShift = 6;
constexpr int32_t kWaveBits = 15;
constexpr int32_t kPathBit = 16;
// Stamps of the dword are in bytes_; like no stamp that an access can have.
constexpr int32_t kSplit = 0x7fffffff;
constexpr int32_t kWhoBits = (1 << kSerialShift) - 1;
constexpr int32_t kLastSerial = (1 << 25) - 1;
// An epoch with more LDS instructions than this is cut: what lies before the
// cut counts as ordered.
constexpr size_t kEpochLimit = size_t{1} << 20;

// Four dwords' stamps.
using Four = int32_t __attribute__((vector_size(16)));

Four LoadFour(const int32_t* p) {
  Four v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
void StoreFour(int32_t* p, Four v) { std::memcpy(p, &v, sizeof(v)); }
bool Any(Four v) {
  uint64_t half[2];
  std::memcpy(half, &v, sizeof(half));
  return (half[0] | half[1]) != 0;
}

// Stamps that need a closer look: of this epoch, and of another wave or path.
template <class T>
T Foreign(T stamps, int32_t base, int32_t mine) {
  return (stamps >= base) & (((stamps ^ mine) & kWhoBits) != 0);
}

bool IsFlat(const Inst& i) {
  return i.words[0] >> 26 == 0x37 && (i.words[0] >> 14 & 3) == 0;
}

}  // namespace

LdsRaces::LdsRaces(SyncLog* sync, bool waits)
    : Watcher(ClassBit(OpClass::kLds) | ClassBit(OpClass::kLdsDma) |
              ClassBit(OpClass::kVmem)),
      sync_(sync),
      waits_(waits) {}

void LdsRaces::StartGroup(Group& g) {
  const size_t dwords = g.lds_bytes / 4 + 4;
  if (writer_.size() != dwords) {
    writer_.assign(dwords, 0);
    reader_.assign(dwords, 0);
    reader2_.assign(dwords, 0);
    bytes_.clear();
  }
  flights_.resize(2 * g.waves.size());
  for (auto& flights : flights_) flights.clear();
  NewEpoch(g);
}

std::deque<std::unique_ptr<LdsRaces::Flight>>& LdsRaces::Flights(int wave,
                                                                 Path path) {
  return flights_[2 * static_cast<size_t>(wave) + static_cast<size_t>(path)];
}

bool LdsRaces::Polls(const Wave& w, uint64_t pc) {
  const auto [at, fresh] = polls_.try_emplace(pc, false);
  if (fresh) at->second = IsPoll(*w.launch->program, pc);
  return at->second;
}

LdsRaces::Stamp LdsRaces::NewStamp(const Op& op) {
  const int32_t serial = first_ + static_cast<int32_t>(ops_.size());
  ops_.push_back(op);
  return serial << kSerialShift | (op.path == Path::kVm ? kPathBit : 0) |
         op.wave;
}

const LdsRaces::Op& LdsRaces::OpOf(Stamp stamp) const {
  return ops_[static_cast<size_t>((stamp >> kSerialShift) - first_)];
}

// Everything so far is ordered before what comes, except what is in flight.
void LdsRaces::NewEpoch(Group& g) {
  first_ += static_cast<int32_t>(ops_.size());
  if (static_cast<size_t>(kLastSerial - first_) < 2 * kEpochLimit) {
    first_ = 1;
    for (auto* stamps : {&writer_, &reader_, &reader2_})
      std::fill(stamps->begin(), stamps->end(), 0);
  }
  ops_.clear();
  base_ = first_ << kSerialShift;
  for (Wave* w : g.waves) {
    Carry(*w, Path::kLds);
    Carry(*w, Path::kVm);
  }
}

void LdsRaces::Carry(Wave& w, Path path) {
  auto& flights = Flights(w.index, path);
  while (!flights.empty() && flights.front()->op.number <= w.waits.done(path)) {
    spare_.push_back(std::move(flights.front()));
    flights.pop_front();
  }
  for (auto& flight : flights) {
    flight->op.carried = true;
    const Stamp stamp = NewStamp(flight->op);
    for (const Span& s : flight->spans)
      Mark(flight->op, stamp, s.address, s.bytes);
  }
}

void LdsRaces::Barrier(Group& g) { NewEpoch(g); }

void LdsRaces::After(Wave& w, const Inst& i, const AccessList& accesses) {
  const bool dma = i.op->cls == OpClass::kLdsDma;
  if (i.op->cls == OpClass::kVmem && !IsFlat(i)) return;
  if (accesses.count == 0) return;
  if (ops_.size() >= kEpochLimit) NewEpoch(*w.group);
  Op op;
  op.pc = w.pc - i.size;
  op.path = dma ? Path::kVm : Path::kLds;
  op.number = w.waits.issued(op.path);
  op.time = sync_ != nullptr ? sync_->now() : 0;
  op.wave = static_cast<uint8_t>(w.index);
  op.writes = KindOf(*i.op, Space::kLds).writes;
  op.atomic = (i.op->flags & kAtomic) != 0;
  op.polls = sync_ != nullptr && !op.writes && Polls(w, op.pc);
  const Stamp stamp = NewStamp(op);
  for (const Access& a : accesses) {
    if (a.space != Space::kLds) continue;
    const Visit v{w, op, stamp, a.lane};
    const uint32_t address = static_cast<uint32_t>(a.address);
    const bool whole = ((address | a.bytes) & 3) == 0;
    if (!(whole ? VisitDwords(v, address / 4, a.bytes / 4u)
                : VisitBytes(v, address, a.bytes))) {
      return;
    }
  }
  KeepFlight(w, op, accesses);
}

void LdsRaces::KeepFlight(const Wave& w, const Op& op,
                          const AccessList& accesses) {
  auto& flights = Flights(w.index, op.path);
  while (!flights.empty() &&
         flights.front()->op.number <= w.waits.done(op.path)) {
    spare_.push_back(std::move(flights.front()));
    flights.pop_front();
  }
  std::unique_ptr<Flight> flight;
  if (spare_.empty()) {
    flight = std::make_unique<Flight>();
  } else {
    flight = std::move(spare_.back());
    spare_.pop_back();
  }
  flight->op = op;
  flight->spans.clear();
  for (const Access& a : accesses) {
    if (a.space != Space::kLds) continue;
    const uint32_t address = static_cast<uint32_t>(a.address);
    auto& spans = flight->spans;
    if (!spans.empty() &&
        spans.back().address + spans.back().bytes == address) {
      spans.back().bytes += a.bytes;
    } else {
      spans.push_back({address, a.bytes});
    }
  }
  flights.push_back(std::move(flight));
}

bool LdsRaces::VisitDwords(const Visit& v, uint32_t dword, uint32_t count) {
  Stamp* writer = &writer_[dword];
  Stamp* reader = &reader_[dword];
  Stamp* reader2 = &reader2_[dword];
  bool conflict = false;
  if (count == 4) {
    const Four r = LoadFour(reader), r2 = LoadFour(reader2);
    Four foreign = Foreign(LoadFour(writer), base_, v.stamp);
    if (v.op.writes) {
      foreign |= Foreign(r, base_, v.stamp) | Foreign(r2, base_, v.stamp);
    }
    conflict = Any(foreign);
    if (!conflict && v.op.writes) {
      StoreFour(writer, Four{} + v.stamp);
    } else if (!conflict) {
      StoreFour(reader2, Foreign(r, base_, v.stamp) != 0 ? r : r2);
      StoreFour(reader, Four{} + v.stamp);
    }
    if (!conflict) return true;
    return VisitBytes(v, dword * 4, 16);
  }
  for (uint32_t n = 0; n < count; ++n) {
    conflict |= Foreign(writer[n], base_, v.stamp);
    if (v.op.writes) {
      conflict |= Foreign(reader[n], base_, v.stamp) ||
                  Foreign(reader2[n], base_, v.stamp);
    }
  }
  if (conflict) return VisitBytes(v, dword * 4, count * 4);
  for (uint32_t n = 0; n < count; ++n) {
    if (v.op.writes) {
      writer[n] = v.stamp;
      continue;
    }
    if (Foreign(reader[n], base_, v.stamp)) reader2[n] = reader[n];
    reader[n] = v.stamp;
  }
  return true;
}

bool LdsRaces::VisitBytes(const Visit& v, uint32_t address, uint32_t bytes) {
  const uint32_t end = address + bytes;
  for (uint32_t at = address; at < end;) {
    const uint32_t dword = at / 4;
    if (writer_[dword] == kSplit) {
      if (!Check(v, bytes_[at], at)) return false;
      ++at;
    } else {
      if (!Check(v, Whole(dword), at)) return false;
      at = 4 * (dword + 1);
    }
  }
  Mark(v.op, v.stamp, address, bytes);
  return true;
}

bool LdsRaces::Check(const Visit& v, const Stamps& stamps, uint32_t address) {
  if (!CheckOne(v, stamps.writer, true, address)) return false;
  return !v.op.writes || (CheckOne(v, stamps.reader[0], false, address) &&
                          CheckOne(v, stamps.reader[1], false, address));
}

bool LdsRaces::CheckOne(const Visit& v, Stamp stamp, bool wrote,
                        uint32_t address) {
  if (!Foreign(stamp, base_, v.stamp)) return true;
  const Op& other = OpOf(stamp);
  if (other.wave == v.op.wave) {
    if (!waits_ || other.number <= v.wave.waits.done(other.path)) return true;
  } else if (sync_ == nullptr || other.polls || (other.atomic && v.op.atomic) ||
             sync_->MayOrder(other.wave, other.time, v.op.wave, v.op.time)) {
    return true;
  } else if (v.op.polls) {
    sync_->Link(other.wave, other.time, v.op.wave, v.op.time);
    return true;
  }
  Report(v, other, wrote, address);
  return false;
}

void LdsRaces::Report(const Visit& v, const Op& other, bool wrote,
                      uint32_t address) {
  std::string text = v.op.atomic   ? "LDS is modified"
                     : v.op.writes ? "LDS is written"
                                   : "LDS is read";
  const char* what = other.path == Path::kVm ? "transfer into it"
                     : wrote                 ? "store to it"
                                             : "load from it";
  if (other.wave == v.op.wave) {
    text += std::string(" while a ") + what + " is in flight";
  } else if (other.carried) {
    text += std::string(" while a ") + what +
            " is in flight: its wave did not wait for it before the barrier";
  } else {
    text += std::string(" with no barrier after another wave's ") + what;
  }
  const bool race = other.wave != v.op.wave && !other.carried;
  v.wave.RaiseAgainst(race ? FaultKind::kDataRace : FaultKind::kMissingWait,
                      v.lane, address, text.c_str(), other.wave, other.pc);
}

// Puts the stamp of an access on its bytes.
void LdsRaces::Mark(const Op& op, Stamp stamp, uint32_t address,
                    uint32_t bytes) {
  if (op.writes && ((address | bytes) & 3) == 0 &&
      !AnySplit(address / 4, bytes / 4)) {
    std::fill_n(&writer_[address / 4], bytes / 4, stamp);
    return;
  }
  const uint32_t end = address + bytes;
  for (uint32_t at = address; at < end;) {
    const uint32_t dword = at / 4;
    const bool whole = at % 4 == 0 && end - at >= 4;
    if (whole && (op.writes || writer_[dword] != kSplit)) {
      Stamps stamps;
      if (writer_[dword] != kSplit) stamps = Whole(dword);
      Renew(op, stamp, &stamps);
      SetWhole(dword, stamps);
      at += 4;
    } else {
      Renew(op, stamp, Split(dword) + at % 4);
      ++at;
    }
  }
}

void LdsRaces::Renew(const Op& op, Stamp stamp, Stamps* stamps) const {
  if (op.writes) {
    stamps->writer = stamp;
    return;
  }
  if (Foreign(stamps->reader[0], base_, stamp))
    stamps->reader[1] = stamps->reader[0];
  stamps->reader[0] = stamp;
}

LdsRaces::Stamps LdsRaces::Whole(uint32_t dword) const {
  return {writer_[dword], {reader_[dword], reader2_[dword]}};
}

void LdsRaces::SetWhole(uint32_t dword, const Stamps& stamps) {
  writer_[dword] = stamps.writer;
  reader_[dword] = stamps.reader[0];
  reader2_[dword] = stamps.reader[1];
}

bool LdsRaces::AnySplit(uint32_t dword, uint32_t count) const {
  if (bytes_.empty()) return false;
  const auto first = writer_.begin() + dword;
  return std::find(first, first + count, kSplit) != first + count;
}

// The stamps of a dword's four bytes, from now on apart.
LdsRaces::Stamps* LdsRaces::Split(uint32_t dword) {
  if (bytes_.empty()) bytes_.resize(writer_.size() * 4);
  Stamps* at = &bytes_[size_t{dword} * 4];
  if (writer_[dword] != kSplit) {
    std::fill(at, at + 4, Whole(dword));
    writer_[dword] = kSplit;
  }
  return at;
}

}  // namespace ingot::emulator
