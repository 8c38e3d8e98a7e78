// Matrix instructions: MFMA and SMFMAC.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/tables.h"
#include "tests/emulator/matrix_layout.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

// Element types of A and B.
enum class Elem { kF16, kBf16, kFp8, kBf8, kFp6, kBf6, kFp4, kI8, kF32 };

constexpr int BitsPerElem(Elem e) {
  switch (e) {
    case Elem::kF32:
      return 32;
    case Elem::kF16:
    case Elem::kBf16:
      return 16;
    case Elem::kFp8:
    case Elem::kBf8:
    case Elem::kI8:
      return 8;
    case Elem::kFp6:
    case Elem::kBf6:
      return 6;
    default:
      return 4;
  }
}

// Values of the 8-bit and smaller formats.
struct Tables {
  float fp8[256], bf8[256], fp6[64], bf6[64], fp4[16];
};
const Tables& SmallFloats() {
  static Tables tables;
  static bool ready = false;
  if (!ready) {
    for (uint32_t n = 0; n < 256; ++n) {
      tables.fp8[n] = DecodeMini<kFp8Format>(n);
      tables.bf8[n] = DecodeMini<kBf8Format>(n);
      tables.fp6[n & 63] = DecodeMini<kFp6Format>(n & 63);
      tables.bf6[n & 63] = DecodeMini<kBf6Format>(n & 63);
      tables.fp4[n & 15] = DecodeMini<kFp4Format>(n & 15);
    }
    ready = true;
  }
  return tables;
}

// Where k lies in the registers of a lane group. The groups share a row of K
// elements, 16 bytes (four registers) at a time; narrow elements lie in one
// piece.
struct Place {
  int group, element;
};
constexpr Place PlaceOf(int k, int per_lane, int groups, int bits) {
  const int piece = 128 / bits;
  if (per_lane > piece && bits >= 8) {
    const int chunk = k / piece;
    return {chunk % groups, chunk / groups * piece + k % piece};
  }
  return {k / per_lane, k % per_lane};
}

// An operand register tuple, or an inline constant in every dword.
struct Rows {
  const uint32_t (*v)[kLanes] = nullptr;
  uint32_t constant = 0;
  INGOT_EMULATOR_INLINE uint32_t Get(int reg, int lane) const {
    // A broadcast that no block has stays inside the wave.
    return v != nullptr ? v[reg][lane & (kLanes - 1)] : constant;
  }
};
Rows RowsOf(const Wave& w, const Operand& o) {
  if (o.kind == Operand::kVgpr) return {&w.v[o.reg], 0};
  return {nullptr, static_cast<uint32_t>(Uniform(w, o, false))};
}

INGOT_EMULATOR_INLINE uint32_t Field(const Rows& rows, int lane, int bit,
                                     int bits) {
  const int reg = bit / 32, at = bit % 32;
  uint64_t two = rows.Get(reg, lane);
  if (at + bits > 32) two |= uint64_t{rows.Get(reg + 1, lane)} << 32;
  return static_cast<uint32_t>(two >> at) &
         (bits == 32 ? ~0u : (1u << bits) - 1);
}

INGOT_EMULATOR_INLINE float ElemValue(Elem e, uint32_t code) {
  switch (e) {
    case Elem::kF16:
      return HalfToFloat(code);
    case Elem::kBf16:
      return Bf16ToFloat(code);
    case Elem::kFp8:
      return SmallFloats().fp8[code];
    case Elem::kBf8:
      return SmallFloats().bf8[code];
    case Elem::kFp6:
      return SmallFloats().fp6[code];
    case Elem::kBf6:
      return SmallFloats().bf6[code];
    case Elem::kFp4:
      return SmallFloats().fp4[code];
    case Elem::kI8:
      return static_cast<float>(static_cast<int8_t>(code));
    default:
      return FloatOf(code);
  }
}

// A or B of one block as floats, [k][row]: the inner loops run over rows.
constexpr int kMaxDim = 32, kMaxK = 128;
struct alignas(64) Panel {
  float at[kMaxK][kMaxDim];
};

