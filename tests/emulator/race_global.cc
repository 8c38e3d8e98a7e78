#include "tests/emulator/race_global.h"

#include <algorithm>
#include <string>

namespace ingot::emulator {
namespace {

// Spans of a wave between two barriers. Beyond the second, what was noted is
// forgotten: an epoch that long is not compared as a whole.
constexpr size_t kTidySpans = size_t{1} << 14;
constexpr size_t kMostSpans = size_t{1} << 18;
constexpr size_t kMostOps = size_t{1} << 20;
// Ranges that scalar loads are compared with.
constexpr size_t kMostStored = size_t{1} << 14;
constexpr uint16_t kDcacheInv = 0x20, kDcacheInvVol = 0x22;

}  // namespace

void GlobalRaces::Range::Add(uint64_t b, uint64_t e) {
  begin = std::min(begin, b);
  end = std::max(end, e);
}

bool GlobalRaces::Writes(Kind kind) {
  return kind == Kind::kWrite || kind == Kind::kAtomicWrite;
}

bool GlobalRaces::Conflict(Kind a, Kind b) {
  if (a == Kind::kWrite || b == Kind::kWrite) return true;
  return (a == Kind::kAtomicWrite && b == Kind::kRead) ||
         (b == Kind::kAtomicWrite && a == Kind::kRead);
}

GlobalRaces::GlobalRaces(const SyncLog* sync)
    : Watcher(0, ClassBit(OpClass::kVmem) | ClassBit(OpClass::kLdsDma) |
                     ClassBit(OpClass::kSmem)),
      sync_(*sync) {}

void GlobalRaces::StartGroup(Group& g) {
  spans_.resize(g.waves.size());
  limit_.resize(g.waves.size());
  Forget();
  stored_.clear();
  stored_around_ = Range();
}

void GlobalRaces::Forget() {
  ops_.clear();
  for (auto& spans : spans_) spans.clear();
  std::fill(limit_.begin(), limit_.end(), kTidySpans);
  written_ = Range();
}

void GlobalRaces::After(Wave& w, const Inst& i, const AccessList& accesses) {
  if (i.op->cls == OpClass::kSmem) {
    NoteScalar(w, i, accesses);
    return;
  }
  if (accesses.empty()) return;
  const AccessKind kind = KindOf(*i.op, Space::kGlobal);
  if (spans_.size() == 1 && !kind.writes) return;
  Op op = {w.pc - i.size, sync_.now(), static_cast<uint8_t>(w.index),
           i.op->bytes, kind.writes ? Kind::kWrite : Kind::kRead};
  if ((i.op->flags & kAtomic) != 0 || IsCoherent(i))
    op.kind = kind.writes ? Kind::kAtomicWrite : Kind::kAtomicRead;
  const auto wave = static_cast<size_t>(w.index);
  std::vector<Span>* spans = &spans_[wave];
  const size_t before = spans->size();
  Note(static_cast<uint32_t>(ops_.size()), accesses, spans);
  if (spans->size() == before) return;
  ops_.push_back(op);
  if (kind.writes) NoteStored(*spans, before);
  if (spans->size() < limit_[wave]) return;
  DropCovered(spans);
  limit_[wave] = spans->size() + kTidySpans;
  if (spans->size() > kMostSpans || ops_.size() > kMostOps) Forget();
}

void GlobalRaces::NoteStored(const std::vector<Span>& spans, size_t from) {
  for (size_t n = from; n < spans.size(); ++n) {
    const Span& s = spans[n];
    written_.Add(s.begin, s.end);
    stored_around_.Add(s.begin, s.end);
    if (stored_.size() < kMostStored) stored_.push_back({s.begin, s.end});
  }
}

// Lanes side by side make one span.
void GlobalRaces::Note(uint32_t op, const AccessList& accesses,
                       std::vector<Span>* spans) {
  const size_t before = spans->size();
  const auto add = [=](const Access& a) {
    const uint64_t end = a.address + a.bytes;
    if (spans->size() > before && spans->back().end == a.address) {
      spans->back().end = end;
    } else {
      spans->push_back({a.address, end, op, a.lane});
    }
  };
  const AccessRow* row = accesses.FindRow(Space::kGlobal);
  if (row != nullptr && row->adjoin) {
    spans->push_back({row->low, row->end(), op, 0});
  } else if (row != nullptr) {
    for (uint64_t todo = row->lanes; todo != 0; todo &= todo - 1)
      add((*row)[__builtin_ctzll(todo)]);
  } else if (accesses.rows() == 0) {
    for (const Access& a : accesses) {
      if (a.space == Space::kGlobal) add(a);
    }
  }
}

void GlobalRaces::NoteScalar(Wave& w, const Inst& i,
                             const AccessList& accesses) {
  if (i.op->opcode == kDcacheInv || i.op->opcode == kDcacheInvVol) {
    stored_.clear();
    stored_around_ = Range();
    return;
  }
  for (const Access& a : accesses) {
    const uint64_t end = a.address + a.bytes;
    if (!KindOf(*i.op, Space::kGlobal).reads ||
        !stored_around_.Meets(a.address, end)) {
      continue;
    }
    for (const Range& r : stored_) {
      if (!r.Meets(a.address, end)) continue;
      w.Raise(FaultKind::kDataRace, -1, std::max(a.address, r.begin),
              "a scalar load of what the workgroup stored, with no "
              "s_dcache_inv between");
      return;
    }
  }
}

// Sorts a wave's spans and drops those that one of the same kind covers.
void GlobalRaces::DropCovered(std::vector<Span>* spans) {
  std::sort(spans->begin(), spans->end(), [](const Span& a, const Span& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.end != b.end ? a.end > b.end : a.op < b.op;
  });
  // The last span kept of each kind.
  size_t kept = 0, last[4] = {~size_t{0}, ~size_t{0}, ~size_t{0}, ~size_t{0}};
  for (const Span& s : *spans) {
    size_t& l = last[static_cast<size_t>(ops_[s.op].kind)];
    if (l != ~size_t{0} && s.end <= (*spans)[l].end) continue;
    l = kept;
    (*spans)[kept++] = s;
  }
  spans->resize(kept);
}

void GlobalRaces::Barrier(Group& g) { Compare(g); }
void GlobalRaces::EndGroup(Group& g) { Compare(g); }

void GlobalRaces::Compare(Group& g) {
  all_.clear();
  if (written_.end != 0 && spans_.size() > 1) {
    for (auto& spans : spans_) {
      DropCovered(&spans);
      for (const Span& s : spans) {
        if (written_.Meets(s.begin, s.end)) all_.push_back(s);
      }
    }
  }
  std::sort(all_.begin(), all_.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.op < b.op;
  });
  active_.clear();
  for (const Span& s : all_) {
    std::erase_if(active_, [&s](const Span& a) { return a.end <= s.begin; });
    for (const Span& a : active_) {
      if (Meet(g, a, s)) return;
    }
    active_.push_back(s);
  }
  Forget();
}

