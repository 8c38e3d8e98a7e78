// Undefined bits between registers and memory, and in addresses.
#include <cstring>
#include <string_view>

#include "tests/emulator/taint_check.h"

namespace ingot::emulator::taint {
namespace {

// ---- Addresses ----

void NeedDefined(const Step& s, int sgpr, uint32_t undef, const char* what) {
  if (undef == 0) return;
  s.Report(FaultKind::kUndefinedAddress, -1, 0, kSgprSpace + sgpr, what);
}

// The registers from `reg` on, in the lanes that access memory.
void NeedDefinedLanes(const Step& s, int reg, int count, const char* what) {
  for (int n = 0; n < count; ++n) {
    const uint64_t lanes = s.regs.Lanes(reg + n) & s.exec();
    if (lanes == 0) continue;
    s.Report(FaultKind::kUndefinedAddress, __builtin_ctzll(lanes), 0, reg + n,
             what);
    return;
  }
}

void NeedDefinedOperand(const Step& s, const Operand& o, const char* what) {
  if (o.kind == Operand::kSgpr)
    NeedDefined(s, o.reg, s.regs.GetScalar(o.reg), what);
}

// Which bits of a buffer resource's dwords are used; formats are where an
// instruction converts.
constexpr uint32_t kResourceBits[4] = {~0u, ~0u, ~0u, 0xe78000};

void NeedDefinedResource(const Step& s) {
  for (int n = 0; n < 4; ++n) {
    const int sgpr = s.inst.saddr + n;
    const uint32_t used = s.plan.rule->formatted ? ~0u : kResourceBits[n];
    NeedDefined(s, sgpr, s.regs.GetScalar(sgpr) & used, "the buffer resource");
  }
}

void CheckScalarAddress(const Step& s) {
  if (s.inst.op->src_words[0] == 4) {
    NeedDefinedResource(s);
  } else {
    for (int n = 0; n < s.inst.op->src_words[0]; ++n) {
      NeedDefined(s, s.inst.saddr + n, s.regs.GetScalar(s.inst.saddr + n),
                  "the address");
    }
  }
  NeedDefinedOperand(s, s.inst.src[0], "the offset");
}

void CheckLdsAddress(const Step& s) {
  if ((s.inst.op->flags & kNoAddress) == 0)
    NeedDefinedLanes(s, s.inst.src[0].reg, 1, "the LDS address");
  if ((s.inst.op->flags & kReadsM0) != 0)
    NeedDefined(s, kM0, s.regs.GetScalar(kM0) & 0xffff, "the LDS address");
}

void CheckVectorAddress(const Step& s) {
  const Inst& i = s.inst;
  if ((i.op->flags & kLdsDest) != 0)
    NeedDefined(s, kM0, s.regs.GetScalar(kM0) & 0x3ffff, "the LDS address");
  const int reg = i.src[0].reg;
  if (s.plan.form == Form::kBuffer) {
    NeedDefinedLanes(s, reg, i.offen + i.idxen, "the address");
    NeedDefinedResource(s);
    NeedDefinedOperand(s, i.src[1], "the offset");
    return;
  }
  const bool scalar = i.saddr != kNoSaddr;
  if (s.plan.form == Form::kScratch) {
    if (i.sve) NeedDefinedLanes(s, reg, 1, "the address");
    if (scalar)
      NeedDefined(s, i.saddr, s.regs.GetScalar(i.saddr), "the address");
    return;
  }
  NeedDefinedLanes(s, reg, scalar ? 1 : 2, "the address");
  for (int n = 0; scalar && n < 2; ++n) {
    NeedDefined(s, i.saddr + n, s.regs.GetScalar(i.saddr + n), "the address");
  }
}

// ---- Data ----

constexpr int kMostBytes = 64;  // of a scalar load

// The undefined bits of one lane's data: dwords, or a part of one.
struct Data {
  uint8_t bytes[kMostBytes] = {};
  int count = 0;

