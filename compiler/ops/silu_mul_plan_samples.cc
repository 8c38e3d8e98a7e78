#include "compiler/ops/silu_mul_plan_samples.h"

#include "absl/strings/string_view.h"

namespace ingot {
namespace {

Spec Joined(absl::string_view dtype, int64_t n) {
  Spec spec{"silu_mul"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", std::string(dtype)}, {"y", std::string(dtype)}};
  return spec;
}

Spec Apart(absl::string_view dtype, int64_t n) {
  Spec spec = Joined(dtype, n);
  spec.operands[0].name = "gate";
  spec.operands.push_back({"up", std::string(dtype)});
  return spec;
}

}  // namespace

std::vector<Spec> SiluMulSamples() {
  std::vector<Spec> samples;
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    for (int64_t n : {1, 63, 768, 1001, 14336, 262144}) {
      samples.push_back(Joined(dtype, n));
      samples.push_back(Apart(dtype, n));
    }
    for (const char* act : {"silu", "gelu_tanh", "gelu_erf"}) {
      samples.push_back(Joined(dtype, 4864));
      samples.back().attrs = {{"act", act}, {"pairing", "interleaved"}};
      samples.push_back(Apart(dtype, 3072));
      samples.back().attrs = {{"act", act}};
    }
  }
  Spec strided = Joined("bf16", 2048);
  strided.operands[0].stride_mode = StrideMode::kDynamic;
  strided.operands[1].stride_mode = StrideMode::kStatic;
  strided.operands[1].strides = {4096, 1};
  samples.push_back(strided);
  Spec weak = Joined("bf16", 28672);
  weak.operands[0].alignment = 2;
  weak.tuning = {{"threads", 1024}, {"vectors", 8}};
  samples.push_back(weak);
  return samples;
}

std::vector<Spec> SiluMulBadSamples() {
  const Spec good = Joined("bf16", 4096);
  std::vector<Spec> bad;
  const auto with = [&](auto change) {
    bad.push_back(good);
    change(bad.back());
  };
  with([](Spec& s) { s.dims[1].value = 0; });
  with([](Spec& s) { s.dims[1].value = 262145; });
  with([](Spec& s) { s.dims[1] = {"n", std::nullopt, 1, 4096}; });
  with([](Spec& s) { s.dims[0].max = int64_t{1} << 40; });
  with([](Spec& s) { s.dims.pop_back(); });
  with([](Spec& s) { s.dims.push_back({"k", 1}); });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.operands[0].name = "gate"; });
  with([](Spec& s) { s.operands.push_back({"gate", "bf16"}); });
  with([](Spec& s) { s.operands.push_back({"bias", "bf16"}); });
  with([](Spec& s) { s.operands[1].dtype = "f16"; });
  with([](Spec& s) { s.operands[0].dtype = s.operands[1].dtype = "i8"; });
  with([](Spec& s) { s.operands[0].alignment = 1; });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {8191, 1};
  });
  with([](Spec& s) {
    s.operands[1].stride_mode = StrideMode::kStatic;
    s.operands[1].strides = {8192, 2};
  });
  // Rows of pairs start at pairs.
  with([](Spec& s) {
    s.attrs = {{"pairing", "interleaved"}};
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {8193, 1};
  });
  with([](Spec& s) {
    s.attrs = {{"pairing", "interleaved"}};
    s.operands[0].alignment = 2;
  });
  with([](Spec& s) {
    s.operands[0].name = "gate";
    s.operands.push_back({"up", "bf16"});
    s.attrs = {{"pairing", "halves"}};
  });
  with([](Spec& s) { s.attrs = {{"act", "relu"}}; });
  with([](Spec& s) { s.attrs = {{"act", true}}; });
  with([](Spec& s) { s.attrs = {{"pairing", "thirds"}}; });
  with([](Spec& s) { s.attrs = {{"activation", "silu"}}; });
  with([](Spec& s) { s.tuning = {{"threads", 100}}; });
  with([](Spec& s) { s.tuning = {{"vectors", 9}}; });
  with([](Spec& s) { s.tuning = {{"warps", 4}}; });
  return bad;
}

}  // namespace ingot