// Reports two spans that share bytes, if they must not.
bool GlobalRaces::Meet(Group& g, const Span& a, const Span& b) {
  const bool a_later = a.op > b.op;
  const Op &before = ops_[a_later ? b.op : a.op],
           &after = ops_[a_later ? a.op : b.op];
  const Span& now = a_later ? a : b;
  if (before.wave == after.wave || !Conflict(before.kind, after.kind))
    return false;
  if (sync_.MayOrder(before.wave, before.time, after.wave, after.time))
    return false;
  constexpr const char* kDone[] = {"read", "written", "read", "modified"};
  constexpr const char* kOther[] = {"load from it", "store to it",
                                    "atomic load from it", "atomic on it"};
  const std::string text = std::string("memory is ") +
                           kDone[static_cast<int>(after.kind)] +
                           " with no barrier after another wave's " +
                           kOther[static_cast<int>(before.kind)];
  const uint64_t address = std::max(a.begin, b.begin);
  const int lane =
      now.lane + static_cast<int>((address - now.begin) / after.unit);
  Wave& w = *g.waves[after.wave];
  w.RaiseAgainst(FaultKind::kDataRace, lane, address, text.c_str(), before.wave,
                 before.pc);
  w.fault.pc = after.pc;
  return true;
}

}  // namespace ingot::emulator
