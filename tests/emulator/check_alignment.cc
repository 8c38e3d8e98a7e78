#include "tests/emulator/check_alignment.h"

#include <algorithm>

#include "tests/emulator/wave.h"

namespace ingot::emulator {
namespace {

uint32_t OffBy(const Access& a, uint32_t most) {
  const uint32_t unit = std::min<uint32_t>(a.bytes, most);
  return static_cast<uint32_t>(a.address) & (unit - 1) & 3;
}

bool MayBeOff(const AccessList& accesses, bool transposing) {
  if (accesses.rows() != 0) {
    uint32_t any = 0;
    for (int n = 0; n < accesses.rows(); ++n) {
      const AccessRow& row = accesses.row(n);
      any |= row.bits & (std::min<uint32_t>(row.bytes, 4) - 1);
    }
    return any != 0;
  }
  uint32_t any = 0;
  for (const Access& a : accesses) {
    any |= OffBy(a, 4);
    if (transposing) any |= static_cast<uint32_t>(a.address) & 7;
  }
  return any != 0;
}

}  // namespace

void AlignmentCheck::Before(Wave& w, const Inst& i) {
  if (i.op->src_words[0] == 0) return;
  const Operand& offset = i.src[0];
  const uint32_t low =
      w.s[i.saddr] | static_cast<uint32_t>(i.imm) |
      (offset.kind == Operand::kSgpr ? w.s[offset.reg]
                                     : static_cast<uint32_t>(offset.value));
  if ((low & 3) == 0) return;
  w.Raise(FaultKind::kMisaligned, -1, w.S64(i.saddr),
          "a scalar access drops the low two bits of its base and its offset");
}

void AlignmentCheck::After(Wave& w, const Inst& i, const AccessList& accesses) {
  const bool transposing = IsTransposingRead(*i.op);
  if (!MayBeOff(accesses, transposing)) return;
  for (const Access& a : accesses) {
    const bool moved = i.op->cls == OpClass::kLdsDma && a.space == Space::kLds;
    if (moved && a.address % 4 != 0) {
      w.Raise(FaultKind::kMisaligned, a.lane, a.address,
              "a transfer drops the low two bits of its LDS address");
      return;
    }
    if (transposing && a.address % (i.op->dst_words == 2 ? 8 : 4) != 0) {
      w.Raise(FaultKind::kMisaligned, a.lane, a.address,
              "a transposing read needs an aligned address");
      return;
    }
    if (OffBy(a, 4) == 0) continue;
    const AccessKind kind = KindOf(*i.op, a.space);
    w.misaligned_loads += kind.reads;
    w.misaligned_stores += kind.writes;
  }
}

}  // namespace ingot::emulator
