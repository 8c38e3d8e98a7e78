#include "compiler/ops/scaled_gemm_plan_tiles.h"

#include <algorithm>

namespace ingot {
namespace {

// A step of k has 128 bytes a row where it can, more where a tile has few rows
// and would have too few bytes in flight. Stages as in gemm_plan_tiles.cc.
constexpr GemmTile kTiles[] = {
    {256, 256, 128, 2, 2, 2}, {128, 128, 128, 2, 2, 2}, {64, 64, 128, 2, 2, 4},
    {32, 64, 256, 2, 2, 2},   {16, 64, 256, 1, 4, 4},
};
// Between those, where they would leave compute units idle; of grouped_gemm the
// walk over groups evens that out.
constexpr GemmTile kBetweenTiles[] = {
    {192, 256, 128, 2, 2, 2}, {128, 256, 128, 2, 2, 2},
    {256, 128, 128, 2, 2, 2}, {64, 128, 128, 2, 2, 3},
    {128, 64, 128, 2, 2, 3},
};
// Waves that share k, each with a ring of its own: as gemm has them for few
// rows. Two stages of four waves are enough in flight, and a round of more
// would often be longer than what is left of k.
constexpr GemmTile kSharedKTiles[] = {
    {64, 64, 128, 1, 1, 2, 4}, {64, 32, 128, 1, 1, 2, 4},
    {32, 64, 128, 1, 1, 2, 4}, {32, 32, 128, 1, 1, 4, 4},
    {16, 32, 256, 1, 1, 2, 4}, {16, 16, 256, 1, 1, 4, 4},
};
// Without scales: those of 16 bits (gemm_plan_tiles.cc) in bytes, but where a
// wave would have 48 rows.
constexpr GemmTile kUnscaledTiles[] = {
    {256, 256, 128, 2, 4, 2},  {256, 256, 128, 2, 2, 2},
    {192, 256, 128, 2, 2, 2},  {128, 256, 128, 2, 2, 2},
    {256, 128, 128, 2, 2, 2},  {128, 128, 128, 2, 2, 2},
    {64, 128, 128, 2, 2, 3},   {128, 64, 128, 2, 2, 3},
    {64, 64, 128, 2, 2, 4},    {32, 64, 256, 2, 2, 2},
    {16, 64, 256, 1, 4, 4},    {64, 64, 128, 1, 1, 2, 4},
    {64, 32, 128, 1, 1, 3, 4}, {32, 64, 128, 1, 1, 3, 4},
    {32, 32, 128, 1, 1, 4, 4}, {32, 16, 128, 1, 1, 6, 4},
    {16, 64, 128, 1, 1, 4, 4}, {16, 32, 128, 1, 1, 6, 4},
    {16, 16, 128, 1, 1, 8, 4},
};
constexpr GemmTile kStagedTiles[] = {
    {128, 128, 128, 2, 2, 2},
    {64, 64, 128, 2, 2, 2},
};

int64_t RoundUp(int64_t value, int64_t factor) {
  return (value + factor - 1) / factor * factor;
}

int64_t ScaleBytes(ScalePieces pieces, int rows, const GemmTile& tile) {
  const int64_t sets = tile.k / 128;
  int64_t bytes = 0;
  switch (pieces) {
    case ScalePieces::kNone:
      break;
    case ScalePieces::kLinearWords:
      bytes = rows * sets * 4;
      break;
    case ScalePieces::kLinearBytes:
    case ScalePieces::kShuffledBytes:
      bytes = rows / 16 * sets * 256;
      break;
    case ScalePieces::kShuffledPairs:
      bytes = rows / 32 * sets * 256;
      break;
    case ScalePieces::kShuffledWords:
      bytes = rows / 32 * (sets / 2) * 256;
      break;
  }
  return RoundUp(bytes, tile.waves() / tile.waves_k * 256);
}

}  // namespace

const char* ScalePiecesName(ScalePieces pieces) {
  switch (pieces) {
    case ScalePieces::kNone:
      return "none";
    case ScalePieces::kLinearWords:
      return "linear_words";
    case ScalePieces::kLinearBytes:
      return "linear_bytes";
    case ScalePieces::kShuffledBytes:
      return "shuffled_bytes";
    case ScalePieces::kShuffledPairs:
      return "shuffled_pairs";
    case ScalePieces::kShuffledWords:
      return "shuffled_words";
  }
  return "";
}

namespace {

// A step has twice the k where both have 4 bits.
void WidenSteps(const ScaledFormats& formats, std::vector<GemmTile>* tiles) {
  if (formats.bits_a != 4 || formats.bits_b != 4) return;
  for (GemmTile& tile : *tiles) tile.k *= 2;
}

}  // namespace

std::vector<GemmTile> ScaledTiles(GemmSchedule schedule,
                                  const ScaledFormats& formats) {
  const absl::Span<const GemmTile> all =
      schedule == GemmSchedule::kStaged ? absl::MakeConstSpan(kStagedTiles)
      : formats.block_scaled            ? absl::MakeConstSpan(kTiles)
                                        : kUnscaledTiles;
  std::vector<GemmTile> tiles(all.begin(), all.end());
  WidenSteps(formats, &tiles);
  // Rows of 6 bits through registers: the large tile's masks and addresses need
  // more scalars than there are.
  if (schedule == GemmSchedule::kStaged &&
      (formats.bits_a == 6 || formats.bits_b == 6)) {
    tiles.erase(tiles.begin());
  }
  return tiles;
}

std::vector<GemmTile> AllScaledTiles(GemmSchedule schedule,
                                     const ScaledFormats& formats) {
  std::vector<GemmTile> tiles = ScaledTiles(schedule, formats);
  if (schedule != GemmSchedule::kDma) return tiles;
  if (formats.block_scaled) {
    std::vector<GemmTile> more(std::begin(kBetweenTiles),
                               std::end(kBetweenTiles));
    more.insert(more.end(), std::begin(kSharedKTiles), std::end(kSharedKTiles));
    WidenSteps(formats, &more);
    tiles.insert(tiles.end(), more.begin(), more.end());
  }
  AddSplitTiles(&tiles);
  return tiles;
}

ScalePieces PiecesOf(const ScaledFormats& formats, const GemmTile& tile,
                     int wave_rows) {
  if (!formats.block_scaled) return ScalePieces::kNone;
  if (!formats.scales_shuffled) {
    return formats.scale_words ? ScalePieces::kLinearWords
                               : ScalePieces::kLinearBytes;
  }
  if (wave_rows % 32 != 0) return ScalePieces::kShuffledBytes;
  return formats.scale_words && tile.k % 256 == 0 ? ScalePieces::kShuffledWords
                                                  : ScalePieces::kShuffledPairs;
}

int64_t ScaledLdsBytes(const ScaledFormats& formats, const GemmTile& tile) {
  // Waves that share k have steps of their own.
  const int waves = tile.waves() / tile.waves_k;
  const auto panel = [&](int rows, int bits, int wave_rows) {
    return RoundUp(int64_t{rows} * tile.k * bits / 8, waves * 1024) +
           ScaleBytes(PiecesOf(formats, tile, wave_rows), rows, tile);
  };
  const int64_t steps =
      tile.stages * (panel(tile.m, formats.bits_a, tile.m / tile.waves_m) +
                     panel(tile.n, formats.bits_b, tile.n / tile.waves_n));
  const int64_t sums = tile.waves_k > 1 ? int64_t{4} * tile.m * tile.n : 0;
  return std::max(steps, sums) * tile.waves_k;
}

GemmElements ScaledElements(const ScaledFormats& formats,
                            const GemmTile& tile) {
  const bool eight = formats.bits_a == 8 || formats.bits_b == 8;
  // Reads of 16 bytes a lane, of 8 where elements have 6 bits.
  const auto reads = [&](int bits) {
    return (bits == 8   ? 2
            : bits == 6 ? 3
                        : 1) +
           (formats.block_scaled ? 1.0 : 0.0);
  };
  const double scale = formats.block_scaled ? 1 / 32.0 : 0;
  return {.bytes_a = formats.bits_a / 8.0 + scale,
          .bytes_b = formats.bits_b / 8.0 + scale,
          .matrix_flops = eight ? 8192.0 : 16384.0,
          .power_clocks_per_us = eight ? 1600.0 : 1360.0,
          .mfma_k = 128,
          .reads_a = reads(formats.bits_a),
          .reads_b = reads(formats.bits_b),
          .registers_a = double(formats.bits_a),
          .registers_b = double(formats.bits_b),
          .lds_bytes = double(ScaledLdsBytes(formats, tile))};
}

// Waves that share k wait for their last loads, meet and put their sums through
// LDS, at 128 bytes a clock there and 256 back; only where a launch is short
// does it decide between tiles.
double ScaledMicroseconds(const ScaledFormats& formats, const GemmTile& tile,
                          double m, double n, double k) {
  const double us =
      GemmMicroseconds(tile, ScaledElements(formats, tile), m, n, k);
  if (tile.waves_k == 1) return us;
  constexpr double kMeeting = 600;
  constexpr double kClocksPerUs = 2400;
  const double bytes = 4.0 * tile.m * tile.n * tile.waves_k;
  return us + (kMeeting + bytes / 128 + bytes / 256) / kClocksPerUs;
}

}  // namespace ingot
