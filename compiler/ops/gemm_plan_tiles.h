// The tile configurations of gemm, and which of them serves how many rows. No
// LLVM: the plan chooses, the body builds any of them.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_TILES_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_TILES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "compiler/expr.h"
#include "compiler/plan.h"

namespace ingot {

// How operands reach LDS: by LDS-DMA, 16 bytes a lane, through `stages`
// buffers; or through registers, where rows are not made of 16-byte units.
enum class GemmSchedule { kDma, kStaged };

// A workgroup of waves_m x waves_n waves computes an m x n tile of d, k
// elements at a time. Eight of them take turns on four SIMDs (tile/schedule.h,
// PingPongSchedule). waves_k waves, where not 1, have the whole tile each and
// every waves_k-th step of k.
struct GemmTile {
  int m = 0;
  int n = 0;
  int k = 0;
  int waves_m = 0;
  int waves_n = 0;
  int stages = 0;
  int waves_k = 1;
  // Workgroups that share the k of a tile, whose sums a second launch adds; 0:
  // as many as fill the device (GemmSplits).
  int split_k = 1;

  int waves() const { return waves_m * waves_n * waves_k; }
  bool ping_pong() const { return waves_k == 1 && waves() == 8; }
  int lds_bytes() const {
    const int sums = waves_k > 1 ? m * n * 4 : 0;
    return std::max((m + n) * k * 2 * stages, sums) * waves_k;
  }
  bool operator==(const GemmTile&) const = default;
};

// Those that the schedule supports, largest tile first; one wave a SIMD, each
// with sums of its own, of all k.
absl::Span<const GemmTile> GemmTiles(GemmSchedule schedule);
// The same, those whose waves take turns and those whose waves or workgroups
// share k.
std::vector<GemmTile> AllGemmTiles(GemmSchedule schedule);

// Adds each one with its k split among as many workgroups as fill the device.
void AddSplitTiles(std::vector<GemmTile>* tiles);

// Into how many parts a tile that leaves it open splits k: as many as fill the
// device, of at least so many steps that a part is worth its launch. The number
// of compute units is that of a whole MI355X whatever runs the kernel, so that
// results are the same everywhere. `lds_bytes` are a workgroup's.
Expr GemmSplits(const GemmTile& tile, int64_t lds_bytes, const Expr& tiles,
                const Expr& k);
double GemmSplits(const GemmTile& tile, int64_t lds_bytes, double tiles,
                  double k);

// A range of m, inclusive, and the tile that the model likes best there.
struct GemmBucket {
  int64_t min = 0;
  int64_t max = 0;
  GemmTile tile;
};

// Covers min_m..max_m without gaps, in order, out of `tiles` (not empty), each
// range with the tile of least microseconds(tile, m); neighbours differ. Ranges
// end at `scale` times a power of two.
std::vector<GemmBucket> TileBuckets(
    absl::Span<const GemmTile> tiles, int64_t min_m, int64_t max_m,
    int64_t scale,
    absl::FunctionRef<double(const GemmTile&, double)> microseconds);
// "256x256x64", with what else tells tiles apart: "_w8", "_k4", "_split".
std::string GemmTileName(const GemmTile& tile);

// "dma_narrow_64x64x64": of a variant that accesses `width_d` elements of d.
std::string GemmVariantName(GemmSchedule schedule, int64_t width_d,
                            const GemmTile& tile);

// A dim as the model counts it: one whose size is not known as a typical one.
double ModelExtent(const PlanDim& dim);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_TILES_H_