  uint32_t Word(int n) const {
    uint32_t word;
    std::memcpy(&word, bytes + 4 * n, 4);
    return word;
  }
  void SetWord(int n, uint32_t word) { std::memcpy(bytes + 4 * n, &word, 4); }
  bool Any(int from, int size) const {
    for (int n = from; n < from + size; ++n) {
      if (bytes[n] != 0) return true;
    }
    return false;
  }
};

// Conversions by a buffer's format mix all that a lane moves.
void MixFormatted(const Step& s, Data* data) {
  if (s.plan.rule->formatted && data->Any(0, kMostBytes))
    std::memset(data->bytes, 0xff, kMostBytes);
}

// What a load of less than a dword makes of a register.
uint32_t Widened(const Rule& rule, const Data& data, uint32_t old) {
  const int bits = rule.narrow_bits;
  const uint32_t raw = data.Word(0) & static_cast<uint32_t>(Mask(bits));
  const bool sext = rule.narrow == Narrow::kSigned || rule.extends;
  const uint32_t wide =
      sext ? static_cast<uint32_t>(SignExtend(raw, bits)) : raw;
  if (rule.narrow == Narrow::kLow) return (old & 0xffff0000) | (wide & 0xffff);
  if (rule.narrow == Narrow::kHigh) return (old & 0xffff) | wide << 16;
  return wide;
}

// The register that holds dword n of a lane's data to store.
int DataRegister(const Inst& i, int n) {
  const int words = i.op->src_words[1];
  return n < words ? i.data + n : i.data1 + n - words;
}
// How many dwords those are.
int DataWords(const Inst& i) {
  const bool two = i.op->cls == OpClass::kLds && (i.op->flags & kTwoData) != 0;
  return i.op->src_words[1] * (two ? 2 : 1);
}

Data StoredData(const Step& s, int lane) {
  Data data;
  const Inst& i = s.inst;
  for (int n = 0; n < DataWords(i); ++n) {
    uint32_t undef = lane >= 0 ? s.regs.Get(DataRegister(i, n), lane)
                               : s.regs.GetScalar(i.data + n);
    if (s.plan.rule->narrow == Narrow::kHigh) undef >>= 16;
    data.SetWord(n, undef);
  }
  MixFormatted(s, &data);
  return data;
}

bool DataDefined(const Step& s) {
  const Inst& i = s.inst;
  if (s.plan.rule->how == How::kScalarMemory)
    return !s.regs.Any(
        {static_cast<uint16_t>(kSgprSpace + i.data), i.op->src_words[1]});
  for (int n = 0; n < DataWords(i); ++n) {
    const int reg = DataRegister(i, n);
    if (s.regs.Any(reg) && (s.regs.Lanes(reg) & s.exec()) != 0) return false;
  }
  return true;
}

void ReportStore(const Step& s, const Access& a, const uint8_t* undef) {
  uint32_t first = 0;
  while (first + 1 < a.bytes && undef[first] == 0) ++first;
  const Inst& i = s.inst;
  int reg = kSgprSpace + i.data;
  if (a.lane >= 0) {
    reg = i.data;
    for (int n = 0; n < DataWords(i); ++n) {
      if (s.regs.Get(DataRegister(i, n), a.lane) == 0) continue;
      reg = DataRegister(i, n);
      break;
    }
  }
  s.Report(FaultKind::kUndefinedOutput, a.lane, a.address + first, reg,
           "stored");
}

// What an atomic stores depends on its data and on what stood there.
void ReportAtomic(const Step& s, const Access& a, const Data& old) {
  const Inst& i = s.inst;
  for (int n = 0; n < DataWords(i); ++n) {
    const int reg = a.lane >= 0 ? DataRegister(i, n) : kSgprSpace + i.data + n;
    const uint32_t undef =
        a.lane >= 0 ? s.regs.Get(reg, a.lane) : s.regs.GetScalar(i.data + n);
    if (undef == 0) continue;
    s.Report(FaultKind::kUndefinedOutput, a.lane, a.address, reg, "stored");
    return;
  }
  uint32_t first = 0;
  while (first + 1 < a.bytes && old.bytes[first] == 0) ++first;
  s.wave.Raise(FaultKind::kUndefinedOutput, a.lane, a.address + first,
               "an atomic changes memory that was not written before");
}

// Writes the registers that a load fills.
void WriteLoaded(const Step& s, int lane, const Data& data) {
  const Inst& i = s.inst;
  const Rule& rule = *s.plan.rule;
  for (int n = 0; n < i.op->dst_words; ++n) {
    const uint32_t undef =
        rule.narrow == Narrow::kNone
            ? data.Word(n)
            : Widened(rule, data, lane >= 0 ? s.regs.Get(i.dst, lane) : 0);
    if (lane < 0) {
      s.regs.SetScalar(i.dst + n, undef);
    } else {
      s.regs.Set(i.dst + n, lane, undef);
    }
  }
}

void Transpose(const Step& s, const Data* in);

// The first undefined access becomes the origin of all that was loaded.
void NoteOrigin(const Step& s, const AccessList& accesses) {
  for (const Access& a : accesses) {
    if (!KindOf(*s.inst.op, a.space).reads || !s.memory.Undefined(s.wave, a))
      continue;
    const uint32_t origin =
        s.memory.AddOrigin({a.space, a.address, s.wave.pc - s.inst.size});
    const int base = s.plan.rule->how == How::kScalarMemory ? kSgprSpace : 0;
    for (int n = 0; n < s.inst.op->dst_words; ++n)
      s.regs.set_origin(base + s.inst.dst + n, origin);
    return;
  }
}

constexpr uint32_t kAllSpaces = ~0u, kLdsOnly = SpaceBit(Space::kLds);

bool AnyUndefined(const Step& s, const AccessList& accesses) {
  const bool to_lds = (s.inst.op->flags & kLdsDest) != 0;
  return s.memory.AnyUndefined(s.wave, accesses,
                               to_lds ? ~kLdsOnly : kAllSpaces);
}

// All active lanes' registers are defined, but for what d16 forms keep.
void DefineLoaded(const Step& s) {
  const Inst& i = s.inst;
  const Narrow narrow = s.plan.rule->narrow;
  if (narrow == Narrow::kLow || narrow == Narrow::kHigh) {
    if (!s.regs.Any(i.dst)) return;
    const Data none;
    for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1)
      WriteLoaded(s, __builtin_ctzll(todo), none);
    return;
  }
  for (int n = 0; n < s.plan.writes_count; ++n)
    s.regs.Define(s.plan.writes[n], s.exec());
}

// Gathers what each lane read; places past a buffer's end read 0.
void Gather(const Step& s, const AccessList& accesses, Data* lanes,
            Data* scalar) {
  for (const Access& a : accesses) {
    Data& d = a.lane >= 0 ? lanes[a.lane] : *scalar;
    if (d.count + a.bytes > kMostBytes) continue;
    s.memory.Load(s.wave, a, d.bytes + d.count);
    d.count += a.bytes;
  }
}

void Load(const Step& s, const AccessList& accesses) {
  if (!AnyUndefined(s, accesses)) return DefineLoaded(s);
  NoteOrigin(s, accesses);
  Data lanes[kLanes], scalar;
  Gather(s, accesses, lanes, &scalar);
  if (s.plan.rule->how == How::kScalarMemory) return WriteLoaded(s, -1, scalar);
  if (s.plan.rule->transpose != 0) return Transpose(s, lanes);
  for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    MixFormatted(s, &lanes[l]);
    WriteLoaded(s, l, lanes[l]);
  }
}

