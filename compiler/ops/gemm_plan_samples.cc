#include "compiler/ops/gemm_plan_samples.h"

#include <string>

#include "absl/strings/string_view.h"

namespace ingot {
namespace {

Spec Sample(absl::string_view layout, absl::string_view dtype, int64_t n,
            int64_t k, absl::string_view dtype_d) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", std::string(dtype)},
                   {"b", std::string(dtype)},
                   {"d", std::string(dtype_d)}};
  spec.attrs = {{"layout", std::string(layout)}};
  return spec;
}

Spec Fp8Sample(absl::string_view layout, const char* a, const char* b,
               const char* d, absl::string_view scaling) {
  Spec spec = Sample(layout, a, 4096, 4096, d);
  spec.operands[1].dtype = b;
  spec.attrs.push_back({"scaling", std::string(scaling)});
  if (scaling == "none") return spec;
  spec.operands.push_back({"scale_a", "f32"});
  spec.operands.push_back({"scale_b", "f32"});
  return spec;
}

void AddFp8Samples(std::vector<Spec>* samples) {
  samples->push_back(Fp8Sample("nt", "e4m3fn", "e4m3fn", "bf16", "row"));
  samples->push_back(Fp8Sample("tn", "e5m2", "e4m3fn", "f16", "tensor"));
  samples->push_back(Fp8Sample("nn", "e4m3fn", "e5m2", "f32", "none"));
  Spec odd = Fp8Sample("tt", "e4m3fn", "e4m3fn", "bf16", "row");
  odd.dims = {{"m"}, {"n", 97}, {"k", 101}};
  odd.operands.push_back({"bias", "f32"});
  samples->push_back(odd);
  Spec fused = Fp8Sample("nt", "e4m3fn", "e4m3fn", "bf16", "row");
  fused.attrs.push_back({"act", "swiglu"});
  fused.attrs.push_back({"pairing", "halves"});
  fused.operands.push_back({"bias", "bf16"});
  fused.operands.push_back({"residual", "bf16"});
  samples->push_back(fused);
}

void AddFp8BadSamples(std::vector<Spec>* bad) {
  const Spec good = Fp8Sample("nt", "e4m3fn", "e4m3fn", "bf16", "row");
  const auto with = [&](auto change) {
    bad->push_back(good);
    change(bad->back());
  };
  with([](Spec& s) { s.operands[1].dtype = "bf16"; });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.attrs.pop_back(); });
  with([](Spec& s) { s.attrs[1].value = "block"; });
  with([](Spec& s) { s.operands[3].dtype = "bf16"; });
  with([](Spec& s) { s.operands[4].stride_mode = StrideMode::kDynamic; });
  with([](Spec& s) {
    s.attrs[0].value = "nn";
    s.attrs.push_back({"act", "swiglu"});
    s.attrs.push_back({"pairing", "halves"});
  });
}

}  // namespace

