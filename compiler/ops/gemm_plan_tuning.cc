#include "compiler/ops/gemm_plan_tuning.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

struct TuningField {
  const char* name;
  int GemmTile::* member;
};
constexpr TuningField kFields[] = {
    {kGemmTuning[0], &GemmTile::m},       {kGemmTuning[1], &GemmTile::n},
    {kGemmTuning[2], &GemmTile::k},       {kGemmTuning[3], &GemmTile::waves_m},
    {kGemmTuning[4], &GemmTile::waves_n}, {kGemmTuning[5], &GemmTile::stages},
    {kGemmTuning[6], &GemmTile::waves_k}, {kGemmTuning[7], &GemmTile::split_k}};
constexpr int kMostParts = 64;

std::string Describe(const GemmTile& tile) {
  return absl::StrJoin(kFields, " ",
                       [&](std::string* out, const TuningField& f) {
                         absl::StrAppend(out, f.name, "=", tile.*f.member);
                       });
}

// `tile` with as many parts as are pinned, if their number is free.
GemmTile WithPinnedParts(const Spec& spec, GemmTile tile) {
  const Tuning* pin = spec.FindTuning("split_k");
  if (pin != nullptr && tile.split_k == 0 && pin->value >= 2 &&
      pin->value <= kMostParts) {
    tile.split_k = static_cast<int>(pin->value);
  }
  return tile;
}

bool Agrees(const Spec& spec, const GemmTile& tile) {
  return absl::c_all_of(kFields, [&](const TuningField& field) {
    const Tuning* pin = spec.FindTuning(field.name);
    return pin == nullptr || pin->value == tile.*field.member;
  });
}

}  // namespace

std::vector<GemmTile> PinnedTiles(const Spec& spec,
                                  absl::Span<const GemmTile> tiles) {
  std::vector<GemmTile> pinned;
  for (const GemmTile& free : tiles) {
    const GemmTile tile = WithPinnedParts(spec, free);
    if (Agrees(spec, tile)) pinned.push_back(tile);
  }
  return pinned;
}

std::vector<GemmTile> GemmPinnedTiles(const Spec& spec, GemmSchedule schedule) {
  return PinnedTiles(spec, GemmTiles(schedule));
}

std::vector<Tuning> GemmPins(const GemmTile& tile) {
  std::vector<Tuning> pins;
  for (const TuningField& field : kFields) {
    pins.push_back({field.name, tile.*field.member});
  }
  std::sort(pins.begin(), pins.end(),
            [](const Tuning& a, const Tuning& b) { return a.name < b.name; });
  return pins;
}

absl::Status RefusePins(const Spec& spec, absl::Span<const GemmTile> allowed) {
  return Invalid(
      absl::StrCat("tuning of ", spec.op),
      absl::StrJoin(spec.tuning, " ",
                    [](std::string* out, const Tuning& pin) {
                      absl::StrAppend(out, pin.name, "=", pin.value);
                    }),
      absl::StrJoin(allowed, "; ", [](std::string* out, const GemmTile& tile) {
        absl::StrAppend(out, Describe(tile));
      }));
}

absl::Status RefuseGemmPins(const Spec& spec,
                            absl::Span<const GemmFamily> families) {
  std::vector<GemmTile> allowed;
  for (const GemmFamily& family : families) {
    const absl::Span<const GemmTile> tiles = GemmTiles(family.schedule);
    allowed.insert(allowed.end(), tiles.begin(), tiles.end());
  }
  return RefusePins(spec, allowed);
}

double SpecExtent(const Spec& spec, absl::string_view name, double typical) {
  const Dim* dim = spec.FindDim(name);
  if (dim == nullptr) return typical;
  if (dim->value) return static_cast<double>(*dim->value);
  return dim->max != 0 ? static_cast<double>(dim->max) : typical;
}

std::vector<Candidate> TileCandidates(
    const Spec& spec, const std::vector<absl::Span<const GemmTile>>& lists,
    absl::FunctionRef<double(const GemmTile&)> microseconds) {
  std::vector<GemmTile> tiles;
  std::vector<Candidate> all;
  for (const absl::Span<const GemmTile> list : lists) {
    for (const GemmTile& free : list) {
      const GemmTile tile = WithPinnedParts(spec, free);
      if (std::find(tiles.begin(), tiles.end(), tile) != tiles.end()) continue;
      tiles.push_back(tile);
      all.push_back(
          {.tuning = GemmPins(tile), .predicted_us = microseconds(tile)});
    }
  }
  return all;
}

std::vector<Param> GemmTileParams(const GemmTile& tile) {
  std::vector<Param> params;
  for (const TuningField& field : kFields) {
    if (field.member == &GemmTile::split_k) continue;
    params.push_back({field.name, int64_t{tile.*field.member}});
  }
  return params;
}

std::vector<Param> GemmCodegenOptions(GemmSchedule schedule,
                                      const GemmTile& tile) {
  if (schedule == GemmSchedule::kStaged) {
    return {{"agpr_alloc", int64_t{0}}, {"opt", "light"}};
  }
  // The body writes its loop in final order, so the schedulers and the middle
  // end stay off.
  std::vector<Param> options = {{"opt", "none"}, {"reorder", int64_t{0}}};
  // One wave a SIMD has 256 AGPRs of its own, for accumulators beyond a quarter
  // of the register file.
  const int accumulators = tile.m * tile.n / tile.waves() / 64;
  const bool alone = tile.waves() <= 4;
  options.push_back(
      {"agpr_alloc", int64_t{alone && accumulators >= 128 ? 256 : 0}});
  if (tile.ping_pong()) options.push_back({"waves_per_eu", "2,2"});
  return options;
}

void ResolveGemmTuning(absl::Span<const GemmTile> used, Plan* plan) {
  for (const GemmTile& tile : used) {
    if (!(tile == used[0])) return;
  }
  plan->resolved.tuning = GemmPins(used[0]);
}

void ResolveGemmTuning(Plan* plan) {
  std::vector<GemmTile> used;
  for (const PlanKernel& kernel : plan->kernels) {
    GemmTile& tile = used.emplace_back();
    for (const TuningField& field : kFields) {
      const absl::StatusOr<int64_t> value = kernel.spec.GetInt(field.name);
      if (value.ok()) tile.*field.member = static_cast<int>(*value);
    }
  }
  ResolveGemmTuning(used, plan);
}

}  // namespace ingot