template <Geometry g, bool kIsB>
void LoadPanel(const Rows& rows, Elem e, const Broadcast& b, int block,
               Panel& out) {
  const int bits = BitsPerElem(e);
  for (int k = 0; k < g.k; ++k) {
    const Place p = PlaceOf(k, g.per_lane(), g.groups(), bits);
    for (int row = 0; row < g.dim; ++row) {
      const int lane = kIsB ? LaneForB(g, b, block, p.group, row)
                            : LaneForA(g, b, block, p.group, row);
      out.at[k][row] = ElemValue(e, Field(rows, lane, p.element * bits, bits));
    }
  }
}

// f32 factors follow MODE's denormal field; narrower ones and sums do not.
template <Geometry g>
void DropDenormals(Panel& p) {
  for (int k = 0; k < g.k; ++k) {
    for (int row = 0; row < g.dim; ++row)
      p.at[k][row] = NoDenormal(p.at[k][row]);
  }
}

template <Geometry g>
struct alignas(64) Tile {
  float at[g.dim][g.dim];
};

template <Geometry g>
void LoadTile(const Rows& c, int block, Tile<g>& out) {
  for (int i = 0; i < g.dim; ++i) {
    for (int j = 0; j < g.dim; ++j) {
      const Slot s = OutSlot(g, block, i, j);
      out.at[i][j] = FloatOf(c.Get(s.reg, s.lane));
    }
  }
}
template <Geometry g>
void StoreTile(Wave& w, int dst, int block, const Tile<g>& in) {
  for (int i = 0; i < g.dim; ++i) {
    for (int j = 0; j < g.dim; ++j) {
      const Slot s = OutSlot(g, block, i, j);
      w.v[dst + s.reg][s.lane] = BitsOf(in.at[i][j]);
    }
  }
}

// D += A B. The products of 16-bit and smaller types are exact in f32; those of
// f32 go through double, so that every host level gives the same bits.
template <Geometry g, bool kExactProducts>
void Multiply(const Panel& a, const Panel& b, int k_begin, int k_end,
              Tile<g>& d) {
  for (int i = 0; i < g.dim; ++i) {
    float acc[g.dim];
    for (int j = 0; j < g.dim; ++j) acc[j] = d.at[i][j];
    for (int k = k_begin; k < k_end; ++k) {
      const float x = a.at[k][i];
      const float* y = b.at[k];
      for (int j = 0; j < g.dim; ++j) {
        if constexpr (kExactProducts) {
          acc[j] += x * y[j];
        } else {
          acc[j] = static_cast<float>(static_cast<double>(x) * y[j] + acc[j]);
        }
      }
    }
    for (int j = 0; j < g.dim; ++j) d.at[i][j] = acc[j];
  }
}

Broadcast BroadcastOf(const Inst& i) { return {i.cbsz, i.abid, i.blgp}; }

template <Geometry g, Elem a_type, Elem b_type>
void Mfma(Wave& w, const Inst& i) {
  const Rows a = RowsOf(w, i.src[0]), b = RowsOf(w, i.src[1]),
             c = RowsOf(w, i.src[2]);
  Panel pa, pb;
  Tile<g> tile[g.blocks];
  for (int block = 0; block < g.blocks; ++block) {
    LoadPanel<g, false>(a, a_type, BroadcastOf(i), block, pa);
    LoadPanel<g, true>(b, b_type, BroadcastOf(i), block, pb);
    if (a_type == Elem::kF32 && (w.mode >> 4 & 1) == 0) {
      DropDenormals<g>(pa);
      DropDenormals<g>(pb);
    }
    LoadTile<g>(c, block, tile[block]);
    Multiply<g, a_type != Elem::kF32>(pa, pb, 0, g.k, tile[block]);
  }
  for (int block = 0; block < g.blocks; ++block)
    StoreTile<g>(w, i.dst, block, tile[block]);
}

