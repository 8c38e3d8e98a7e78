// Buffer accesses that convert formats: MTBUF, and MUBUF's format forms.
//
// MTBUF's data and number formats are in the instruction, MUBUF's in the
// resource, which also says which component goes where. Data formats are named
// from the high end: 10_11_11 has 11 bits of x lowest.
#include <cmath>

#include "tests/emulator/interp/buffer.h"
#include "tests/emulator/interp/dma.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

enum NumberFormat : uint32_t {
  kUnorm = 0,
  kSnorm = 1,
  kUscaled = 2,
  kSscaled = 3,
  kUint = 4,
  kSint = 5,
  kFloat = 7
};

struct DataFormat {
  uint8_t bits[4];  // of x, y, z, w; 0 where there is none
  constexpr int total() const { return bits[0] + bits[1] + bits[2] + bits[3]; }
};
constexpr DataFormat kFormats[16] = {{},
                                     {{8}},
                                     {{16}},
                                     {{8, 8}},
                                     {{32}},
                                     {{16, 16}},
                                     {{11, 11, 10}},
                                     {{10, 11, 11}},
                                     {{2, 10, 10, 10}},
                                     {{10, 10, 10, 2}},
                                     {{8, 8, 8, 8}},
                                     {{32, 32}},
                                     {{16, 16, 16, 16}},
                                     {{32, 32, 32}},
                                     {{32, 32, 32, 32}},
                                     {}};

constexpr Mini kFloat11{5, 6, 15, Mini::kIeee}, kFloat10{5, 5, 15, Mini::kIeee};

float FloatField(uint32_t code, int bits) {
  // 10 and 11 bits have no sign.
  if (bits == 10) return DecodeMini<kFloat10>(code);
  if (bits == 11) return DecodeMini<kFloat11>(code);
  return bits == 16 ? HalfToFloat(code) : FloatOf(code);
}

bool IsInteger(uint32_t format) { return format == kUint || format == kSint; }

uint32_t FieldMax(int bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }
int32_t SignExtend(uint32_t code, int bits) {
  return static_cast<int32_t>(code << (32 - bits)) >> (32 - bits);
}

// A component as the register receives it: an integer or an f32.
uint32_t FromField(uint32_t code, int bits, uint32_t format) {
  if (bits == 32) return code;
  const float as_signed = static_cast<float>(SignExtend(code, bits));
  switch (format) {
    case kUnorm:
      return BitsOf(
          static_cast<float>(static_cast<double>(code) / FieldMax(bits)));
    case kSnorm: {
      const float v = static_cast<float>(static_cast<double>(as_signed) /
                                         (FieldMax(bits) >> 1));
      return BitsOf(v < -1 ? -1.0f : v);
    }
    case kUscaled:
      return BitsOf(static_cast<float>(static_cast<int32_t>(code)));
    case kSscaled:
      return BitsOf(as_signed);
    case kSint:
      return static_cast<uint32_t>(SignExtend(code, bits));
    case kFloat:
      return BitsOf(FloatField(code, bits));
    default:
      return code;
  }
}

// The integer nearest to x, inside [low, high].
uint32_t Nearest(float x, double low, double high) {
  const double v = static_cast<double>(x);
  const double limited = v > high ? high : v > low ? v : low;
  return static_cast<uint32_t>(
      static_cast<int64_t>(IsNan(x) ? 0 : std::nearbyint(limited)));
}

uint32_t FloatToField(float x, int bits) {
  const float positive = x > 0 || IsNan(x) ? x : 0.0f;
  if (bits == 10)
    return EncodeMini<kFloat10>(positive, kRoundNearest, Overflow::kFormat);
  if (bits == 11)
    return EncodeMini<kFloat11>(positive, kRoundNearest, Overflow::kFormat);
  return FloatToHalf(x);
}

uint32_t ToField(uint32_t value, int bits, uint32_t format) {
  if (bits == 32) return value;
  const float x = FloatOf(value);
  const double all = FieldMax(bits), half = FieldMax(bits) >> 1;
  switch (format) {
    case kUnorm:
      return Nearest(static_cast<float>(static_cast<double>(x) * all), 0, all);
    case kSnorm:
      return Nearest(static_cast<float>(static_cast<double>(x) * half), -half,
                     half) &
             FieldMax(bits);
    case kUscaled:
      return Nearest(x, 0, all);
    case kSscaled:
      return Nearest(x, -half - 1, half) & FieldMax(bits);
    case kFloat:
      return FloatToField(x, bits);
    default:
      return value & FieldMax(bits);
  }
}

