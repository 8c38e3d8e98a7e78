#include "server/kernel_difference.h"

#include "gmock/gmock.h"

namespace ingot::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Text(const KernelSpec& wanted,
                              const KernelSpec& stored) {
  std::vector<std::string> lines;
  for (const KernelDifference& d : DifferencesOf(wanted, stored)) {
    lines.push_back(d.field + ": " + d.wanted + " | " + d.stored);
  }
  return lines;
}

KernelSpec Sample() {
  KernelSpec spec;
  spec.op = "gemm";
  spec.symbol = "ingot_gemm";
  spec.target = "gfx950";
  spec.fingerprint = "f";
  spec.params = {{"tile_m", int64_t{128}}, {"layout", "nt"}};
  spec.codegen = {{"opt", "none"}};
  spec.grid = {CeilDiv(Expr::DimAt(0), Expr::Const(128)), Expr::Const(1),
               Expr::Const(1)};
  spec.args = {{"a", KernelArg::kOperand, 0, 8, Expr::Const(0)}};
  return spec;
}

TEST(KernelDifferenceTest, NamesEachFieldThatDiffers) {
  EXPECT_THAT(Text(Sample(), Sample()), IsEmpty());
  KernelSpec other = Sample();
  other.symbol = "other";
  EXPECT_THAT(Text(Sample(), other), ElementsAre("symbol: ingot_gemm | other"));
  other.params = {{"tile_m", int64_t{256}}, {"split", int64_t{2}}};
  other.grid[0] = CeilDiv(Expr::DimAt(0), Expr::Const(256));
  EXPECT_THAT(Text(Sample(), other),
              ElementsAre("param layout: nt | ", "param tile_m: 128 | 256",
                          "grid 0: dim0 128 ceildiv | dim0 256 ceildiv",
                          "param split:  | 2"));
}

TEST(KernelDifferenceTest, LooksAtTheWholeContract) {
  const auto differs = [](void (*change)(KernelSpec&)) {
    KernelSpec other = Sample();
    change(other);
    return Text(Sample(), other).size();
  };
  EXPECT_EQ(differs([](KernelSpec& s) { s.op = "x"; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.target = "x"; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.fingerprint = "x"; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.codegen[0].value = "x"; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.workgroup[1] = 2; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.lds_bytes = 2; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.dynamic_lds_bytes = 2; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.cooperative = true; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.scratch_allowed = true; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.args[0].size = 4; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.args[0].offset = {}; }), 1u);
  EXPECT_EQ(differs([](KernelSpec& s) { s.args.push_back({"b"}); }), 1u);
}

}  // namespace
}  // namespace ingot::server
