#include "compiler/ops/gemm_plan_tuning.h"

#include <algorithm>
#include <string>

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
    {kGemmTuning[4], &GemmTile::waves_n}, {kGemmTuning[5], &GemmTile::stages}};

std::string Describe(const GemmTile& tile) {
  return absl::StrJoin(kFields, " ",
                       [&](std::string* out, const TuningField& f) {
                         absl::StrAppend(out, f.name, "=", tile.*f.member);
                       });
}

}  // namespace

std::vector<GemmTile> PinnedTiles(const Spec& spec,
                                  absl::Span<const GemmTile> all) {
  std::vector<GemmTile> tiles;
  for (const GemmTile& tile : all) {
    if (std::all_of(std::begin(kFields), std::end(kFields),
                    [&](const TuningField& field) {
                      const Tuning* pin = spec.FindTuning(field.name);
                      return pin == nullptr || pin->value == tile.*field.member;
                    })) {
      tiles.push_back(tile);
    }
  }
  return tiles;
}

std::vector<GemmTile> GemmPinnedTiles(const Spec& spec, GemmSchedule schedule) {
  return PinnedTiles(spec, GemmTiles(schedule));
}

absl::Status RefusePins(const Spec& spec, absl::Span<const GemmTile> tiles) {
  std::vector<std::string> allowed;
  for (const GemmTile& tile : tiles) allowed.push_back(Describe(tile));
  return Invalid(absl::StrCat("tuning of ", spec.op),
                 absl::StrJoin(spec.tuning, " ",
                               [](std::string* out, const Tuning& pin) {
                                 absl::StrAppend(out, pin.name, "=", pin.value);
                               }),
                 absl::StrJoin(allowed, "; "));
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

std::vector<Param> GemmTileParams(const GemmTile& tile) {
  std::vector<Param> params;
  for (const TuningField& field : kFields) {
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
  // end stay off. Accumulators beyond a quarter of the register file go to
  // AGPRs.
  const int accumulators = tile.m * tile.n / tile.waves() / 64;
  const int64_t agprs = accumulators >= 128 ? 256 : 0;
  return {{"agpr_alloc", agprs}, {"opt", "none"}, {"reorder", int64_t{0}}};
}

void ResolveGemmTuning(Plan* plan) {
  std::vector<Tuning> tuning;
  const KernelSpec& first = plan->kernels.front().spec;
  for (const TuningField& field : kFields) {
    const int64_t value = first.GetInt(field.name).value_or(0);
    for (const PlanKernel& kernel : plan->kernels) {
      if (kernel.spec.GetInt(field.name).value_or(0) != value) return;
    }
    tuning.push_back({field.name, value});
  }
  std::sort(tuning.begin(), tuning.end(),
            [](const Tuning& a, const Tuning& b) { return a.name < b.name; });
  plan->resolved.tuning = std::move(tuning);
}

}  // namespace ingot
