#include "compiler/ops/gemm_body_fp8.h"

#include <algorithm>
#include <string>

#include "compiler/tile/epilogue.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"
#include "compiler/tile/tile_order.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

tile::Element ReadElement(Builder& b, const char* dtype) {
  return {tile::kI8, b.String(dtype) == "e5m2" ? tile::MxFormat::kE5M2
                                               : tile::MxFormat::kE4M3};
}

tile::MatmulShape ReadShape(Builder& b) {
  const auto number = [&](const char* name) {
    return static_cast<int>(b.Int(name));
  };
  tile::MatmulShape shape;
  shape.m = number("tile_m");
  shape.n = number("tile_n");
  shape.k = number("tile_k");
  shape.waves_m = number("waves_m");
  shape.waves_n = number("waves_n");
  shape.stages = number("stages");
  shape.a = ReadElement(b, "dtype_a");
  shape.b = ReadElement(b, "dtype_b");
  for (const Param& option : b.spec().codegen) {
    const int64_t* value = std::get_if<int64_t>(&option.value);
    if (option.name == "agpr_alloc" && value != nullptr) {
      shape.accumulate_in_agprs = *value > 0;
    }
  }
  return shape;
}

Values Multiply(Builder& b, const tile::MatmulShape& shape,
                const tile::TilePlace& place) {
  const Value k = b.Arg("k");
  tile::Panel left(b, shape.panel_a(),
                   {b.Arg("a"), b.Arg("lda"), place.row, place.rows, k});
  tile::Panel right(b, shape.panel_b(),
                    {b.Arg("b"), b.Arg("ldb"), place.column, place.columns, k});
  if (b.String("schedule") == "dma") {
    return tile::RunDmaLoop(b, shape, left, right, k);
  }
  return tile::RunStagedLoop(b, shape, left, static_cast<int>(b.Int("width_a")),
                             right, static_cast<int>(b.Int("width_b")), k);
}

absl::StatusOr<tile::EpilogueTerms> ReadTerms(Builder& b) {
  INGOT_ASSIGN_OR_RETURN(const tile::Type elem,
                         tile::TypeOf(b.String("dtype_d")));
  tile::EpilogueTerms terms;
  terms.alpha = b.Arg("alpha", tile::kF32);
  terms.d = {b.Arg("d"), b.Arg("ldd"), elem,
             static_cast<int>(b.Int("width_d"))};
  const std::string scaling = b.String("scaling");
  if (scaling == "tensor") {
    const tile::Access once{.invariant = true};
    terms.alpha = terms.alpha * (b.Load(tile::kF32, b.Arg("scale_a"), once) *
                                 b.Load(tile::kF32, b.Arg("scale_b"), once));
  } else if (scaling == "row") {
    terms.row_scale = {b.Arg("scale_a"), tile::kF32, 1};
    terms.column_scale = {b.Arg("scale_b"), tile::kF32, 1};
  }
  const std::string bias = b.String("bias");
  if (bias == "none") return terms;
  INGOT_ASSIGN_OR_RETURN(const tile::Type type, tile::TypeOf(bias));
  terms.bias = {b.Arg("bias"), type, static_cast<int>(b.Int("width_bias"))};
  return terms;
}

}  // namespace

bool IsFp8Gemm(const KernelSpec& spec) {
  return std::any_of(spec.params.begin(), spec.params.end(),
                     [](const Param& p) { return p.name == "scaling"; });
}

absl::Status BuildFp8Gemm(Builder& b) {
  const tile::MatmulShape shape = ReadShape(b);
  INGOT_RETURN_IF_ERROR(b.status());
  const Value m = b.Arg("m");
  const Value n = b.Arg("n");
  const tile::TileIndex index = tile::OrderTiles(
      b, (m + (shape.m - 1)) / shape.m, (n + (shape.n - 1)) / shape.n);
  const tile::TilePlace place{index.m * shape.m, index.n * shape.n, m, n};
  const Values sums = Multiply(b, shape, place);
  INGOT_RETURN_IF_ERROR(b.status());
  INGOT_ASSIGN_OR_RETURN(const tile::EpilogueTerms terms, ReadTerms(b));
  tile::FinishTile(b, shape, place, terms, sums);
  return b.status();
}

}  // namespace ingot
