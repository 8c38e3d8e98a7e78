// The tile configuration as callers pin it and kernels bake it, for the ops
// whose kernels are tiles of a matrix product.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_TUNING_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_TUNING_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/candidates.h"
#include "compiler/kernel_spec.h"
#include "compiler/ops/gemm_plan_access.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "proto/status.h"

namespace ingot {

// Names that a spec may pin; baked parameters have the same.
inline constexpr const char* kGemmTuning[] = {"tile_m",  "tile_n",  "tile_k",
                                              "waves_m", "waves_n", "stages",
                                              "waves_k", "split_k"};

// Those of `tiles` that agree with what the spec pins; maybe none. A tile whose
// split_k is 0 takes any number of parts from 2 to 64.
std::vector<GemmTile> PinnedTiles(const Spec& spec,
                                  absl::Span<const GemmTile> tiles);
// Those of a schedule.
std::vector<GemmTile> GemmPinnedTiles(const Spec& spec, GemmSchedule schedule);

// What pins exactly this tile, sorted by name.
std::vector<Tuning> GemmPins(const GemmTile& tile);

// The refusal when no family has such a tile: names what there is.
absl::Status RefusePins(const Spec& spec, absl::Span<const GemmTile> allowed);
absl::Status RefuseGemmPins(const Spec& spec,
                            absl::Span<const GemmFamily> families);

// A dim's value, else the most it may be, else `typical`.
double SpecExtent(const Spec& spec, absl::string_view name, double typical);

// Every tile of the lists once, with the model's time. A tile whose number of
// parts is free has the one that `spec` pins.
std::vector<Candidate> TileCandidates(
    const Spec& spec, const std::vector<absl::Span<const GemmTile>>& lists,
    absl::FunctionRef<double(const GemmTile&)> microseconds);

// All but split_k, which no kernel knows.
std::vector<Param> GemmTileParams(const GemmTile& tile);

// What the code generator is told for a tile of that schedule.
std::vector<Param> GemmCodegenOptions(GemmSchedule schedule,
                                      const GemmTile& tile);

// One configuration for the whole plan is written into the resolved spec, which
// then pins it; several stand in the names of the variants.
void ResolveGemmTuning(absl::Span<const GemmTile> used, Plan* plan);
void ResolveGemmTuning(Plan* plan);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_TUNING_H_
