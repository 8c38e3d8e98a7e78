#include "compiler/ops/grouped_gemm_plan_samples.h"

#include <string>

namespace ingot {
namespace {

Spec Sample(const char* b_layout, const char* dtype, int64_t g, int64_t n,
            int64_t k, const char* dtype_d) {
  Spec spec{"grouped_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"total_m"}, {"g", g}, {"n", n}, {"k", k}};
  spec.operands = {{"a", dtype}, {"b", dtype}, {"d", dtype_d}, {"offs", "i32"}};
  spec.attrs = {{"b_layout", std::string(b_layout)}};
  return spec;
}

Spec Scaled(const char* format, int64_t g, int64_t n, int64_t k) {
  Spec spec = Sample("gnk", format, g, n, k, "bf16");
  spec.operands.push_back({"scale_a", "e8m0"});
  spec.operands.push_back({"scale_b", "e8m0"});
  return spec;
}

}  // namespace

std::vector<Spec> GroupedGemmSamples() {
  std::vector<Spec> samples;
  for (const char* layout : {"gkn", "gnk"}) {
    samples.push_back(Sample(layout, "bf16", 8, 4096, 4096, "bf16"));
    samples.push_back(Sample(layout, "f16", 100, 257, 129, "f32"));
  }
  Spec biased = Sample("gnk", "bf16", 256, 4096, 7168, "bf16");
  biased.operands.push_back({"bias", "f32"});
  samples.push_back(biased);
  Spec paired = Sample("gkn", "bf16", 8, 2048, 4096, "bf16");
  paired.attrs.push_back({"act", "swiglu"});
  paired.attrs.push_back({"pairing", "halves"});
  samples.push_back(paired);
  for (const char* format : {"e4m3fn", "e2m1"}) {
    samples.push_back(Scaled(format, 8, 4096, 4096));
  }
  Spec strided = Scaled("e4m3fn", 8, 4096, 4096);
  for (const int i : {0, 2, 4}) {
    strided.operands[i].stride_mode = StrideMode::kDynamic;
  }
  strided.operands[1].stride_mode = StrideMode::kStatic;
  strided.operands[1].strides = {int64_t{1} << 33, 4112, 1};
  samples.push_back(strided);
  Spec any = Sample("gkn", "f16", 1, 512, 1000, "f16");
  any.dims[1] = {"g"};
  any.operands[0].stride_mode = StrideMode::kDynamic;
  any.operands[1].stride_mode = StrideMode::kStatic;
  any.operands[1].strides = {1 << 20, 1024, 1};
  any.operands[2].alignment = 2;
  samples.push_back(any);
  Spec pinned = Sample("gkn", "bf16", 8, 4096, 4096, "bf16");
  pinned.tuning = {{"tile_m", 256}, {"tile_n", 256}};
  samples.push_back(pinned);
  return samples;
}

std::vector<Spec> GroupedGemmBadSamples() {
  const Spec good = Sample("gkn", "bf16", 8, 4096, 4096, "bf16");
  std::vector<Spec> bad;
  const auto with = [&](auto change) {
    bad.push_back(good);
    change(bad.back());
  };
  with([](Spec& s) { s.dims[1].value = 0; });
  with([](Spec& s) { s.dims[1].value = 1025; });
  with([](Spec& s) { s.dims[2].value = int64_t{1} << 40; });
  with([](Spec& s) { s.dims.erase(s.dims.begin()); });
  with([](Spec& s) { s.dims[0].max = int64_t{1} << 40; });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.operands[1].dtype = "f16"; });
  with([](Spec& s) { s.operands[3].dtype = "i64"; });
  with([](Spec& s) { s.operands.push_back({"bias", "f16"}); });
  with([](Spec& s) { s.operands[0].alignment = 1; });
  with([](Spec& s) { s.operands[3].alignment = 2; });
  with([](Spec& s) {
    s.operands[1].stride_mode = StrideMode::kStatic;
    s.operands[1].strides = {4096, 1};
  });
  with([](Spec& s) {
    s.operands[1].stride_mode = StrideMode::kStatic;
    s.operands[1].strides = {4096 * 4096, 4095, 1};
  });
  with([](Spec& s) {
    s.operands[3].stride_mode = StrideMode::kStatic;
    s.operands[3].strides = {2};
  });
  with([](Spec& s) { s.attrs[0].value = "gmn"; });
  with([](Spec& s) { s.attrs.push_back({"act", "tanh"}); });
  with([](Spec& s) { s.attrs.push_back({"act", "swiglu"}); });
  with([](Spec& s) { s.attrs.push_back({"ragged", "k"}); });
  with([](Spec& s) { s.tuning = {{"tile_m", 100}}; });
  const auto scaled = [&](auto change) {
    bad.push_back(Scaled("e4m3fn", 8, 4096, 4096));
    change(bad.back());
  };
  scaled([](Spec& s) { s.operands.pop_back(); });
  scaled([](Spec& s) { s.attrs.clear(); });
  scaled([](Spec& s) { s.attrs[0].value = "gkn"; });
  scaled([](Spec& s) { s.dims[3].value = 4080; });
  scaled([](Spec& s) { s.operands[4].dtype = "f32"; });
  scaled([](Spec& s) { s.operands[1].dtype = "bf16"; });
  scaled([](Spec& s) { s.operands[3].stride_mode = StrideMode::kDynamic; });
  scaled([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {4095, 1};
  });
  scaled([](Spec& s) {
    s.operands[5].stride_mode = StrideMode::kStatic;
    s.operands[5].strides = {128, 1};
  });
  return bad;
}

}  // namespace ingot
