#include "tests/emulator/interp/lanes.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

// The lane a DPP control reads for `lane`, or -1 when that is outside the row
// or the wave.
int DppSource(uint32_t ctrl, int lane) {
  const int row = lane & ~15, at = lane & 15;
  if (ctrl < 0x100)
    return (lane & ~3) | static_cast<int>(ctrl >> (2 * (lane & 3)) & 3);
  const int n = static_cast<int>(ctrl & 15);
  if (ctrl >= 0x101 && ctrl <= 0x10f) return at + n < 16 ? lane + n : -1;
  if (ctrl >= 0x111 && ctrl <= 0x11f) return at - n >= 0 ? lane - n : -1;
  if (ctrl >= 0x121 && ctrl <= 0x12f) return row | ((at - n) & 15);
  if (ctrl >= 0x150 && ctrl <= 0x15f) return row | n;
  switch (ctrl) {
    case 0x130:
      return lane + 1 < kLanes ? lane + 1 : -1;
    case 0x134:
      return (lane + 1) & 63;
    case 0x138:
      return lane - 1;
    case 0x13c:
      return (lane - 1) & 63;
    case 0x140:
      return row | (15 - at);
    case 0x141:
      return (lane & ~7) | (7 - (lane & 7));
    case 0x142:  // lane 15 of the row before; row 0 has none
      return row - 1;
    case 0x143:  // lane 31 into rows 2 and 3
      return lane >= 32 ? 31 : -1;
    default:
      return -1;
  }
}

uint32_t SdwaSelect(uint32_t word, int sel, bool sext) {
  if (sel == 6) return word;
  const int bits = sel < 4 ? 8 : 16;
  const uint32_t field =
      sel < 4 ? word >> (8 * sel) & 0xff : word >> (16 * (sel - 4)) & 0xffff;
  if (!sext) return field;
  return static_cast<uint32_t>(static_cast<int32_t>(field << (32 - bits)) >>
                               (32 - bits));
}

void Select(const Wave& w, const Inst& i, int n, Buffer& out) {
  uint32_t* row = out.w[0];
  if (i.extra == Extra::kDpp && n == 0) {
    const uint64_t exec = w.exec();
    uint32_t from[kLanes];
    std::memcpy(from, row, sizeof(from));
    for (int l = 0; l < kLanes; ++l) {
      const int source = DppSource(i.dpp_ctrl, l);
      row[l] = source >= 0 && (exec >> source & 1) != 0 ? from[source] : 0;
    }
  } else if (i.extra == Extra::kSdwa && n < 2) {
    const bool sext = (i.src_sext >> n & 1) != 0;
    for (int l = 0; l < kLanes; ++l)
      row[l] = SdwaSelect(row[l], i.src_sel[n], sext);
  }
}

void Flush(TypeKind kind, Buffer& b) {
  for (int l = 0; l < kLanes; ++l) {
    uint32_t* lo = &b.w[0][l];
    uint32_t* hi = &b.w[1][l];
    if (kind == TypeKind::kF32 && (*lo & 0x7f800000) == 0) *lo &= 0x80000000;
    if (kind == TypeKind::kF16 && (*lo & 0x7c00) == 0) *lo &= 0xffff8000;
    if (kind == TypeKind::kF64 && (*hi & 0x7ff00000) == 0) {
      *hi &= 0x80000000;
      *lo = 0;
    }
  }
}

template <class T>
void ScaleAndClamp(const Inst& i, Buffer& b) {
  using V = typename T::V;
  const Lanes s{b.w[0], b.w[1]};
  for (int l = 0; l < kLanes; ++l) {
    V v = T::Get(s, l);
    if (i.omod == 1) v *= static_cast<V>(2);
    if (i.omod == 2) v *= static_cast<V>(4);
    if (i.omod == 3) v *= static_cast<V>(0.5);
    if (i.clamp)
      v = v > 0 ? (v < 1 ? v : static_cast<V>(1)) : static_cast<V>(0);
    T::Put(b, l, v);
  }
}

