#include "compiler/ops/scaled_gemm_plan_samples.h"

#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot {
namespace {

Spec Sample(absl::string_view a, absl::string_view b, int64_t n, int64_t k,
            absl::string_view d) {
  Spec spec{"scaled_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", std::string(a)},
                   {"b", std::string(b)},
                   {"scale_a", "e8m0"},
                   {"scale_b", "e8m0"},
                   {"d", std::string(d)}};
  return spec;
}

}  // namespace

std::vector<Spec> ScaledGemmSamples() {
  std::vector<Spec> samples = {Sample("e4m3fn", "e4m3fn", 4096, 4096, "bf16"),
                               Sample("e2m1", "e2m1", 4096, 4096, "bf16"),
                               Sample("e4m3fn", "e2m1", 4096, 4096, "f16"),
                               Sample("e2m3", "e3m2", 97, 96, "f32"),
                               Sample("e5m2", "e2m1", 97, 160, "bf16")};
  Spec shuffled = Sample("e2m1", "e2m1", 4096, 4096, "bf16");
  shuffled.attrs = {{"layout", "nt"},
                    {"scale_block", int64_t{32}},
                    {"scale_layout", "shuffled_16x4"},
                    {"weight_layout", "shuffled"}};
  samples.push_back(shuffled);
  Spec biased = Sample("e4m3fn", "e4m3fn", 4096, 4096, "bf16");
  biased.operands.push_back({"bias", "f32"});
  samples.push_back(biased);
  // Few tiles and much k: workgroups share it.
  samples.push_back(Sample("e4m3fn", "e4m3fn", 5120, 25600, "bf16"));
  Spec split = Sample("e2m1", "e2m1", 4096, 4096, "f32");
  split.tuning = {
      {"split_k", 4}, {"tile_m", 64}, {"tile_n", 64}, {"waves_k", 1}};
  samples.push_back(split);
  Spec shared = shuffled;
  shared.tuning = {{"tile_m", 32}, {"waves_k", 4}};
  samples.push_back(shared);
  Spec strided = Sample("e5m2", "e4m3fn", 512, 1024, "f16");
  strided.operands[0].stride_mode = StrideMode::kDynamic;
  strided.operands[1].stride_mode = StrideMode::kStatic;
  strided.operands[1].strides = {1040, 1};
  strided.operands[4].alignment = 2;
  samples.push_back(strided);
  return samples;
}

std::vector<Spec> ScaledGemmBadSamples() {
  std::vector<Spec> bad;
  const auto with = [&](const std::function<void(Spec&)>& change) {
    Spec spec = Sample("e4m3fn", "e4m3fn", 4096, 4096, "bf16");
    change(spec);
    bad.push_back(spec);
  };
  with([](Spec& s) { s.dims[2].value = 4080; });
  with([](Spec& s) { s.dims.pop_back(); });
  with([](Spec& s) { s.operands[0].dtype = "bf16"; });
  with([](Spec& s) { s.operands[2].dtype = "f32"; });
  with([](Spec& s) { s.operands[4].dtype = "e4m3fn"; });
  with([](Spec& s) { s.operands.erase(s.operands.begin() + 3); });
  with([](Spec& s) { s.operands.push_back({"bias", "f16"}); });
  with([](Spec& s) { s.operands[4].alignment = 1; });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {4095, 1};
  });
  with([](Spec& s) {
    s.operands[1].stride_mode = StrideMode::kDynamic;
    s.attrs = {{"weight_layout", "shuffled"}};
  });
  with([](Spec& s) { s.attrs = {{"layout", "nn"}}; });
  with([](Spec& s) { s.attrs = {{"scale_layout", "tiled"}}; });
  with([](Spec& s) { s.attrs = {{"scale_block", int64_t{16}}}; });
  with([](Spec& s) {
    s.operands[1].dtype = "e2m3";
    s.dims[2].value = 96;
    s.attrs = {{"weight_layout", "shuffled"}};
  });
  with([](Spec& s) { s.tuning = {{"tile_m", 100}}; });
  with([](Spec& s) { s.tuning = {{"split_k", 65}}; });
  with([](Spec& s) { s.tuning = {{"tile_m", 128}, {"waves_k", 4}}; });
  return bad;
}

}  // namespace ingot