// Where formats and component order come from.
struct Layout {
  DataFormat data;
  uint32_t number;
  uint32_t select[4];  // 0, 1, or 4 + component

  template <bool kTyped>
  static Layout Of(const Wave& w, const Inst& i) {
    const uint32_t word = w.s[i.saddr + 3];
    Layout f;
    f.data = kFormats[kTyped ? i.dfmt : word >> 15 & 15];
    f.number = kTyped ? i.nfmt : word >> 12 & 7;
    for (uint32_t n = 0; n < 4; ++n)
      f.select[n] = kTyped ? 4 + n : word >> (3 * n) & 7;
    return f;
  }
  uint32_t bytes() const { return static_cast<uint32_t>(data.total()) / 8; }
  uint32_t One() const { return IsInteger(number) ? 1 : 0x3f800000; }
  // What component `n` of the result is, of an element's components.
  uint32_t Selected(const uint32_t* element, int n) const {
    const uint32_t s = select[n];
    return s >= 4 ? element[s - 4] : s == 1 ? One() : 0;
  }
};

// The components of the element at `p`.
void ReadElement(const Layout& f, const uint8_t* p, uint32_t* out) {
  uint32_t words[4] = {};
  std::memcpy(words, p, f.bytes());
  int at = 0;
  for (int n = 0; n < 4; ++n) {
    const int bits = f.data.bits[n];
    out[n] = 0;
    if (bits == 0) continue;
    const uint32_t code = words[at / 32] >> (at % 32) & FieldMax(bits);
    out[n] = FromField(code, bits, f.number);
    at += bits;
  }
}

// The components at a lane's place; zeros past the end. False after a fault.
bool LoadElement(Wave& w, const Resource& r, const BufferPlace& place,
                 const Layout& f, int lane, uint32_t* element) {
  if (f.bytes() == 0 || !place.InRange(r, 0, f.bytes())) {
    ++w.clipped_loads;
    return true;
  }
  const uint8_t* p = Global(w, place.address, f.bytes(), lane);
  if (p == nullptr) return false;
  ReadElement(f, p, element);
  return true;
}

enum class Pack { kDwords, kHalves, kHigh };

uint32_t ToHalf(uint32_t value, uint32_t number) {
  return IsInteger(number) ? value & 0xffff : FloatToHalf(FloatOf(value));
}
uint32_t FromHalf(uint32_t half, uint32_t number) {
  if (number == kSint) return static_cast<uint32_t>(SignExtend(half, 16));
  return IsInteger(number) ? half : BitsOf(HalfToFloat(half));
}

template <bool kTyped, int kCount, Pack pack>
void LoadOp(Wave& w, const Inst& i) {
  const Resource r(w, i, true);
  const Layout f = Layout::Of<kTyped>(w, i);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    uint32_t element[4] = {};
    if (!LoadElement(w, r, place, f, l, element)) return;
    uint32_t out[4] = {};
    for (int n = 0; n < kCount; ++n) out[n] = f.Selected(element, n);
    if constexpr (pack == Pack::kDwords) {
      for (int n = 0; n < kCount; ++n) w.v[i.dst + n][l] = out[n];
    } else if constexpr (pack == Pack::kHigh) {
      w.v[i.dst][l] = (w.v[i.dst][l] & 0xffff) | ToHalf(out[0], f.number) << 16;
    } else {
      for (int n = 0; n < kCount; ++n) {
        uint32_t* d = &w.v[i.dst + n / 2][l];
        const uint32_t half = ToHalf(out[n], f.number);
        *d = n % 2 == 0 ? (*d & 0xffff0000) | half : (*d & 0xffff) | half << 16;
      }
    }
  }
  IssueVm(w, i, true);
}

template <bool kTyped, int kCount, Pack pack>
void StoreOp(Wave& w, const Inst& i) {
  const Resource r(w, i, true);
  const Layout f = Layout::Of<kTyped>(w, i);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    if (f.bytes() == 0 || !place.InRange(r, 0, f.bytes())) {
      ++w.clipped_stores;
      continue;
    }
    uint8_t* p = Global(w, place.address, f.bytes(), l);
    if (p == nullptr) return;
    uint32_t words[4] = {};
    std::memcpy(words, p, f.bytes());
    int at = 0;
    for (int n = 0; n < kCount; ++n) {
      const int bits = f.data.bits[n];
      if (bits == 0) break;
      uint32_t value = w.v[i.data + (pack == Pack::kDwords ? n : n / 2)][l];
      if (pack != Pack::kDwords) {
        const bool high = pack == Pack::kHigh || n % 2 != 0;
        value = FromHalf(value >> (high ? 16 : 0) & 0xffff, f.number);
      }
      uint32_t* word = &words[at / 32];
      *word = (*word & ~(FieldMax(bits) << (at % 32))) |
              ToField(value, bits, f.number) << (at % 32);
      at += bits;
    }
    std::memcpy(p, words, f.bytes());
  }
  IssueVm(w, i, false);
}

