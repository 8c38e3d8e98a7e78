#include "tests/emulator/interp/lanes.h"

#include "tests/emulator/lane_order.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

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

// MODE's denormal field of a type: bit 0 allows denormal sources, bit 1
// results.
uint32_t DenormMode(const Wave& w, TypeKind kind) {
  if (kind == TypeKind::kF32) return w.mode >> 4 & 3;
  if (kind == TypeKind::kF16 || kind == TypeKind::kF64) return w.mode >> 6 & 3;
  return 3;
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

// DX10_CLAMP makes 0 of a clamped NaN; without it the NaN stays.
constexpr uint32_t kModeDx10Clamp = 1u << 8;

template <class T>
void ScaleAndClamp(const Wave& w, const Inst& i, Buffer& b) {
  const bool keep_nan = (w.mode & kModeDx10Clamp) == 0;
  using V = typename T::V;
  const Lanes s{b.w[0], b.w[1]};
  for (int l = 0; l < kLanes; ++l) {
    V v = T::Get(s, l);
    if (i.omod == 1) v *= static_cast<V>(2);
    if (i.omod == 2) v *= static_cast<V>(4);
    if (i.omod == 3) v *= static_cast<V>(0.5);
    if (i.clamp && !(keep_nan && v != v))
      v = v > 0 ? (v < 1 ? v : static_cast<V>(1)) : static_cast<V>(0);
    T::Put(b, l, v);
  }
}

void SdwaMerge(const Wave& w, const Inst& i, uint32_t* row) {
  if (i.dst_sel >= 6) return;  // the dword, or reserved
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
  return DppLanes(i, w.exec());
}

void ModifySource(const Wave& w, const Inst& i, int n, TypeKind kind,
                  Buffer& buffer, Lanes* s) {
  const bool wide = kind == TypeKind::kInt64 || kind == TypeKind::kF64 ||
                    kind == TypeKind::kBits64;
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
  const bool half = kind == TypeKind::kF16 || kind == TypeKind::kInt16 ||
                    kind == TypeKind::kBits16;
  if (half && (i.op_sel >> n & 1) != 0) {
    for (int l = 0; l < kLanes; ++l) buffer.w[0][l] >>= 16;
  }
  const bool integer = kind == TypeKind::kInt32 || kind == TypeKind::kInt16 ||
                       kind == TypeKind::kInt64;
  if (!integer) {
    if ((DenormMode(w, kind) & 1) == 0) Flush(kind, buffer);
    uint32_t* row = wide ? buffer.w[1] : buffer.w[0];
    const uint32_t sign = half ? 0x8000u : 0x80000000u;
    const uint32_t keep = (i.abs >> n & 1) != 0 ? ~sign : ~0u;
    const uint32_t flip = (i.neg >> n & 1) != 0 ? sign : 0;
    for (int l = 0; l < kLanes; ++l) row[l] = (row[l] & keep) ^ flip;
  }
}

void FinishResult(const Wave& w, const Inst& i, TypeKind kind, Buffer& result,
                  uint64_t* mask) {
  if ((DenormMode(w, kind) & 2) == 0) Flush(kind, result);
  if (i.omod != 0 || i.clamp) {
    if (kind == TypeKind::kF32) ScaleAndClamp<F32>(w, i, result);
    if (kind == TypeKind::kF16) ScaleAndClamp<F16>(w, i, result);
    if (kind == TypeKind::kF64) ScaleAndClamp<F64>(w, i, result);
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