// i8 products summed in i32, wrapping.
template <Geometry g>
void MfmaInt(Wave& w, const Inst& i) {
  const Rows a = RowsOf(w, i.src[0]), b = RowsOf(w, i.src[1]),
             c = RowsOf(w, i.src[2]);
  const Broadcast cast = BroadcastOf(i);
  uint32_t out[g.blocks][g.dim][g.dim];
  for (int block = 0; block < g.blocks; ++block) {
    int32_t pa[g.k][g.dim], pb[g.k][g.dim];
    for (int k = 0; k < g.k; ++k) {
      const Place p = PlaceOf(k, g.per_lane(), g.groups(), 8);
      for (int r = 0; r < g.dim; ++r) {
        pa[k][r] = static_cast<int8_t>(
            Field(a, LaneForA(g, cast, block, p.group, r), p.element * 8, 8));
        pb[k][r] = static_cast<int8_t>(
            Field(b, LaneForB(g, cast, block, p.group, r), p.element * 8, 8));
      }
    }
    for (int r = 0; r < g.dim; ++r) {
      for (int j = 0; j < g.dim; ++j) {
        const Slot s = OutSlot(g, block, r, j);
        uint32_t sum = c.Get(s.reg, s.lane);
        for (int k = 0; k < g.k; ++k)
          sum += static_cast<uint32_t>(pa[k][r] * pb[k][j]);
        out[block][r][j] = sum;
      }
    }
  }
  for (int block = 0; block < g.blocks; ++block) {
    for (int r = 0; r < g.dim; ++r) {
      for (int j = 0; j < g.dim; ++j) {
        const Slot s = OutSlot(g, block, r, j);
        w.v[i.dst + s.reg][s.lane] = out[block][r][j];
      }
    }
  }
}

// ---- f8f6f4, with or without block scales ----

constexpr Elem kFormats[] = {Elem::kFp8, Elem::kBf8, Elem::kFp6, Elem::kBf6,
                             Elem::kFp4};

// 2^(e - 127); 255 is NaN. An inline float constant gives its exponent.
float ScaleValue(const Wave& w, const Operand& o, int byte, int lane) {
  uint32_t e;
  if (o.kind == Operand::kVgpr) {
    e = w.v[o.reg][lane] >> (8 * byte) & 0xff;
  } else if (o.kind == Operand::kConst && o.value > 0x10000) {
    e = static_cast<uint32_t>(o.value) >> 23 & 0xff;
  } else {
    e = static_cast<uint32_t>(Uniform(w, o, false)) >> (8 * byte) & 0xff;
  }
  if (e == 255) return FloatOf(0x7fc00000);
  return e == 0 ? 0x1p-127f : FloatOf(e << 23);
}

template <Geometry g>
void MfmaScaled(Wave& w, const Inst& i) {
  const Rows a = RowsOf(w, i.src[0]), b = RowsOf(w, i.src[1]),
             c = RowsOf(w, i.src[2]);
  Panel pa, pb;
  Tile<g> tile;
  LoadPanel<g, false>(a, kFormats[i.cbsz], {}, 0, pa);
  LoadPanel<g, true>(b, kFormats[i.blgp], {}, 0, pb);
  LoadTile<g>(c, 0, tile);
  if (!i.scaled) {
    Multiply<g, true>(pa, pb, 0, g.k, tile);
    StoreTile<g>(w, i.dst, 0, tile);
    return;
  }
  for (int block = 0; block < g.k / 32; ++block) {
    double sa[g.dim], sb[g.dim];
    for (int r = 0; r < g.dim; ++r) {
      sa[r] = static_cast<double>(
          ScaleValue(w, i.scale[0], i.scale_sel[0], block * g.dim + r));
      sb[r] = static_cast<double>(
          ScaleValue(w, i.scale[1], i.scale_sel[1], block * g.dim + r));
    }
    Tile<g> dot = {};
    Multiply<g, true>(pa, pb, block * 32, block * 32 + 32, dot);
    for (int r = 0; r < g.dim; ++r) {
      for (int j = 0; j < g.dim; ++j) {
        tile.at[r][j] = static_cast<float>(static_cast<double>(tile.at[r][j]) +
                                           static_cast<double>(dot.at[r][j]) *
                                               (sa[r] * sb[j]));
      }
    }
  }
  StoreTile<g>(w, i.dst, 0, tile);
}

