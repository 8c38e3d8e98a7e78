// scaled_gemm, the code half; what it computes stands in
// scaled_gemm_plan_request.h.
#include <string>

#include "compiler/ops/body.h"
#include "compiler/tile/epilogue.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"
#include "compiler/tile/tile_order.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

// The baked parameters, as scaled_gemm_plan.cc writes them.
struct Params {
  tile::MatmulShape shape;
  bool dma = false;
  bool weights_shuffled = false;
  int width_a = 0;
  int width_b = 0;
};

absl::StatusOr<Params> ReadParams(Builder& b) {
  const auto number = [&](const char* name) {
    return static_cast<int>(b.Int(name));
  };
  Params p;
  INGOT_ASSIGN_OR_RETURN(
      p.shape.a, tile::ElementOf(b.String("dtype_a"), b.String("scales_a")));
  INGOT_ASSIGN_OR_RETURN(
      p.shape.b, tile::ElementOf(b.String("dtype_b"), b.String("scales_b")));
  p.shape.m = number("tile_m");
  p.shape.n = number("tile_n");
  p.shape.k = number("tile_k");
  p.shape.waves_m = number("waves_m");
  p.shape.waves_n = number("waves_n");
  p.shape.stages = number("stages");
  p.dma = b.String("schedule") == "dma";
  p.shape.leaves_loads = p.dma;
  p.weights_shuffled = number("weights_shuffled") != 0;
  p.width_a = number("width_a");
  p.width_b = number("width_b");
  for (const Param& option : b.spec().codegen) {
    const int64_t* value = std::get_if<int64_t>(&option.value);
    if (option.name == "agpr_alloc" && value != nullptr) {
      p.shape.accumulate_in_agprs = *value > 0;
    }
  }
  INGOT_RETURN_IF_ERROR(b.status());
  return p;
}

absl::StatusOr<tile::EpilogueTerms> ReadTerms(Builder& b) {
  INGOT_ASSIGN_OR_RETURN(const tile::Type elem,
                         tile::TypeOf(b.String("dtype_d")));
  tile::EpilogueTerms terms;
  terms.d = {b.Arg("d"), b.Arg("ldd"), elem,
             static_cast<int>(b.Int("width_d"))};
  const std::string bias = b.String("bias");
  if (bias == "none") return terms;
  INGOT_ASSIGN_OR_RETURN(const tile::Type type, tile::TypeOf(bias));
  terms.bias = {b.Arg("bias"), type, static_cast<int>(b.Int("width_bias"))};
  return terms;
}

Values Multiply(Builder& b, const Params& p, const tile::TilePlace& place) {
  const Value k = b.Arg("k");
  tile::PanelShape shape_a = p.shape.panel_a();
  tile::PanelShape shape_b = p.shape.panel_b();
  shape_b.shuffled = p.weights_shuffled;
  tile::Panel left(b, shape_a,
                   {b.Arg("a"), b.Arg("lda"), place.row, place.rows, k,
                    b.Arg("scale_a"), b.Arg("ld_scale_a")});
  tile::Panel right(b, shape_b,
                    {b.Arg("b"), b.Arg("ldb"), place.column, place.columns, k,
                     b.Arg("scale_b"), b.Arg("ld_scale_b")});
  if (p.dma) return tile::RunDmaLoop(b, p.shape, left, right, k);
  return tile::RunStagedLoop(b, p.shape, left, p.width_a, right, p.width_b, k);
}

}  // namespace

absl::Status Build_scaled_gemm(Builder& b, const KernelSpec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Params p, ReadParams(b));
  const Value m = b.Arg("m");
  const Value n = b.Arg("n");
  const tile::TileIndex index = tile::OrderTiles(
      b, (m + (p.shape.m - 1)) / p.shape.m, (n + (p.shape.n - 1)) / p.shape.n);
  const tile::TilePlace place{index.m * p.shape.m, index.n * p.shape.n, m, n};
  const Values sums = Multiply(b, p, place);
  INGOT_RETURN_IF_ERROR(b.status());
  INGOT_ASSIGN_OR_RETURN(const tile::EpilogueTerms terms, ReadTerms(b));
  tile::FinishTile(b, p.shape, place, terms, sums);
  return b.status();
}

}  // namespace ingot
