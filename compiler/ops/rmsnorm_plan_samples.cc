#include "compiler/ops/rmsnorm_plan_samples.h"

#include "absl/strings/string_view.h"

namespace ingot {
namespace {

Spec Sample(absl::string_view dtype, int64_t n) {
  Spec spec{"rmsnorm"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", std::string(dtype)}, {"y", std::string(dtype)}};
  return spec;
}

Spec Quantised(absl::string_view dtype, const std::string& quant, int64_t n) {
  Spec spec = Sample(dtype, n);
  spec.attrs = {{"quant", quant}};
  spec.operands[1].dtype = quant == "mxfp4" ? "e2m1" : "e4m3fn";
  spec.operands.push_back({"weight", std::string(dtype)});
  spec.operands.push_back({"scale", quant == "fp8_row" ? "f32" : "e8m0"});
  return spec;
}

}  // namespace

std::vector<Spec> RmsNormSamples() {
  std::vector<Spec> samples;
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    for (int64_t n : {1, 63, 1000, 4096, 8191, 131072}) {
      samples.push_back(Sample(dtype, n));
      samples.back().operands.push_back({"weight", dtype});
    }
  }
  Spec training = Sample("bf16", 5120);
  training.operands.push_back({"weight", "f32"});
  training.operands.push_back({"rstd", "f32"});
  samples.push_back(training);
  Spec strided = Sample("f16", 256);
  strided.operands[0].stride_mode = StrideMode::kDynamic;
  strided.operands[1].stride_mode = StrideMode::kStatic;
  strided.operands[1].strides = {1024, 1};
  samples.push_back(strided);
  Spec weak = Sample("bf16", 4096);
  weak.operands[0].alignment = 2;
  weak.tuning = {{"threads", 256}};
  samples.push_back(weak);
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    for (int64_t n : {7, 4096, 131072}) {
      Spec added = Sample(dtype, n);
      for (const char* name : {"weight", "residual", "residual_out"}) {
        added.operands.push_back({name, dtype});
      }
      samples.push_back(added);
    }
  }
  Spec last = Sample("bf16", 8192);  // the sum itself is not wanted
  last.operands.push_back({"residual", "bf16"});
  samples.push_back(last);
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    for (const char* quant : {"fp8_row", "mxfp8", "mxfp4"}) {
      for (int64_t n : {96, 4096, 131072}) {
        samples.push_back(Quantised(dtype, quant, n));
      }
    }
  }
  samples.push_back(Quantised("bf16", "fp8_row", 8191));
  Spec narrow = Quantised("f16", "mxfp4", 7168);
  narrow.operands.push_back({"residual", "f16"});
  narrow.operands.push_back({"residual_out", "f16"});
  samples.push_back(narrow);
  return samples;
}

std::vector<Spec> RmsNormBadSamples() {
  const Spec good = Sample("bf16", 4096);
  std::vector<Spec> bad;
  const auto with = [&](auto change) {
    bad.push_back(good);
    change(bad.back());
  };
  with([](Spec& s) { s.dims[1].value = 0; });
  with([](Spec& s) { s.dims[1].value = -5; });
  with([](Spec& s) { s.dims[1].value = 131073; });
  with([](Spec& s) { s.dims[1] = {"n", std::nullopt, 1, 4096}; });
  with([](Spec& s) { s.dims[0].max = int64_t{1} << 40; });
  with([](Spec& s) { s.dims.pop_back(); });
  with([](Spec& s) { s.dims.push_back({"k", 1}); });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.operands[1].dtype = "f16"; });
  with([](Spec& s) { s.operands[0].dtype = s.operands[1].dtype = "i8"; });
  with([](Spec& s) { s.operands.push_back({"weight", "f16"}); });
  with([](Spec& s) { s.operands.push_back({"rstd", "bf16"}); });
  with([](Spec& s) { s.operands.push_back({"bias", "bf16"}); });
  with([](Spec& s) { s.operands[0].alignment = 1; });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {4095, 1};
  });
  with([](Spec& s) {
    s.operands[1].stride_mode = StrideMode::kStatic;
    s.operands[1].strides = {8192, 2};
  });
  with([](Spec& s) { s.operands.push_back({"residual", "f32"}); });
  with([](Spec& s) { s.operands.push_back({"residual_out", "bf16"}); });
  with([](Spec& s) {
    s.operands.push_back({"residual", "bf16"});
    s.operands.push_back({"residual_out", "f16"});
  });
  with([](Spec& s) {
    s.operands.push_back({"residual", "bf16"});
    s.operands.back().stride_mode = StrideMode::kStatic;
    s.operands.back().strides = {4095, 1};
  });
  with([](Spec& s) { s.attrs = {{"residual", true}}; });
  with([](Spec& s) { s.attrs = {{"quant", "mxfp8"}}; });  // y is bf16
  with([](Spec& s) { s.attrs = {{"quant", "int3"}}; });
  with([](Spec& s) { s.attrs = {{"quant", int64_t{8}}}; });
  with([](Spec& s) { s.operands.push_back({"scale", "f32"}); });
  with([](Spec& s) {
    s = Quantised("bf16", "fp8_row", 64);
    s.operands.pop_back();
  });
  with([](Spec& s) {
    s = Quantised("bf16", "fp8_row", 64);
    s.operands.back().dtype = "e8m0";
  });
  with([](Spec& s) {
    s = Quantised("bf16", "mxfp8", 64);
    s.operands[1].dtype = "e5m2";
  });
  with([](Spec& s) { s = Quantised("bf16", "mxfp8", 48); });
  with([](Spec& s) { s = Quantised("bf16", "mxfp4", 16); });
  with([](Spec& s) {
    s = Quantised("bf16", "mxfp4", 64);
    s.operands[1].dtype = "e4m3fn";
  });
  with([](Spec& s) {
    s = Quantised("bf16", "mxfp4", 64);
    s.operands.back().stride_mode = StrideMode::kStatic;
    s.operands.back().strides = {1, 1};
  });
  with([](Spec& s) { s.attrs = {{"colour", "red"}}; });
  with([](Spec& s) { s.tuning = {{"threads", 100}}; });
  with([](Spec& s) { s.tuning = {{"warps", 4}}; });
  return bad;
}

}  // namespace ingot