// ---- f64 ----

// 16x16x4: A, B lane = k * 16 + row; D row 4 * lane/16 is spread over
// registers: register r of lane l holds row r * 4 + l / 16, column l % 16.
INGOT_EMULATOR_INLINE double PairAt(const Wave& w, const Operand& o, int reg,
                                    int lane) {
  if (o.kind != Operand::kVgpr) return DoubleOf(Uniform(w, o, true));
  return DoubleOf(w.v[o.reg + 2 * reg][lane] |
                  uint64_t{w.v[o.reg + 2 * reg + 1][lane]} << 32);
}

template <int kDim, int kBlocks>
void MfmaDouble(Wave& w, const Inst& i) {
  constexpr int kRegs = kDim * kDim * kBlocks / kLanes;
  const double sign_a = (i.blgp & 1) != 0 ? -1 : 1,
               sign_b = (i.blgp & 2) != 0 ? -1 : 1,
               sign_c = (i.blgp & 4) != 0 ? -1 : 1;
  double out[kRegs][kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const int column = l % kDim;
    const int block = kBlocks == 1 ? 0 : l / kDim % kBlocks;
    for (int r = 0; r < kRegs; ++r) {
      const int row = kBlocks == 1 ? r * 4 + l / 16 : l / 16;
      double sum = sign_c * PairAt(w, i.src[2], r, l);
      for (int k = 0; k < 4; ++k) {
        const int base = (k * kBlocks + block) * kDim;
        sum =
            __builtin_fma(sign_a * PairAt(w, i.src[0], 0, base + row),
                          sign_b * PairAt(w, i.src[1], 0, base + column), sum);
      }
      out[r][l] = sum;
    }
  }
  for (int r = 0; r < kRegs; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t bits = BitsOf(out[r][l]);
      w.v[i.dst + 2 * r][l] = static_cast<uint32_t>(bits);
      w.v[i.dst + 2 * r + 1][l] = static_cast<uint32_t>(bits >> 32);
    }
  }
}

// ---- SMFMAC: A holds two of every four k; src2 says which ----

// A lane's elements of A cover consecutive k, K divided by the lane groups,
// also where B's come in pieces of 16 bytes. Element e stands at 4 * (e / 2) +
// index of them, with two index bits an element; abid picks which part of the
// index register is used (cbsz != 0: the low part).
template <Geometry g, bool kInt>
void Smfmac(Wave& w, const Inst& i, Elem a_type, Elem b_type) {
  const Rows a = RowsOf(w, i.src[0]), b = RowsOf(w, i.src[1]);
  const int bits = BitsPerElem(a_type);
  constexpr int kPerA = g.k / 2 / g.groups();  // elements of A in a lane
  constexpr int kIndexBits = 2 * kPerA;
  const int part =
      i.cbsz != 0 ? 0 : i.abid % (32 / kIndexBits > 0 ? 32 / kIndexBits : 1);
  const uint32_t* index = w.v[i.src[2].reg];
  Panel pb;
  LoadPanel<g, true>(b, b_type, {}, 0, pb);
  const Rows c{&w.v[i.dst], 0};
  uint32_t out[g.dim][g.dim];
  for (int r = 0; r < g.dim; ++r) {
    for (int j = 0; j < g.dim; ++j) {
      const Slot s = OutSlot(g, 0, r, j);
      out[r][j] = c.Get(s.reg, s.lane);
    }
    for (int group = 0; group < g.groups(); ++group) {
      const int lane = group * g.dim + r;
      for (int e = 0; e < kPerA; ++e) {
        const uint32_t pick = index[lane] >> (part * kIndexBits + 2 * e) & 3;
        const float x = ElemValue(a_type, Field(a, lane, e * bits, bits));
        const int k = group * g.per_lane() + e / 2 * 4 + static_cast<int>(pick);
        for (int j = 0; j < g.dim; ++j) {
          if constexpr (kInt) {
            out[r][j] += static_cast<uint32_t>(
                static_cast<int32_t>(x) * static_cast<int32_t>(pb.at[k][j]));
          } else {
            out[r][j] = BitsOf(FloatOf(out[r][j]) + x * pb.at[k][j]);
          }
        }
      }
    }
  }
  for (int r = 0; r < g.dim; ++r) {
    for (int j = 0; j < g.dim; ++j) {
      const Slot s = OutSlot(g, 0, r, j);
      w.v[i.dst + s.reg][s.lane] = out[r][j];
    }
  }
}
template <Geometry g, Elem a, Elem b>
void SmfmacFloat(Wave& w, const Inst& i) {
  Smfmac<g, false>(w, i, a, b);
}
template <Geometry g>
void SmfmacInt(Wave& w, const Inst& i) {
  Smfmac<g, true>(w, i, Elem::kI8, Elem::kI8);
}