void Store(const Step& s, const AccessList& accesses) {
  if (DataDefined(s))
    return s.memory.StoreDefined(s.wave, accesses, kAllSpaces);
  Data data;
  int lane = -2, at = 0;
  for (const Access& a : accesses) {
    if (a.lane != lane) {
      lane = a.lane;
      at = 0;
      data = StoredData(s, lane);
    }
    if (a.space == Space::kGlobal && data.Any(at, a.bytes))
      return ReportStore(s, a, data.bytes + at);
    s.memory.Store(s.wave, a, data.bytes + at);
    at += a.bytes;
  }
}

// Two places of LDS exchange with registers.
void ExchangeTwo(const Step& s, const AccessList& accesses) {
  Data in[kLanes], none;
  NoteOrigin(s, accesses);
  Gather(s, accesses, in, &none);
  Store(s, accesses);
  for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    WriteLoaded(s, l, in[l]);
  }
}

bool Replaces(const OpInfo& op) {
  const std::string_view name = op.name;
  return name.find("atomic_swap") != name.npos ||
         name.find("ds_wrxchg") != name.npos;
}

void Atomic(const Step& s, const AccessList& accesses) {
  const Inst& i = s.inst;
  const bool returns = i.writes_count > 0;
  const bool replaces = Replaces(*i.op);
  const bool clean = DataDefined(s);
  if (returns) DefineLoaded(s);
  if (clean && !AnyUndefined(s, accesses))
    return s.memory.StoreDefined(s.wave, accesses, kAllSpaces);
  // The values to store stand in registers that the old ones may overwrite.
  Data stored[kLanes], scalar;
  for (int l = 0; l < kLanes; ++l) {
    if ((s.exec() >> l & 1) != 0) stored[l] = StoredData(s, l);
  }
  if (s.plan.rule->how == How::kScalarMemory) scalar = StoredData(s, -1);
  if (returns) NoteOrigin(s, accesses);
  for (const Access& a : accesses) {
    const Data& data = a.lane >= 0 ? stored[a.lane] : scalar;
    Data old, next;
    s.memory.Load(s.wave, a, old.bytes);
    if (replaces) {
      next = data;
    } else if (old.Any(0, a.bytes) || data.Any(0, 4 * DataWords(i))) {
      std::memset(next.bytes, 0xff, a.bytes);
    }
    if (a.space == Space::kGlobal && next.Any(0, a.bytes))
      return ReportAtomic(s, a, old);
    s.memory.Store(s.wave, a, next.bytes);
    if (!returns) continue;
    if (a.lane >= 0 || s.plan.rule->how == How::kScalarMemory) {
      WriteLoaded(s, a.lane, old);
      continue;
    }
    // ds_append and ds_consume: one place, all lanes.
    for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1)
      WriteLoaded(s, __builtin_ctzll(todo), old);
  }
}

