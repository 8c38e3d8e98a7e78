// The k loop of a matrix product on MFMA: two panels through
// LDS into f32 accumulators. Composable: an op builds the panels, runs one of
// the loops and does with the accumulators what it wants.
#ifndef INGOT_COMPILER_TILE_MATMUL_H_
#define INGOT_COMPILER_TILE_MATMUL_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/panel.h"

namespace ingot::tile {

struct MatmulShape {
  int m = 0;  // of the workgroup's tile
  int n = 0;
  int k = 0;  // of a step; a multiple of 64, of 128 when elements are narrow
  int waves_m = 0;
  int waves_n = 0;
  int stages = 0;  // steps that LDS holds
  // Both narrow, or the same type of 16 bits. Where a step has only the k of
  // one MFMA, a wave's rows are a multiple of 32.
  Element a;
  Element b;
  // Whether accumulators live in AccVGPRs; the kernel's agpr_alloc must agree.
  bool accumulate_in_agprs = false;

  int waves() const { return waves_m * waves_n; }
  int wave_m() const { return m / waves_m; }
  int wave_n() const { return n / waves_n; }
  int fragments_m() const { return wave_m() / 16; }
  int fragments_n() const { return wave_n() / 16; }
  PanelShape panel_a() const {
    return {.mn = m, .k = k, .waves = waves(), .element = a};
  }
  PanelShape panel_b() const {
    return {.mn = n, .k = k, .waves = waves(), .element = b};
  }
  int stage_bytes() const { return panel_a().bytes() + panel_b().bytes(); }
};

// Where the calling wave's block lies in the tile (scalars).
struct WavePlace {
  Value m;
  Value n;
};
WavePlace PlaceOfWave(Builder& builder, const MatmulShape& shape);

// Accumulators are 4 x f32, one for each 16x16 block of the wave, [m][n] with n
// fastest. Of block (i, j) lane l holds row 16 i + l % 16 and columns
// 16 j + 4 * (l / 16) + 0..3.

// LDS-DMA through `stages` buffers, which must be a power of two; both panels'
// rows are made of aligned 16-byte units and k is a multiple of 8 where it is
// contiguous. On return no DMA is outstanding. Fully ordered: for code
// generation without schedulers.
Values RunDmaLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                  Panel& b, Value k);

// Through registers, by loads of `width_a` and `width_b` elements: for rows of
// any length and alignment. Two stages.
Values RunStagedLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                     int width_a, Panel& b, int width_b, Value k);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_MATMUL_H_
