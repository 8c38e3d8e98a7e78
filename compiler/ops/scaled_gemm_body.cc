// scaled_gemm, the code half; what it computes stands in
// scaled_gemm_plan_request.h.
#include <string>

#include "compiler/ops/body.h"
#include "compiler/ops/gemm_body_parts.h"
#include "compiler/tile/epilogue.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"

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
  p.shape.waves_k = number("waves_k");
  p.dma = b.String("schedule") == "dma";
  p.shape.leaves_loads = p.dma && b.String("part") != "sum";
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

Values Multiply(Builder& b, const Params& p, const tile::TilePlace& place,
                Value part) {
  const Value k = b.Arg("k");
  tile::MatmulOperand left{{b.Arg("a"), b.Arg("lda"), place.row, place.rows, k,
                            b.Arg("scale_a"), b.Arg("ld_scale_a")}};
  tile::MatmulOperand right{{b.Arg("b"), b.Arg("ldb"), place.column,
                             place.columns, k, b.Arg("scale_b"),
                             b.Arg("ld_scale_b")}};
  right.shuffled = p.weights_shuffled;
  if (!p.dma) {
    return tile::RunStagedLoop(b, p.shape, left, p.width_a, right, p.width_b);
  }
  return tile::RunDmaLoop(b, p.shape, left, right,
                          RangeOfPart(b, p.shape, k, part));
}

absl::Status Finish(Builder& b, const tile::MatmulShape& shape,
                    const tile::TilePlace& place, const Values& sums) {
  INGOT_ASSIGN_OR_RETURN(const tile::EpilogueTerms terms, ReadTerms(b));
  tile::FinishTile(b, shape, place, terms, sums);
  return b.status();
}

}  // namespace

absl::Status Build_scaled_gemm(Builder& b, const KernelSpec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Params p, ReadParams(b));
  return BuildProduct(
      b, p.shape,
      {[&](const tile::TilePlace& place, Value part) {
         return Multiply(b, p, place, part);
       },
       [&](const tile::MatmulShape& shape, const tile::TilePlace& place,
           const Values& sums) { return Finish(b, shape, place, sums); }});
}

}  // namespace ingot