std::vector<Spec> GemmSamples() {
  std::vector<Spec> samples;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    samples.push_back(Sample(layout, "bf16", 4096, 4096, "bf16"));
    samples.push_back(Sample(layout, "f16", 257, 129, "f32"));
  }
  Spec addmm = Sample("nt", "bf16", 6144, 4096, "bf16");
  addmm.operands.push_back({"c", "bf16"});
  addmm.operands.push_back({"bias", "f32"});
  samples.push_back(addmm);
  Spec strided = Sample("nn", "f16", 512, 1000, "f16");
  strided.operands[0].stride_mode = StrideMode::kDynamic;
  strided.operands[1].stride_mode = StrideMode::kStatic;
  strided.operands[1].strides = {1024, 1};
  strided.operands[2].alignment = 2;
  samples.push_back(strided);
  int64_t n = 4096;
  for (const char* act : {"relu", "gelu_tanh", "gelu_erf", "silu"}) {
    Spec fused = Sample("nt", "bf16", n--, 1024, "bf16");
    fused.attrs.push_back({"act", act});
    fused.operands.push_back({"residual", "bf16"});
    samples.push_back(fused);
  }
  for (const char* pairing : {"halves", "interleaved"}) {
    Spec swiglu = Sample("nt", "bf16", 14336, 4096, "bf16");
    swiglu.attrs.push_back({"act", "swiglu"});
    swiglu.attrs.push_back({"pairing", pairing});
    swiglu.operands.push_back({"bias", "bf16"});
    samples.push_back(swiglu);
  }
  Spec batch = Sample("nn", "f16", 128, 64, "f16");
  batch.dims.push_back({"b"});
  batch.operands[0].stride_mode = StrideMode::kDynamic;
  batch.operands[1].stride_mode = StrideMode::kStatic;
  batch.operands[1].strides = {0, 128, 1};
  samples.push_back(batch);
  Spec pinned = Sample("nt", "bf16", 4096, 4096, "bf16");
  pinned.tuning = {{"tile_m", 256}, {"tile_n", 256}};
  samples.push_back(pinned);
  // The k that short steps fit.
  samples.push_back(Sample("nt", "bf16", 8160, 8160, "bf16"));
  AddFp8Samples(&samples);
  return samples;
}

std::vector<Spec> GemmBadSamples() {
  const Spec good = Sample("nt", "bf16", 4096, 4096, "bf16");
  std::vector<Spec> bad;
  const auto with = [&](auto change) {
    bad.push_back(good);
    change(bad.back());
  };
  with([](Spec& s) { s.dims[1].value = 0; });
  with([](Spec& s) { s.dims[1].value = int64_t{1} << 40; });
  with([](Spec& s) { s.dims.erase(s.dims.begin()); });
  with([](Spec& s) { s.dims.push_back({"q", 1}); });
  with([](Spec& s) { s.dims[0].min = 8, s.dims[0].max = 4; });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.operands[1].dtype = "f16"; });
  with([](Spec& s) { s.operands[0].dtype = s.operands[1].dtype = "f32"; });
  with([](Spec& s) { s.operands[2].dtype = "i8"; });
  with([](Spec& s) { s.operands.push_back({"c", "f32"}); });
  with([](Spec& s) { s.operands.push_back({"bias", "f16"}); });
  with([](Spec& s) { s.operands[0].alignment = 1; });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {4095, 1};
  });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {1, 4096};
  });
  with([](Spec& s) { s.attrs[0].value = "xy"; });
  with([](Spec& s) { s.attrs[0].value = int64_t{1}; });
  with([](Spec& s) { s.attrs.push_back({"act", "tanh"}); });
  with([](Spec& s) { s.attrs.push_back({"act", "swiglu"}); });
  with([](Spec& s) { s.attrs.push_back({"pairing", "halves"}); });
  with([](Spec& s) {
    s.attrs.push_back({"act", "swiglu"});
    s.attrs.push_back({"pairing", "thirds"});
  });
  with([](Spec& s) { s.operands.push_back({"residual", "f32"}); });
  with([](Spec& s) { s.dims.push_back({"b", std::nullopt, 1, 65536}); });
  with([](Spec& s) {
    s.dims.push_back({"b"});
    s.operands[2].stride_mode = StrideMode::kStatic;
    s.operands[2].strides = {0, 4096, 1};
  });
  with([](Spec& s) {
    s.dims.push_back({"b"});
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {4096, 1};
  });
  with([](Spec& s) { s.attrs.push_back({"colour", "red"}); });
  with([](Spec& s) { s.tuning = {{"tile_m", 100}}; });
  with([](Spec& s) { s.tuning = {{"warps", 4}}; });
  with([](Spec& s) { s.operands.push_back({"scale_a", "f32"}); });
  with([](Spec& s) { s.attrs.push_back({"scaling", "row"}); });
  AddFp8BadSamples(&bad);
  return bad;
}

}  // namespace ingot