// ---- Table ----

constexpr int Regs(int per_lane, int bits) {
  return (per_lane * bits + 31) / 32;
}

constexpr OpInfo Line(uint16_t opcode, const char* name, Handler run,
                      const Geometry& g, int bits, uint32_t flags = 0) {
  OpInfo o{opcode, name, run, OpClass::kMfma, flags};
  o.dst_words = static_cast<uint8_t>(g.out_regs());
  o.src_words[0] = o.src_words[1] =
      static_cast<uint8_t>(Regs(g.per_lane(), bits));
  o.src_words[2] = o.dst_words;
  o.src_kind[0] = o.src_kind[1] = SrcKind::kVgprs;
  o.src_kind[2] = SrcKind::kF32;
  return o;
}
template <Geometry g, Elem a, Elem b>
constexpr OpInfo F(uint16_t opcode, const char* name) {
  return Line(opcode, name, &Mfma<g, a, b>, g, BitsPerElem(a));
}
template <Geometry g>
constexpr OpInfo N(uint16_t opcode, const char* name) {
  OpInfo o = Line(opcode, name, &MfmaInt<g>, g, 8);
  o.src_kind[2] = SrcKind::kB32;
  return o;
}
template <Geometry g>
constexpr OpInfo X(uint16_t opcode, const char* name) {
  return Line(opcode, name, &MfmaScaled<g>, g, 8, kScaled);
}
constexpr OpInfo Sparse(OpInfo o) {
  o.src_words[0] = static_cast<uint8_t>(o.src_words[0] / 2);
  o.src_words[2] = 1;
  o.src_kind[2] = SrcKind::kVgprs;
  o.flags |= kSparse;
  return o;
}
template <Geometry g, Elem a, Elem b>
constexpr OpInfo S(uint16_t opcode, const char* name) {
  return Sparse(Line(opcode, name, &SmfmacFloat<g, a, b>, g, BitsPerElem(a)));
}
template <Geometry g>
constexpr OpInfo SN(uint16_t opcode, const char* name) {
  return Sparse(Line(opcode, name, &SmfmacInt<g>, g, 8));
}
constexpr OpInfo Double(uint16_t opcode, const char* name, Handler run,
                        int regs) {
  OpInfo o = OpX(opcode, name, run,
                 {static_cast<uint8_t>(2 * regs),
                  {SrcKind::kF64, SrcKind::kF64, SrcKind::kF64},
                  {2, 2, static_cast<uint8_t>(2 * regs)}},
                 0, OpClass::kMfma);
  return o;
}

