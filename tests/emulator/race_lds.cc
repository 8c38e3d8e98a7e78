#include "tests/emulator/race_lds.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/emulator/launch.h"
#include "tests/emulator/race_poll.h"

namespace ingot::emulator {
namespace {

constexpr int32_t kPathBit = 16;
constexpr int32_t kLastSerial = (1 << 25) - 1;
// An epoch with more LDS instructions than this is cut: what lies before the
// cut counts as ordered.
constexpr size_t kEpochLimit = size_t{1} << 20;

bool IsFlat(const Inst& i) {
  return i.words[0] >> 26 == 0x37 && (i.words[0] >> 14 & 3) == 0;
}

}  // namespace

LdsRaces::LdsRaces(SyncLog* sync, bool waits)
    : Watcher(0, kVectorMemoryClasses), sync_(sync), waits_(waits) {}

void LdsRaces::StartGroup(Group& g) {
  stamps_.Resize(g.lds_bytes);
  if (sync_ != nullptr) seen_.assign(g.lds, g.lds + g.lds_bytes);
  flights_.resize(2 * g.waves.size());
  for (auto& flights : flights_) flights.clear();
  NewEpoch(g);
}

std::deque<std::unique_ptr<LdsRaces::Flight>>& LdsRaces::Flights(int wave,
                                                                 Path path) {
  return flights_[2 * static_cast<size_t>(wave) + static_cast<size_t>(path)];
}

bool LdsRaces::Polls(const Wave& w, const Inst& i, uint64_t pc) {
  if (i.index >= polls_.size()) polls_.resize(i.index + 64, -1);
  int8_t& polls = polls_[i.index];
  if (polls < 0) polls = IsPoll(*w.launch->program, pc);
  return polls != 0;
}

LdsRaces::Stamp LdsRaces::NewStamp(const Op& op) {
  const int32_t serial = first_ + static_cast<int32_t>(ops_.size());
  ops_.push_back(op);
  return serial << LdsStamps::kWhoBits | (op.path == Path::kVm ? kPathBit : 0) |
         op.wave;
}

const LdsRaces::Op& LdsRaces::OpOf(Stamp stamp) const {
  return ops_[static_cast<size_t>((stamp >> LdsStamps::kWhoBits) - first_)];
}

// Everything so far is ordered before what comes, except what is in flight.
void LdsRaces::NewEpoch(Group& g) {
  first_ += static_cast<int32_t>(ops_.size());
  if (static_cast<size_t>(kLastSerial - first_) < 2 * kEpochLimit) {
    first_ = 1;
    stamps_.Forget();
  }
  ops_.clear();
  stamps_.SetBase(first_ << LdsStamps::kWhoBits);
  for (Wave* w : g.waves) {
    Carry(*w, Path::kLds);
    Carry(*w, Path::kVm);
  }
}

void LdsRaces::Carry(Wave& w, Path path) {
  DropFlights(w, path);
  for (auto& flight : Flights(w.index, path)) {
    flight->op.carried = true;
    const Stamp stamp = NewStamp(flight->op);
    for (const Span& s : flight->spans)
      stamps_.Mark(s.address, s.bytes, flight->op.writes, stamp);
  }
}

void LdsRaces::Barrier(Group& g) { NewEpoch(g); }

void LdsRaces::After(Wave& w, const Inst& i, const AccessList& accesses) {
  const bool dma = i.op->cls == OpClass::kLdsDma;
  if (i.op->cls == OpClass::kVmem && !IsFlat(i)) return;
  if (accesses.empty()) return;
  if (accesses.rows() != 0 && accesses.FindRow(Space::kLds) == nullptr) return;
  if (ops_.size() >= kEpochLimit) NewEpoch(*w.group);
  Op op;
  op.pc = w.pc - i.size;
  op.path = dma ? Path::kVm : Path::kLds;
  op.number = w.waits.issued(op.path);
  op.time = sync_ != nullptr ? sync_->now() : 0;
  op.wave = static_cast<uint8_t>(w.index);
  const AccessKind kind = KindOf(*i.op, Space::kLds);
  op.writes = kind.writes;
  op.stores = kind.writes && !kind.reads;
  op.atomic = (i.op->flags & kAtomic) != 0;
  op.polls = sync_ != nullptr && !op.writes && Polls(w, i, op.pc);
  if (!VisitAll(w, op, accesses)) return;
  if (op.writes && !seen_.empty()) See(w, accesses);
  KeepFlight(w, op, accesses);
}

bool LdsRaces::VisitAll(Wave& w, const Op& op, const AccessList& accesses) {
  const Stamp stamp = NewStamp(op);
  const AccessRow* row = accesses.FindRow(Space::kLds);
  if (row != nullptr && stamps_.TryRow(*row, op.writes, stamp)) return true;
  for (const Access& a : accesses) {
    if (a.space != Space::kLds) continue;
    const uint32_t address = static_cast<uint32_t>(a.address);
    if (stamps_.TrySpan(address, a.bytes, op.writes, stamp)) continue;
    if (!Visit({w, op, stamp, a.lane}, address, a.bytes)) return false;
  }
  return true;
}

// Those that were not waited for stay.
void LdsRaces::DropFlights(const Wave& w, Path path) {
  auto& flights = Flights(w.index, path);
  while (!flights.empty() && flights.front()->op.number <= w.waits.done(path)) {
    spare_.push_back(std::move(flights.front()));
    flights.pop_front();
  }
}

void LdsRaces::KeepFlight(const Wave& w, const Op& op,
                          const AccessList& accesses) {
  DropFlights(w, op.path);
  if (spare_.empty()) spare_.push_back(std::make_unique<Flight>());
  std::unique_ptr<Flight> flight = std::move(spare_.back());
  spare_.pop_back();
  flight->op = op;
  std::vector<Span>& spans = flight->spans;
  spans.clear();
  const auto add = [&spans](uint64_t at, uint32_t bytes) {
    const auto address = static_cast<uint32_t>(at);
    if (!spans.empty() &&
        spans.back().address + spans.back().bytes == address) {
      spans.back().bytes += bytes;
    } else {
      spans.push_back({address, bytes});
    }
  };
  const AccessRow* row = accesses.FindRow(Space::kLds);
  if (row != nullptr && row->adjoin) {
    add(row->low, row->bytes * uint32_t{kLanes});
  } else if (row != nullptr) {
    // Lanes that are off stand for one that is on: it does no harm twice.
    spans.resize(kLanes);
    for (size_t l = 0; l < kLanes; ++l)
      spans[l] = {static_cast<uint32_t>(row->at[l]), row->bytes};
  } else {
    for (const Access& a : accesses) {
      if (a.space == Space::kLds) add(a.address, a.bytes);
    }
  }
  Flights(w.index, op.path).push_back(std::move(flight));
}

// Brings seen_ up to date.
void LdsRaces::See(const Wave& w, const AccessList& accesses) {
  const uint8_t* lds = w.group->lds;
  const AccessRow* row = accesses.FindRow(Space::kLds);
  if (row != nullptr && row->adjoin) {
    std::memcpy(&seen_[row->low], lds + row->low, row->end() - row->low);
    return;
  }
  for (const Access& a : accesses) {
    if (a.space == Space::kLds)
      std::memcpy(&seen_[a.address], lds + a.address, a.bytes);
  }
}

// Whether a store put there what another wave's store had put there before.
bool LdsRaces::Repeats(const Visitor& v, Stamp writer, uint32_t address,
                       uint32_t bytes) const {
  if (!v.op.stores || seen_.empty() || !stamps_.Foreign(writer, v.stamp))
    return false;
  const Op& other = OpOf(writer);
  return other.stores && other.wave != v.op.wave && !other.carried &&
         std::memcmp(&seen_[address], v.wave.group->lds + address, bytes) == 0;
}

bool LdsRaces::Visit(const Visitor& v, uint32_t address, uint32_t bytes) {
  const bool clean =
      stamps_.ForEach(address, bytes,
                      [&](const LdsStamps::Entry& entry, uint32_t at,
                          uint32_t part) { return Check(v, entry, at, part); });
  if (clean) stamps_.Mark(address, bytes, v.op.writes, v.stamp);
  return clean;
}

bool LdsRaces::Check(const Visitor& v, const LdsStamps::Entry& entry,
                     uint32_t address, uint32_t bytes) {
  if (!Repeats(v, entry.writer, address, bytes) &&
      !CheckOne(v, entry.writer, address)) {
    return false;
  }
  return !v.op.writes || (CheckOne(v, entry.reader[0], address) &&
                          CheckOne(v, entry.reader[1], address));
}

bool LdsRaces::CheckOne(const Visitor& v, Stamp stamp, uint32_t address) {
  if (!stamps_.Foreign(stamp, v.stamp)) return true;
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
  Report(v, other, address);
  return false;
}

void LdsRaces::Report(const Visitor& v, const Op& other, uint32_t address) {
  std::string text = v.op.atomic   ? "LDS is modified"
                     : v.op.writes ? "LDS is written"
                                   : "LDS is read";
  const char* what = other.path == Path::kVm ? "transfer into it"
                     : other.writes          ? "store to it"
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

}  // namespace ingot::emulator
