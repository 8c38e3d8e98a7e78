// How long a launch of gemm's tiles takes on an MI355X, for ranking them: a
// first-order form of the model that judges finished kernels
// (tests/emulator/profile/launch_time.h), which needs no code.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_TIME_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_TIME_H_

#include "compiler/ops/gemm_plan_tiles.h"

namespace ingot {

// What the elements of a product cost; bytes with an element's share of its
// scale. The defaults are those of 16 bits.
struct GemmElements {
  double bytes_a = 2;
  double bytes_b = 2;
  double matrix_flops = 4096;         // of a compute unit in a clock
  double power_clocks_per_us = 1500;  // while MFMAs never pause
  int mfma_k = 32;
  // Of 16 rows and mfma_k: reads of LDS, with that of a scale, and registers.
  double reads_a = 1;
  double reads_b = 1;
  double registers_a = 4;
  double registers_b = 4;
  double lds_bytes = 0;  // of a workgroup
};
// 16 bits.
GemmElements ElementsOf(const GemmTile& tile);

// Microseconds of a launch that computes `tiles` tiles over k elements and
// moves `bytes` to and from memory. `most_resident`: workgroups on a compute
// unit, less where a launch starts no more than that and they walk over the
// tiles; it then lasts as long as if all had as many as the busiest one.
inline constexpr double kMostResident = 8;
double TilesMicroseconds(const GemmTile& tile, const GemmElements& elements,
                         double tiles, double k, double bytes,
                         double most_resident = kMostResident);

// The same of a whole product, with the launch that adds parts of a split k.
double GemmMicroseconds(const GemmTile& tile, const GemmElements& elements,
                        double m, double n, double k);
// Of 16 bits.
double GemmMicroseconds(const GemmTile& tile, double m, double n, double k);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_TIME_H_