constexpr Geometry k32x1x2{32, 1, 2}, k16x1x4{16, 1, 4}, k4x1x16{4, 1, 16},
    k32x2{32, 2, 1}, k16x4{16, 4, 1}, k32x4x2{32, 4, 2}, k16x4x4{16, 4, 4},
    k4x4x16{4, 4, 16}, k32x8{32, 8, 1}, k16x16{16, 16, 1}, k16x32{16, 32, 1},
    k32x16{32, 16, 1}, k16x64{16, 64, 1}, k32x32{32, 32, 1},
    k16x128{16, 128, 1}, k32x64{32, 64, 1};

constexpr Elem kH = Elem::kF16, kB = Elem::kBf16, k8 = Elem::kFp8,
               kE = Elem::kBf8, kS = Elem::kF32;

constexpr OpInfo kMfma[] = {
    X<k16x128>(0x2d, "v_mfma_f32_16x16x128_f8f6f4"),
    X<k32x64>(0x2e, "v_mfma_f32_32x32x64_f8f6f4"),
    F<k16x32, kB, kB>(0x35, "v_mfma_f32_16x16x32_bf16"),
    N<k16x64>(0x36, "v_mfma_i32_16x16x64_i8"),
    F<k32x16, kB, kB>(0x37, "v_mfma_f32_32x32x16_bf16"),
    N<k32x32>(0x38, "v_mfma_i32_32x32x32_i8"),
    S<k16x64, kB, kB>(0x39, "v_smfmac_f32_16x16x64_bf16"),
    SN<k16x128>(0x3a, "v_smfmac_i32_16x16x128_i8"),
    S<k16x128, kE, kE>(0x3b, "v_smfmac_f32_16x16x128_bf8_bf8"),
    S<k16x128, kE, k8>(0x3c, "v_smfmac_f32_16x16x128_bf8_fp8"),
    S<k16x128, k8, kE>(0x3d, "v_smfmac_f32_16x16x128_fp8_bf8"),
    F<k32x1x2, kS, kS>(0x40, "v_mfma_f32_32x32x1_2b_f32"),
    F<k16x1x4, kS, kS>(0x41, "v_mfma_f32_16x16x1_4b_f32"),
    F<k4x1x16, kS, kS>(0x42, "v_mfma_f32_4x4x1_16b_f32"),
    S<k16x128, k8, k8>(0x43, "v_smfmac_f32_16x16x128_fp8_fp8"),
    F<k32x2, kS, kS>(0x44, "v_mfma_f32_32x32x2_f32"),
    F<k16x4, kS, kS>(0x45, "v_mfma_f32_16x16x4_f32"),
    S<k32x32, kB, kB>(0x46, "v_smfmac_f32_32x32x32_bf16"),
    SN<k32x64>(0x47, "v_smfmac_i32_32x32x64_i8"),
    F<k32x4x2, kH, kH>(0x48, "v_mfma_f32_32x32x4_2b_f16"),
    F<k16x4x4, kH, kH>(0x49, "v_mfma_f32_16x16x4_4b_f16"),
    F<k4x4x16, kH, kH>(0x4a, "v_mfma_f32_4x4x4_16b_f16"),
    S<k32x64, kE, kE>(0x4b, "v_smfmac_f32_32x32x64_bf8_bf8"),
    F<k32x8, kH, kH>(0x4c, "v_mfma_f32_32x32x8_f16"),
    F<k16x16, kH, kH>(0x4d, "v_mfma_f32_16x16x16_f16"),
    S<k32x64, kE, k8>(0x4e, "v_smfmac_f32_32x32x64_bf8_fp8"),
    S<k32x64, k8, kE>(0x4f, "v_smfmac_f32_32x32x64_fp8_bf8"),
    N<k32x4x2>(0x50, "v_mfma_i32_32x32x4_2b_i8"),
    N<k16x4x4>(0x51, "v_mfma_i32_16x16x4_4b_i8"),
    N<k4x4x16>(0x52, "v_mfma_i32_4x4x4_16b_i8"),
    S<k32x64, k8, k8>(0x53, "v_smfmac_f32_32x32x64_fp8_fp8"),
    F<k16x32, kH, kH>(0x54, "v_mfma_f32_16x16x32_f16"),
    F<k32x16, kH, kH>(0x55, "v_mfma_f32_32x32x16_f16"),
    N<k32x16>(0x56, "v_mfma_i32_32x32x16_i8"),
    N<k16x32>(0x57, "v_mfma_i32_16x16x32_i8"),
    S<k16x64, kH, kH>(0x5a, "v_smfmac_f32_16x16x64_f16"),
    S<k32x32, kH, kH>(0x5b, "v_smfmac_f32_32x32x32_f16"),
    F<k32x4x2, kB, kB>(0x5d, "v_mfma_f32_32x32x4_2b_bf16"),
    F<k16x4x4, kB, kB>(0x5e, "v_mfma_f32_16x16x4_4b_bf16"),
    F<k4x4x16, kB, kB>(0x5f, "v_mfma_f32_4x4x4_16b_bf16"),
    F<k32x8, kB, kB>(0x60, "v_mfma_f32_32x32x8_bf16"),
    F<k16x16, kB, kB>(0x61, "v_mfma_f32_16x16x16_bf16"),
    S<k16x32, kH, kH>(0x62, "v_smfmac_f32_16x16x32_f16"),
    S<k32x16, kH, kH>(0x64, "v_smfmac_f32_32x32x16_f16"),
    S<k16x32, kB, kB>(0x66, "v_smfmac_f32_16x16x32_bf16"),
    S<k32x16, kB, kB>(0x68, "v_smfmac_f32_32x32x16_bf16"),
    SN<k16x64>(0x6a, "v_smfmac_i32_16x16x64_i8"),
    SN<k32x32>(0x6c, "v_smfmac_i32_32x32x32_i8"),
    Double(0x6e, "v_mfma_f64_16x16x4_f64", &MfmaDouble<16, 1>, 4),
    Double(0x6f, "v_mfma_f64_4x4x4_4b_f64", &MfmaDouble<4, 4>, 1),
    F<k16x32, kE, kE>(0x70, "v_mfma_f32_16x16x32_bf8_bf8"),
    F<k16x32, kE, k8>(0x71, "v_mfma_f32_16x16x32_bf8_fp8"),
    F<k16x32, k8, kE>(0x72, "v_mfma_f32_16x16x32_fp8_bf8"),
    F<k16x32, k8, k8>(0x73, "v_mfma_f32_16x16x32_fp8_fp8"),
    F<k32x16, kE, kE>(0x74, "v_mfma_f32_32x32x16_bf8_bf8"),
    F<k32x16, kE, k8>(0x75, "v_mfma_f32_32x32x16_bf8_fp8"),
    F<k32x16, k8, kE>(0x76, "v_mfma_f32_32x32x16_fp8_bf8"),
    F<k32x16, k8, k8>(0x77, "v_mfma_f32_32x32x16_fp8_fp8"),
    S<k16x64, kE, kE>(0x78, "v_smfmac_f32_16x16x64_bf8_bf8"),
    S<k16x64, kE, k8>(0x79, "v_smfmac_f32_16x16x64_bf8_fp8"),
    S<k16x64, k8, kE>(0x7a, "v_smfmac_f32_16x16x64_fp8_bf8"),
    S<k16x64, k8, k8>(0x7b, "v_smfmac_f32_16x16x64_fp8_fp8"),
    S<k32x32, kE, kE>(0x7c, "v_smfmac_f32_32x32x32_bf8_bf8"),
    S<k32x32, kE, k8>(0x7d, "v_smfmac_f32_32x32x32_bf8_fp8"),
    S<k32x32, k8, kE>(0x7e, "v_smfmac_f32_32x32x32_fp8_bf8"),
    S<k32x32, k8, k8>(0x7f, "v_smfmac_f32_32x32x32_fp8_fp8"),
};

}  // namespace

OpTable MfmaTable() { return {kMfma, sizeof(kMfma) / sizeof(kMfma[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