void SdwaMerge(const Wave& w, const Inst& i, uint32_t* row) {
  if (i.dst_sel == 6) return;
  const int bits = i.dst_sel < 4 ? 8 : 16;
  const int shift = i.dst_sel < 4 ? 8 * i.dst_sel : 16 * (i.dst_sel - 4);
  const uint32_t field = (bits == 8 ? 0xffu : 0xffffu) << shift;
  const uint32_t* old = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t placed = row[l] << shift & field;
    uint32_t rest = 0;
    if (i.dst_unused == 2) {
      rest = old[l] & ~field;
    } else if (i.dst_unused == 1 && (row[l] >> (bits - 1) & 1) != 0) {
      rest = shift + bits < 32 ? ~0u << (shift + bits) : 0;
    }
    row[l] = placed | rest;
  }
}

}  // namespace

uint64_t DppWriteMask(const Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  uint64_t mask = 0;
  for (int l = 0; l < kLanes; ++l) {
    if ((i.row_mask >> (l / 16) & 1) == 0 ||
        (i.bank_mask >> (l % 16 / 4) & 1) == 0)
      continue;
    const int source = DppSource(i.dpp_ctrl, l);
    const bool valid = source >= 0 && (exec >> source & 1) != 0;
    if (valid || i.bound_ctrl) mask |= uint64_t{1} << l;
  }
  return mask;
}

void ModifySource(const Wave& w, const Inst& i, int n, TypeKind kind,
                  Buffer& buffer, Lanes* s) {
  const bool wide = kind == TypeKind::kInt64 || kind == TypeKind::kF64;
  if (s->lo != buffer.w[0]) {
    std::memcpy(buffer.w[0], s->lo, sizeof(buffer.w[0]));
    if (wide) std::memcpy(buffer.w[1], s->hi, sizeof(buffer.w[1]));
    *s = {buffer.w[0], buffer.w[1]};
  }
  Select(w, i, n, buffer);
  if (wide && i.extra == Extra::kDpp && n == 0) {
    Buffer high;
    std::memcpy(high.w[0], buffer.w[1], sizeof(high.w[0]));
    Select(w, i, n, high);
    std::memcpy(buffer.w[1], high.w[0], sizeof(high.w[0]));
  }
  const bool half = kind == TypeKind::kF16 || kind == TypeKind::kInt16;
  if (half && (i.op_sel >> n & 1) != 0) {
    for (int l = 0; l < kLanes; ++l) buffer.w[0][l] >>= 16;
  }
  const bool is_float = kind == TypeKind::kF16 || kind == TypeKind::kF32 ||
                        kind == TypeKind::kF64;
  if (is_float) {
    if (Flushes(w, kind)) Flush(kind, buffer);
    uint32_t* row = kind == TypeKind::kF64 ? buffer.w[1] : buffer.w[0];
    const uint32_t sign = kind == TypeKind::kF16 ? 0x8000u : 0x80000000u;
    const uint32_t keep = (i.abs >> n & 1) != 0 ? ~sign : ~0u;
    const uint32_t flip = (i.neg >> n & 1) != 0 ? sign : 0;
    for (int l = 0; l < kLanes; ++l) row[l] = (row[l] & keep) ^ flip;
  }
}

void FinishResult(const Wave& w, const Inst& i, TypeKind kind, Buffer& result,
                  uint64_t* mask) {
  if (Flushes(w, kind)) Flush(kind, result);
  if (i.omod != 0 || i.clamp) {
    if (kind == TypeKind::kF32) ScaleAndClamp<F32>(i, result);
    if (kind == TypeKind::kF16) ScaleAndClamp<F16>(i, result);
    if (kind == TypeKind::kF64) ScaleAndClamp<F64>(i, result);
  }
  const bool half = kind == TypeKind::kF16 || kind == TypeKind::kInt16;
  const uint32_t* old = w.v[i.dst];
  if (half && (i.op_sel & 8) != 0) {
    for (int l = 0; l < kLanes; ++l) {
      result.w[0][l] = (old[l] & 0xffff) | result.w[0][l] << 16;
    }
  } else if (half && (i.op->flags & kPreservesHigh) != 0) {
    for (int l = 0; l < kLanes; ++l) {
      result.w[0][l] = (old[l] & 0xffff0000) | (result.w[0][l] & 0xffff);
    }
  }
  if (i.extra == Extra::kSdwa) SdwaMerge(w, i, result.w[0]);
  if (i.extra == Extra::kDpp) *mask &= DppWriteMask(w, i);
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
