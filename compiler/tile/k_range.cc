// Parts of k: of a workgroup, and of the waves that share it (matmul.h).
#include "compiler/tile/matmul_step.h"

namespace ingot::tile {

KRange AllOfK(Builder& builder, const MatmulShape& shape, Value k) {
  return {builder.I32(0), (k + (shape.k - 1)) / shape.k};
}

KRange PartOfK(Builder& builder, const MatmulShape& shape, Value k, Value part,
               Value parts) {
  const Value steps = AllOfK(builder, shape, k).count;
  // Division is done on the vector unit; loops need scalars.
  const Value each = builder.ReadFirstLane((steps + parts - 1) / parts);
  const Value first = part * each;
  return {first, Min(steps - first, each)};
}

MatmulShape ShapeOfSums(const MatmulShape& shape) {
  MatmulShape sums = shape;
  sums.waves_k = 1;
  while (sums.waves() < shape.waves_k && sums.fragments_n() % 2 == 0) {
    sums.waves_n *= 2;
  }
  while (sums.waves() < shape.waves_k && sums.fragments_m() % 2 == 0) {
    sums.waves_m *= 2;
  }
  return sums;
}

// Each wave puts its sums into LDS block by block, 16 bytes a lane, and takes
// those of its blocks in the order of the waves.
Values SumOverWaves(Builder& builder, const MatmulShape& shape, Value lds,
                    int wave_bytes, const Access& access, const Values& sums) {
  Builder& b = builder;
  constexpr int kBlockBytes = 64 * 16;
  const int columns = shape.fragments_n();
  const int blocks = shape.fragments_m() * columns;
  const Value lane = b.LaneId() * 16;
  Access aligned = access;
  aligned.align = 16;
  const Value mine = Offset(lds, b.WaveId() * wave_bytes + lane);
  for (int block = 0; block < blocks; ++block) {
    b.Store(sums[block], Offset(mine, block * kBlockBytes), aligned);
  }
  b.Wait({.lgkm = 0});
  b.Barrier();
  const MatmulShape to = ShapeOfSums(shape);
  const Value wave = Min(b.WaveId(), b.I32(to.waves() - 1));
  const Value first = wave / to.waves_n * (to.fragments_m() * columns) +
                      wave % to.waves_n * to.fragments_n();
  const Value base = Offset(lds, first * kBlockBytes + lane);
  Values totals;
  for (int i = 0; i < to.fragments_m(); ++i) {
    for (int j = 0; j < to.fragments_n(); ++j) {
      Value total;
      for (int slice = 0; slice < shape.waves_k; ++slice) {
        const int block = i * columns + j;
        const Value part = b.Load(
            Vec(kF32, 4),
            Offset(base, slice * wave_bytes + block * kBlockBytes), aligned);
        total = slice == 0 ? part : total + part;
      }
      totals.push_back(total);
    }
  }
  return totals;
}

}  // namespace ingot::tile
