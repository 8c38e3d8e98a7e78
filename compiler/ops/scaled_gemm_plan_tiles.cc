#include "compiler/ops/scaled_gemm_plan_tiles.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

// A step of k has 128 bytes a row where it can, more where a tile has few rows
// and would have too few bytes in flight. Stages as in gemm_plan_tiles.cc.
constexpr GemmTile kTiles[] = {
    {256, 256, 128, 2, 2, 2}, {128, 128, 128, 2, 2, 2}, {64, 64, 128, 2, 2, 4},
    {32, 64, 256, 2, 2, 2},   {16, 64, 256, 1, 4, 4},
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
  return RoundUp(bytes, tile.waves() * 256);
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

std::vector<GemmTile> ScaledTiles(GemmSchedule schedule,
                                  const ScaledFormats& formats) {
  const absl::Span<const GemmTile> all = schedule == GemmSchedule::kDma
                                             ? absl::MakeConstSpan(kTiles)
                                             : kStagedTiles;
  std::vector<GemmTile> tiles(all.begin(), all.end());
  if (formats.bits_a == 4 && formats.bits_b == 4) {
    for (GemmTile& tile : tiles) tile.k *= 2;
  }
  // Rows of 6 bits through registers: the large tile's masks and addresses need
  // more scalars than there are.
  if (schedule == GemmSchedule::kStaged &&
      (formats.bits_a == 6 || formats.bits_b == 6)) {
    tiles.erase(tiles.begin());
  }
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
  const auto panel = [&](int rows, int bits, int wave_rows) {
    return RoundUp(int64_t{rows} * tile.k * bits / 8, tile.waves() * 1024) +
           ScaleBytes(PiecesOf(formats, tile, wave_rows), rows, tile);
  };
  return tile.stages * (panel(tile.m, formats.bits_a, tile.m / tile.waves_m) +
                        panel(tile.n, formats.bits_b, tile.n / tile.waves_n));
}

// As TilesMicroseconds, with the clocks and the bytes of the formats: an MFMA
// with an 8-bit operand does 8192 FLOP a clock, one without 16384.
double ScaledMicroseconds(const ScaledFormats& formats, const GemmTile& tile,
                          double m, double n, double k) {
  constexpr double kCus = 256;
  constexpr double kLaunch = 4;
  constexpr double kBytesPerUs = 6.2e6;
  constexpr double kStepOverhead = 120;  // waits and barriers, clocks
  const double rate = formats.bits_a == 8 || formats.bits_b == 8 ? 8192 : 16384;
  // With the scales.
  const double scale = formats.block_scaled ? 1 / 32.0 : 0;
  const double bytes_a = formats.bits_a / 8.0 + scale;
  const double bytes_b = formats.bits_b / 8.0 + scale;
  const double mfma = 2.0 * tile.m * tile.n * tile.k / rate;
  const double lds = (tile.m * double(tile.waves_n) * bytes_a +
                      tile.n * double(tile.waves_m) * bytes_b) *
                     tile.k / 256;
  const double l2 = (tile.m * bytes_a + tile.n * bytes_b) * tile.k / 64;
  const int resident = ScaledLdsBytes(formats, tile) <= 80 * 1024 ? 2 : 1;
  const double step = std::max({mfma, lds, l2}) + kStepOverhead / resident;
  const double clocks_per_us = tile.m * tile.n >= 128 * 128 ? 1500 : 2200;
  const double tiles = std::ceil(m / tile.m) * std::ceil(n / tile.n);
  const double rounds = std::max(1.0, std::ceil(tiles / kCus));
  const double compute = rounds * std::ceil(k / tile.k) * step / clocks_per_us;
  const double memory =
      (m * k * bytes_a + n * k * bytes_b + 2 * m * n) / kBytesPerUs;
  return kLaunch + std::max(compute, memory) + std::min(compute, memory) / 8;
}

}  // namespace ingot
