// gemm, the code half; what it computes stands in
// gemm_plan_contract.h.
#include "compiler/ops/body.h"
#include "compiler/ops/gemm_body_epilogue.h"
#include "compiler/ops/gemm_body_operand.h"
#include "compiler/ops/gemm_body_parts.h"
#include "compiler/tile/matmul.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

// The baked parameters, as gemm_plan.cc writes them.
struct Params {
  tile::MatmulShape shape;
  bool a_transposed = false;
  bool b_transposed = false;
  bool halves = false;
  bool dma = false;
  int width_a = 0;
  int width_b = 0;
};

absl::StatusOr<Params> ReadParams(Builder& b) {
  const auto number = [&](const char* name) {
    return static_cast<int>(b.Int(name));
  };
  Params p;
  p.shape.m = number("tile_m");
  p.shape.n = number("tile_n");
  p.shape.k = number("tile_k");
  p.shape.waves_m = number("waves_m");
  p.shape.waves_n = number("waves_n");
  p.shape.stages = number("stages");
  p.shape.waves_k = number("waves_k");
  const std::string layout = b.String("layout");
  p.a_transposed = layout.substr(0, 1) == "t";
  p.b_transposed = layout.substr(1) == "t";
  p.halves = b.String("pairing") == "halves";
  p.dma = b.String("schedule") == "dma";
  p.width_a = number("width_a");
  p.width_b = number("width_b");
  INGOT_RETURN_IF_ERROR(b.status());
  INGOT_ASSIGN_OR_RETURN(p.shape.a, tile::ElementOf(b.String("dtype"), "none"));
  INGOT_ASSIGN_OR_RETURN(p.shape.b,
                         tile::ElementOf(b.String("dtype_b"), "none"));
  for (const Param& option : b.spec().codegen) {
    const int64_t* value = std::get_if<int64_t>(&option.value);
    if (option.name == "agpr_alloc" && value != nullptr) {
      p.shape.accumulate_in_agprs = *value > 0;
    }
  }
  p.shape.leaves_loads = p.dma && b.String("part") != "sum";
  return p;
}

Values Multiply(Builder& b, const Params& p, const tile::TilePlace& place,
                Value part) {
  const Value k = b.Arg("k");
  const tile::MatmulOperand left{{GemmOperand(b, "a", p.shape.a.type),
                                  b.Arg("lda"), place.row, place.rows, k},
                                 !p.a_transposed};
  const tile::MatmulOperand right{
      {GemmOperand(b, "b", p.shape.b.type), b.Arg("ldb"), place.column,
       place.columns, k},
      p.b_transposed,
      p.halves};
  if (!p.dma) {
    return tile::RunStagedLoop(b, p.shape, left, p.width_a, right, p.width_b);
  }
  return tile::RunDmaLoop(b, p.shape, left, right,
                          RangeOfPart(b, p.shape, k, part));
}

}  // namespace

absl::Status Build_gemm(Builder& b, const KernelSpec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Params p, ReadParams(b));
  return BuildProduct(
      b, p.shape,
      {[&](const tile::TilePlace& place, Value part) {
         return Multiply(b, p, place, part);
       },
       [&](const tile::MatmulShape& shape, const tile::TilePlace& place,
           const Values& sums) { return FinishGemm(b, shape, place, sums); }});
}

}  // namespace ingot
