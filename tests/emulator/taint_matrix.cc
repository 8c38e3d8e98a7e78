// Undefined bits through matrix instructions: a row of D needs its row of A, a
// column its column of B, an element its element of C. EXEC has no say.
#include <cstdlib>
#include <cstring>

#include "tests/emulator/matrix_layout.h"
#include "tests/emulator/taint_check.h"

namespace ingot::emulator::taint {
namespace {

// From the name: v_mfma_f32_32x32x4_2b_f16, v_smfmac_i32_16x16x64_i8.
Geometry GeometryOf(const char* name) {
  const char* at = std::strchr(name, 'x');
  while (at[-1] != '_') --at;
  char* end = nullptr;
  Geometry g{};
  g.dim = static_cast<int>(std::strtol(at, &end, 10));
  std::strtol(end + 1, &end, 10);
  g.k = static_cast<int>(std::strtol(end + 1, &end, 10));
  g.blocks = 1;
  if (*end == '_') {
    const int blocks = static_cast<int>(std::strtol(end + 1, &end, 10));
    if (*end == 'b' && end[1] == '_') g.blocks = blocks;
  }
  return g;
}

// Lanes in which any of these registers has undefined bits.
uint64_t LanesOf(const Step& s, const Operand& o, int words) {
  if (o.kind != Operand::kVgpr) return 0;
  uint64_t lanes = 0;
  for (int n = 0; n < words; ++n) lanes |= s.regs.Lanes(o.reg + n);
  return lanes;
}

class Product {
 public:
  explicit Product(const Step& s) : s_(s), g_(GeometryOf(s.inst.op->name)) {
    const Inst& i = s.inst;
    int words[2] = {i.op->src_words[0], i.op->src_words[1]};
    if ((i.op->flags & kScaled) != 0) {
      // The format's bits decide how many registers there are.
      words[0] = WordsOf(i.cbsz);
      words[1] = WordsOf(i.blgp);
    }
    a_ = LanesOf(s, i.src[0], words[0]);
    b_ = LanesOf(s, i.src[1], words[1]);
    if ((i.op->flags & kSparse) != 0) a_ |= LanesOf(s, i.src[2], 1);
    if (i.scaled) {
      a_ |= ScaleLanes(0);
      b_ |= ScaleLanes(1);
    }
  }

  void Write() {
    const bool wide = std::strncmp(s_.inst.op->name, "v_mfma_f64", 10) == 0;
    wide ? Doubles() : Singles();
    for (int r = 0; r < s_.inst.op->dst_words; ++r) {
      s_.regs.Clear(s_.inst.dst + r, ~out_[r]);
      s_.regs.Fill(s_.inst.dst + r, out_[r]);
    }
  }

 private:
  static int WordsOf(int format) { return format < 2 ? 8 : format < 4 ? 6 : 4; }

  uint64_t ScaleLanes(int n) const {
    const Operand& o = s_.inst.scale[n];
    const int byte = 8 * s_.inst.scale_sel[n];
    if (o.kind != Operand::kVgpr)
      return Field(s_.Scalar(o, 32), byte, 8).undef != 0 ? ~uint64_t{0} : 0;
    uint64_t lanes = 0;
    for (int l = 0; l < kLanes; ++l) {
      if ((s_.regs.Get(o.reg, l) >> byte & 0xff) != 0)
        lanes |= uint64_t{1} << l;
    }
    return lanes;
  }

  uint64_t C(int reg) const {
    const Inst& i = s_.inst;
    if ((i.op->flags & kSparse) != 0) return s_.regs.Lanes(i.dst + reg);
    return i.src[2].kind == Operand::kVgpr ? s_.regs.Lanes(i.src[2].reg + reg)
                                           : 0;
  }

  // True when row (or column) `n` of a block meets an undefined lane.
  template <auto kLaneOf>
  bool Meets(uint64_t lanes, int block, int n) const {
    const Inst& i = s_.inst;
    // Formats stand where broadcasts do otherwise.
    const bool plain = (i.op->flags & (kScaled | kSparse)) != 0;
    const Broadcast cast =
        plain ? Broadcast{} : Broadcast{i.cbsz, i.abid, i.blgp};
    for (int group = 0; group < g_.groups(); ++group) {
      if ((lanes >> (kLaneOf(g_, cast, block, group, n) & 63) & 1) != 0)
        return true;
    }
    return false;
  }

  void Singles() {
    for (int block = 0; block < g_.blocks; ++block) {
      bool row[32], column[32];
      for (int n = 0; n < g_.dim; ++n) {
        row[n] = Meets<&LaneForA>(a_, block, n);
        column[n] = Meets<&LaneForB>(b_, block, n);
      }
      for (int i = 0; i < g_.dim; ++i) {
        for (int j = 0; j < g_.dim; ++j) {
          const Slot slot = OutSlot(g_, block, i, j);
          const uint64_t bit = uint64_t{1} << slot.lane;
          if (row[i] || column[j] || (C(slot.reg) & bit) != 0)
            out_[slot.reg] |= bit;
        }
      }
    }
  }

  // f64 has a layout of its own; A and B lie as elsewhere.
  void Doubles() {
    const int regs = s_.inst.op->dst_words / 2;
    const Broadcast none;
    for (int l = 0; l < kLanes; ++l) {
      const int block = g_.blocks == 1 ? 0 : l / g_.dim % g_.blocks;
      const int column = l % g_.dim;
      for (int r = 0; r < regs; ++r) {
        const int row = g_.blocks == 1 ? r * 4 + l / 16 : l / 16;
        const uint64_t bit = uint64_t{1} << l;
        bool undef = ((C(2 * r) | C(2 * r + 1)) & bit) != 0;
        for (int k = 0; k < g_.groups(); ++k) {
          undef |= (a_ >> LaneForA(g_, none, block, k, row) & 1) != 0 ||
                   (b_ >> LaneForB(g_, none, block, k, column) & 1) != 0;
        }
        if (!undef) continue;
        out_[2 * r] |= bit;
        out_[2 * r + 1] |= bit;
      }
    }
  }

  const Step& s_;
  Geometry g_;
  uint64_t a_ = 0, b_ = 0;
  uint64_t out_[32] = {};
};

}  // namespace

void Matrix(const Step& s) { Product(s).Write(); }

}  // namespace ingot::emulator::taint
