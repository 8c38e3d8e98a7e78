#include "compiler/ops/gemm_body_parts.h"

#include <string>

#include "compiler/tile/partial_sums.h"
#include "compiler/tile/tile_order.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

tile::PartialSums Partials(Builder& b, const tile::MatmulShape& shape,
                           const tile::TilePlace& place) {
  return tile::PartialSums(
      b, shape, place, {b.Arg("partials"), b.Arg("part_bytes"), b.BlockZ()});
}

}  // namespace

tile::KRange RangeOfPart(Builder& b, const tile::MatmulShape& shape, Value k,
                         Value part) {
  return part.valid() ? tile::PartOfK(b, shape, k, part, b.Arg("parts"))
                      : tile::AllOfK(b, shape, k);
}

absl::Status BuildProduct(Builder& b, const tile::MatmulShape& shape,
                          const ProductBody& body) {
  const std::string which = b.String("part");
  INGOT_RETURN_IF_ERROR(b.status());
  const Value m = b.Arg("m");
  const Value n = b.Arg("n");
  const Value tiles_m = (m + (shape.m - 1)) / shape.m;
  const Value tiles_n = (n + (shape.n - 1)) / shape.n;
  const bool partial = which == "partial";
  const tile::TilePart work =
      partial ? tile::OrderTileParts(b, tiles_m, tiles_n, b.Arg("parts"))
              : tile::TilePart{tile::OrderTiles(b, tiles_m, tiles_n), {}};
  const tile::TilePlace place{work.tile.m * shape.m, work.tile.n * shape.n, m,
                              n};
  if (which == "sum") {
    return body.finish(shape, place,
                       Partials(b, shape, place).Sum(b.Arg("parts")));
  }
  const Values sums = body.multiply(place, work.part);
  INGOT_RETURN_IF_ERROR(b.status());
  const tile::MatmulShape held = ShapeOfSums(shape);
  // By the waves that hold some.
  const auto finish = [&]() -> absl::Status {
    if (!partial) return body.finish(held, place, sums);
    Partials(b, held, place).Store(work.part, sums);
    return b.status();
  };
  if (held.waves() == shape.waves()) return finish();
  absl::Status status;
  b.If(b.WaveId() < held.waves(), [&] { status = finish(); });
  b.If(b.WaveId() >= held.waves(),
       [&] { tile::AwaitLoads(b, held, /*stores=*/0); });
  return status;
}

}  // namespace ingot
