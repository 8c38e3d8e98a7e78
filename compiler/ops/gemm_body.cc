// gemm, the code half; what it computes stands in
// gemm_plan_contract.h.
#include "compiler/ops/body.h"
#include "compiler/ops/gemm_body_epilogue.h"
#include "compiler/ops/gemm_body_operand.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/partial_sums.h"
#include "compiler/tile/tile_order.h"

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
  std::string part;  // what of the product: "all", "partial", "sum"
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
  p.part = b.String("part");
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
  p.shape.leaves_loads = p.dma && p.part != "sum";
  return p;
}

// `part`: which one of k, where that is shared.
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
  return tile::RunDmaLoop(
      b, p.shape, left, right,
      p.part == "partial" ? tile::PartOfK(b, p.shape, k, part, b.Arg("parts"))
                          : tile::AllOfK(b, p.shape, k));
}

tile::PartialSums Partials(Builder& b, const tile::MatmulShape& shape,
                           const tile::TilePlace& place) {
  return tile::PartialSums(
      b, shape, place, {b.Arg("partials"), b.Arg("part_bytes"), b.BlockZ()});
}

// What becomes of the sums that the calling wave holds.
absl::Status Finish(Builder& b, const Params& p, const tile::MatmulShape& shape,
                    const tile::TilePlace& place, Value part,
                    const Values& sums) {
  if (p.part != "partial") return FinishGemm(b, shape, place, sums);
  Partials(b, shape, place).Store(part, sums);
  return b.status();
}

}  // namespace

absl::Status Build_gemm(Builder& b, const KernelSpec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Params p, ReadParams(b));
  const Value m = b.Arg("m");
  const Value n = b.Arg("n");
  const Value tiles_m = (m + (p.shape.m - 1)) / p.shape.m;
  const Value tiles_n = (n + (p.shape.n - 1)) / p.shape.n;
  const tile::TilePart work =
      p.part == "partial"
          ? tile::OrderTileParts(b, tiles_m, tiles_n, b.Arg("parts"))
          : tile::TilePart{tile::OrderTiles(b, tiles_m, tiles_n), {}};
  const tile::TilePlace place{work.tile.m * p.shape.m, work.tile.n * p.shape.n,
                              m, n};
  if (p.part == "sum") {
    return FinishGemm(b, p.shape, place,
                      Partials(b, p.shape, place).Sum(b.Arg("parts")));
  }
  const Values sums = Multiply(b, p, place, work.part);
  INGOT_RETURN_IF_ERROR(b.status());
  const tile::MatmulShape shape = ShapeOfSums(p.shape);
  if (shape.waves() == p.shape.waves()) {
    return Finish(b, p, shape, place, work.part, sums);
  }
  absl::Status status;
  b.If(b.WaveId() < shape.waves(),
       [&] { status = Finish(b, p, shape, place, work.part, sums); });
  return status;
}

}  // namespace ingot