// Each lane has at most one read of memory, and then its place in LDS.
void Transfer(const Step& s, const AccessList& accesses) {
  if (!AnyUndefined(s, accesses))
    return s.memory.StoreDefined(s.wave, accesses, kLdsOnly);
  Data data;
  for (const Access& a : accesses) {
    if (a.space != Space::kLds) {
      data = Data();
      s.memory.Load(s.wave, a, data.bytes);
      MixFormatted(s, &data);
      if (s.plan.rule->narrow != Narrow::kNone)
        data.SetWord(0, Widened(*s.plan.rule, data, 0));
      continue;
    }
    s.memory.Store(s.wave, a, data.bytes);
    data = Data();
  }
}

// As the transposing reads move their elements: 16 lanes load a tile, and lane
// c of them receives column c.
void Transpose(const Step& s, const Data* in) {
  const int bits = s.plan.rule->transpose;
  const int words = s.inst.op->dst_words;
  const int per_lane = 32 * words / bits;
  const int lanes_per_row = 16 / per_lane > 0 ? 16 / per_lane : 1;
  for (uint64_t todo = s.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const int group = l & ~15, column = l & 15;
    uint64_t out[2] = {0, 0};
    for (int row = 0; row < per_lane; ++row) {
      const Data& from = in[group + row * lanes_per_row + column / per_lane];
      const int bit = column % per_lane * bits;
      uint64_t two;
      std::memcpy(&two, from.bytes + bit / 32 * 4, 8);
      const uint64_t element = two >> (bit % 32) & Mask(bits);
      const int to = row * bits;
      out[to / 64] |= element << (to % 64);
      if (to % 64 + bits > 64) out[1] |= element >> (64 - to % 64);
    }
    for (int n = 0; n < words; ++n) {
      s.regs.Set(s.inst.dst + n, l,
                 static_cast<uint32_t>(out[n / 2] >> (32 * (n % 2))));
    }
  }
}

}  // namespace

void CheckAddress(const Step& s) {
  const How how = s.plan.rule->how;
  if (how == How::kScalarMemory) return CheckScalarAddress(s);
  if (s.exec() == 0) return;
  how == How::kLds ? CheckLdsAddress(s) : CheckVectorAddress(s);
}

void MoveMemory(const Step& s, const AccessList& accesses) {
  const uint32_t flags = s.inst.op->flags;
  if ((flags & kLdsDest) != 0) return Transfer(s, accesses);
  if ((flags & kAtomic) != 0) return Atomic(s, accesses);
  if ((flags & kStore) == 0) return Load(s, accesses);
  (flags & kReturns) != 0 ? ExchangeTwo(s, accesses) : Store(s, accesses);
}

}  // namespace ingot::emulator::taint