// The first component of each lane's element to LDS.
void ToLds(Wave& w, const Inst& i) {
  const Resource r(w, i, true);
  const Layout f = Layout::Of<false>(w, i);
  DmaTarget target(w, i, 4);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    uint32_t element[4] = {};
    if (!LoadElement(w, r, place, f, l, element)) return;
    const uint32_t x = f.Selected(element, 0);
    if (!target.Write(w, l, &x, 1)) return;
  }
  IssueVm(w, i, false);
}

constexpr OpInfo LdsLine() {
  OpInfo o = Line(0x80, "buffer_load_format_x lds", &ToLds, kLdsDest, 0, 0, 4);
  o.cls = OpClass::kLdsDma;
  return o;
}

template <bool kTyped, int kCount, Pack pack>
constexpr OpInfo Ld(uint16_t opcode, const char* name) {
  constexpr int kWords = pack == Pack::kDwords ? kCount : (kCount + 1) / 2;
  constexpr bool kKeeps = pack != Pack::kDwords && kCount % 2 != 0;
  return Line(opcode, name, &LoadOp<kTyped, kCount, pack>,
              kLoad | (kKeeps ? uint32_t{kPreservesHigh} : 0u), kWords, 0,
              4 * kCount);
}
template <bool kTyped, int kCount, Pack pack>
constexpr OpInfo St(uint16_t opcode, const char* name) {
  constexpr int kWords = pack == Pack::kDwords ? kCount : (kCount + 1) / 2;
  return Line(opcode, name, &StoreOp<kTyped, kCount, pack>, kStore, 0, kWords,
              4 * kCount);
}

#define INGOT_FORMATS(typed, p)                                    \
  Ld<typed, 1, Pack::kDwords>(0x0, p "_load_format_x"),            \
      Ld<typed, 2, Pack::kDwords>(0x1, p "_load_format_xy"),       \
      Ld<typed, 3, Pack::kDwords>(0x2, p "_load_format_xyz"),      \
      Ld<typed, 4, Pack::kDwords>(0x3, p "_load_format_xyzw"),     \
      St<typed, 1, Pack::kDwords>(0x4, p "_store_format_x"),       \
      St<typed, 2, Pack::kDwords>(0x5, p "_store_format_xy"),      \
      St<typed, 3, Pack::kDwords>(0x6, p "_store_format_xyz"),     \
      St<typed, 4, Pack::kDwords>(0x7, p "_store_format_xyzw"),    \
      Ld<typed, 1, Pack::kHalves>(0x8, p "_load_format_d16_x"),    \
      Ld<typed, 2, Pack::kHalves>(0x9, p "_load_format_d16_xy"),   \
      Ld<typed, 3, Pack::kHalves>(0xa, p "_load_format_d16_xyz"),  \
      Ld<typed, 4, Pack::kHalves>(0xb, p "_load_format_d16_xyzw"), \
      St<typed, 1, Pack::kHalves>(0xc, p "_store_format_d16_x"),   \
      St<typed, 2, Pack::kHalves>(0xd, p "_store_format_d16_xy"),  \
      St<typed, 3, Pack::kHalves>(0xe, p "_store_format_d16_xyz"), \
      St<typed, 4, Pack::kHalves>(0xf, p "_store_format_d16_xyzw")

constexpr OpInfo kTypedOps[] = {INGOT_FORMATS(true, "tbuffer")};
constexpr OpInfo kUntypedOps[] = {
    INGOT_FORMATS(false, "buffer"), LdsLine(),
    Ld<false, 1, Pack::kHigh>(0x26, "buffer_load_format_d16_hi_x"),
    St<false, 1, Pack::kHigh>(0x27, "buffer_store_format_d16_hi_x")};

#undef INGOT_FORMATS

}  // namespace

OpTable MtbufTable() {
  return {kTypedOps, sizeof(kTypedOps) / sizeof(kTypedOps[0])};
}
OpTable MubufFormatTable() {
  return {kUntypedOps, sizeof(kUntypedOps) / sizeof(kUntypedOps[0])};
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
