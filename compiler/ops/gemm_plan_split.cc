#include "compiler/ops/gemm_plan_split.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/recipe_steps.h"

namespace ingot {
namespace {

const char* ParamOf(GemmPart part) {
  switch (part) {
    case GemmPart::kAll:
      return "all";
    case GemmPart::kPartial:
      return "partial";
    case GemmPart::kSum:
      return "sum";
  }
  return "";
}

Expr Tiles(const GemmProduct& p, const GemmTile& tile) {
  return CeilDiv(p.m, Expr::Const(tile.m)) * CeilDiv(p.n, Expr::Const(tile.n));
}

// Of a part's sums, of all matrices of a batch.
Expr PartBytes(const GemmProduct& p) {
  constexpr int kBlock = 16;
  return CeilDiv(p.m, Expr::Const(kBlock)) * CeilDiv(p.n, Expr::Const(kBlock)) *
         p.batch * Expr::Const(kBlock * kBlock * 4);
}

}  // namespace

std::string GemmPartName(const GemmTile& tile, GemmPart part) {
  if (part == GemmPart::kSum) return "sum";
  GemmTile named = tile;
  named.split_k = 1;
  return absl::StrCat(GemmTileName(named),
                      part == GemmPart::kPartial ? "_partial" : "");
}

Recipe GemmRecipe(
    const GemmProduct& product, const GemmTileLaunch& launch,
    absl::FunctionRef<KernelSpec(const GemmTile& tile, GemmPart part)> kernel,
    Plan* plan) {
  // What adds up the parts: a wave has two blocks beside each other.
  constexpr GemmTile kSum = {16, 128, 64, 1, 4, 1};
  Recipe recipe;
  const Expr parts =
      GemmSplits(launch.tile, launch.lds_bytes,
                 Tiles(product, launch.tile) * product.batch, product.k);
  const auto add = [&](GemmPart part) {
    const bool sum = part == GemmPart::kSum;
    const GemmTile& tile = sum ? kSum : launch.tile;
    KernelSpec spec = kernel(tile, part);
    spec.params.push_back({"part", ParamOf(part)});
    spec.codegen = sum ? std::vector<Param>{{"agpr_alloc", int64_t{0}}}
                       : GemmCodegenOptions(launch.schedule, tile);
    spec.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
    spec.grid = {Tiles(product, tile),
                 part == GemmPart::kPartial ? parts : Expr::Const(1),
                 product.batch};
    spec.lds_bytes = sum ? 0 : static_cast<uint32_t>(launch.lds_bytes);
    if (part != GemmPart::kAll) {
      spec.args.push_back(
          {"partials", KernelArg::kWorkspace, 0, 8, Expr::Const(0)});
      spec.args.push_back(
          {"part_bytes", KernelArg::kInteger, 0, 8, PartBytes(product)});
      spec.args.push_back({"parts", KernelArg::kInteger, 0, 4, parts});
    }
    AddLaunch(std::move(spec), plan, &recipe);
  };
  if (launch.tile.split_k == 1) {
    add(GemmPart::kAll);
    return recipe;
  }
  recipe.workspace_bytes = parts * PartBytes(product);
  add(GemmPart::kPartial);
  add(GemmPart::kSum);
  return recipe;
}

}  // namespace ingot
