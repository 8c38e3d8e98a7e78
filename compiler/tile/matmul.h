// The k loop of a matrix product on MFMA: two panels through LDS into f32
// accumulators. Composable: an op names its matrices, runs one of the loops and
// does with the accumulators what it wants.
#ifndef INGOT_COMPILER_TILE_MATMUL_H_
#define INGOT_COMPILER_TILE_MATMUL_H_

#include <algorithm>

#include "compiler/tile/builder.h"
#include "compiler/tile/panel.h"

namespace ingot::tile {

struct MatmulShape {
  int m = 0;  // of the workgroup's tile
  int n = 0;
  int k = 0;  // of a step; a multiple of 32, of 128 when elements are narrow
  int waves_m = 0;
  int waves_n = 0;
  // Waves that share k, each with the whole tile and steps of its own; then
  // there is one wave along m and n.
  int waves_k = 1;
  int stages = 0;  // steps that LDS holds
  // Both narrow, or the same type of 16 bits. Where a step has only the k of
  // one MFMA, a wave's rows are a multiple of 32 unless waves share k.
  Element a;
  Element b;
  // Whether accumulators live in AccVGPRs; the kernel's agpr_alloc must agree.
  bool accumulate_in_agprs = false;
  // Whether a loop of LDS-DMA may leave loads of zeros outstanding. Whoever
  // stores its sums then waits for them behind the stores (AwaitLoads), and
  // uses no LDS.
  bool leaves_loads = false;

  int waves() const { return waves_m * waves_n * waves_k; }
  int wave_m() const { return m / waves_m; }
  int wave_n() const { return n / waves_n; }
  int fragments_m() const { return wave_m() / 16; }
  int fragments_n() const { return wave_n() / 16; }
  PanelShape panel_a() const { return PanelOf(a, m, wave_m()); }
  PanelShape panel_b() const { return PanelOf(b, n, wave_n()); }
  int stage_bytes() const {
    return panels() * (panel_a().bytes() + panel_b().bytes());
  }
  int lds_bytes() const {
    const int sums = waves_k > 1 ? m * n * 4 : 0;
    return std::max(stage_bytes() * stages, sums) * waves_k;
  }
  // Eight waves take turns, two a SIMD: PingPongSchedule.
  bool ping_pong() const {
    return waves_k == 1 && waves() == 8 && a.scales == ScaleFetch::kNone;
  }
  int panels() const { return ping_pong() ? 2 : 1; }

 private:
  PanelShape PanelOf(const Element& element, int rows, int wave_rows) const {
    return {.mn = rows / panels(),
            .k = k,
            .waves = waves_k > 1 ? 1 : waves(),
            .element = element,
            .panels = panels(),
            .group = wave_rows / panels()};
  }
};

// A matrix of a product, of which a workgroup multiplies one panel or several.
struct MatmulOperand {
  PanelSource source;
  bool k_contiguous = true;
  bool paired = false;    // see PanelShape
  bool shuffled = false;  // the same
};

// Steps first, first + 1, .. of shape.k each: `count` of them (scalars). None
// when count is below 1: the sums are zero then.
struct KRange {
  Value first;
  Value count;
};
KRange AllOfK(Builder& builder, const MatmulShape& shape, Value k);
// The range of `part` of `parts` (scalars); the last ones may be empty.
KRange PartOfK(Builder& builder, const MatmulShape& shape, Value k, Value part,
               Value parts);

// The shape of a panel of the operand: `shape` with what is the matrix's own.
PanelShape PanelShapeOf(PanelShape shape, const MatmulOperand& operand);

// Where the calling wave's block lies in the tile (scalars).
struct WavePlace {
  Value m;
  Value n;
};
WavePlace PlaceOfWave(Builder& builder, const MatmulShape& shape);

// Accumulators are 4 x f32, one for each 16x16 block of the wave, [m][n] with n
// fastest. Of block (i, j) lane l holds row 16 i + l % 16 and columns
// 16 j + 4 * (l / 16) + 0..3.

// By whom sums are held after a loop of `shape`: as `shape` says, but with
// waves_k > 1 the workgroup's first waves (all, if there are enough blocks)
// share the tile.
MatmulShape ShapeOfSums(const MatmulShape& shape);

// Where loads may be left: waits until none is, the wave having issued `stores`
// stores at least since. A workgroup must not end before.
void AwaitLoads(Builder& builder, const MatmulShape& shape, int stores);

// LDS-DMA through `stages` buffers, by the schedule that the shape asks for;
// both matrices' rows are made of aligned 16-byte units and k is a multiple of
// 8 where it is contiguous. Gives the sums by ShapeOfSums; waves without a
// block get some. On return no DMA is outstanding, unless the shape lets it.
// Fully ordered: for code generation without schedulers.
Values RunDmaLoop(Builder& builder, const MatmulShape& shape,
                  const MatmulOperand& a, const MatmulOperand& b,
                  const KRange& range);
// Of all k.
Values RunDmaLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                  Panel& b, Value k);

// Through registers, by loads of `width_a` and `width_b` units (element.h): for
// rows of any length and alignment. Scales come by bytes or pairs. Two stages.
Values RunStagedLoop(Builder& builder, const MatmulShape& shape,
                     const MatmulOperand& a, int width_a,
                     const MatmulOperand& b, int width_b);
Values RunStagedLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                     int width_a, Panel& b, int width_b, Value k);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_MATMUL_H_
