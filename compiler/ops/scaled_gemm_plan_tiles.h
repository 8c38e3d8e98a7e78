// The tile configurations of scaled_gemm and what its formats cost. No LLVM:
// the plan chooses, the body builds any of them.
#ifndef INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_TILES_H_
#define INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_TILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_time.h"

namespace ingot {

// How scales reach LDS; the names are baked (tile/element.h tells the details).
enum class ScalePieces {
  kNone,
  kLinearWords,
  kLinearBytes,
  kShuffledBytes,
  kShuffledPairs,
  kShuffledWords,
};
const char* ScalePiecesName(ScalePieces pieces);

// What a tile's cost and its LDS depend on beside its extents.
struct ScaledFormats {
  int bits_a = 8;
  int bits_b = 8;
  bool block_scaled = true;
  // Scales come as whole words, linear or shuffled.
  bool scales_shuffled = false;
  bool scale_words = false;
};

// Largest tile first.
std::vector<GemmTile> ScaledTiles(GemmSchedule schedule,
                                  const ScaledFormats& formats);
// The same; more between them, and those whose waves or workgroups share k.
std::vector<GemmTile> AllScaledTiles(GemmSchedule schedule,
                                     const ScaledFormats& formats);

// Scales of `rows` rows, of which a wave has `wave_rows`.
ScalePieces PiecesOf(const ScaledFormats& formats, const GemmTile& tile,
                     int wave_rows);

int64_t ScaledLdsBytes(const ScaledFormats& formats, const GemmTile& tile);

// What the formats cost in gemm's model of time; and microseconds by it.
GemmElements ScaledElements(const ScaledFormats& formats, const GemmTile& tile);
double ScaledMicroseconds(const ScaledFormats& formats, const GemmTile& tile,
                          double m, double n, double k);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_TILES_H_
