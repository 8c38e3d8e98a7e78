#include "compiler/kernel_spec.h"

#include <functional>
#include <random>
#include <set>

#include "gtest/gtest.h"

namespace ingot {
namespace {

KernelSpec Sample() {
  KernelSpec spec;
  spec.op = "gemm";
  spec.symbol = "ingot_gemm";
  spec.target = "gfx950";
  spec.fingerprint = std::string(32, 'f');
  spec.params = {{"dtype_a", "bf16"}, {"tile_m", int64_t{128}}};
  spec.codegen = {{"order", "sb"}};
  spec.workgroup = {256, 1, 1};
  spec.grid = {CeilDiv(Expr::DimAt(0), Expr::Const(128)), Expr::Const(1),
               Expr::Const(1)};
  spec.lds_bytes = 65536;
  spec.args = {{"a", KernelArg::kOperand, 0, 8, Expr::Const(0)},
               {"n", KernelArg::kInteger, 0, 4, Expr::DimAt(1)}};
  return spec;
}

using Mutation = std::function<void(KernelSpec&)>;

// One for every field, and for every field inside.
std::vector<Mutation> Mutations() {
  return {
      [](KernelSpec& s) { s.op = "gemn"; },
      [](KernelSpec& s) { s.symbol = "other"; },
      [](KernelSpec& s) { s.target = "gfx950:xnack-"; },
      [](KernelSpec& s) { s.fingerprint[31] ^= 1; },
      [](KernelSpec& s) { s.params[0].name = "dtype_b"; },
      [](KernelSpec& s) { s.params[0].value = "f16"; },
      [](KernelSpec& s) { s.params[0].value = int64_t{1}; },
      [](KernelSpec& s) { s.params[1].value = int64_t{127}; },
      [](KernelSpec& s) { s.params.pop_back(); },
      [](KernelSpec& s) { s.params.push_back({"zz", int64_t{0}}); },
      [](KernelSpec& s) { s.codegen[0].value = "none"; },
      [](KernelSpec& s) { s.codegen[0].name = "orders"; },
      [](KernelSpec& s) { s.codegen.clear(); },
      [](KernelSpec& s) { std::swap(s.params, s.codegen); },
      [](KernelSpec& s) { s.workgroup[0] = 512; },
      [](KernelSpec& s) { s.workgroup[1] = 2; },
      [](KernelSpec& s) { s.workgroup[2] = 2; },
      [](KernelSpec& s) { s.grid[0] = Expr::Const(1); },
      [](KernelSpec& s) { s.grid[1] = Expr::Const(2); },
      [](KernelSpec& s) { s.grid[2] = Expr::DimAt(0); },
      [](KernelSpec& s) { s.lds_bytes += 1; },
      [](KernelSpec& s) { s.dynamic_lds_bytes += 1; },
      [](KernelSpec& s) { s.cooperative = true; },
      [](KernelSpec& s) { s.scratch_allowed = true; },
      [](KernelSpec& s) { s.args.pop_back(); },
      [](KernelSpec& s) { std::swap(s.args[0], s.args[1]); },
      [](KernelSpec& s) { s.args[0].name = "b"; },
      [](KernelSpec& s) { s.args[0].kind = KernelArg::kPeer; },
      [](KernelSpec& s) { s.args[0].index = 1; },
      [](KernelSpec& s) { s.args[1].size = 8; },
      [](KernelSpec& s) { s.args[1].offset = Expr::DimAt(0); },
      [](KernelSpec& s) { s.args[1].offset.nodes.clear(); },
  };
}

TEST(KernelSpec, EveryFieldIsInTheKey) {
  std::set<std::string> keys = {KernelKey(EncodeKernelSpec(Sample()))};
  int i = 0;
  for (const Mutation& mutate : Mutations()) {
    KernelSpec spec = Sample();
    mutate(spec);
    EXPECT_TRUE(keys.insert(KernelKey(EncodeKernelSpec(spec))).second)
        << "mutation " << i;
    ++i;
  }
}

TEST(KernelSpec, RoundTrips) {
  std::vector<KernelSpec> specs = {KernelSpec(), Sample()};
  for (const Mutation& mutate : Mutations()) {
    specs.push_back(Sample());
    mutate(specs.back());
  }
  for (const KernelSpec& spec : specs) {
    const std::string encoding = EncodeKernelSpec(spec);
    const absl::StatusOr<KernelSpec> decoded = DecodeKernelSpec(encoding);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(EncodeKernelSpec(*decoded), encoding);
  }
}

TEST(KernelSpec, OrderOfParametersIsNotInTheKey) {
  KernelSpec spec = Sample();
  std::swap(spec.params[0], spec.params[1]);
  EXPECT_EQ(EncodeKernelSpec(spec), EncodeKernelSpec(Sample()));
}

TEST(KernelSpec, KeyIsSha256OfTheEncoding) {
  // FIPS 180-2, the digest of "abc".
  EXPECT_EQ(KernelKey("abc").substr(0, 4), "\xba\x78\x16\xbf");
  EXPECT_EQ(KernelKey("abc").size(), 32u);
}

TEST(KernelSpec, ParametersAreFoundByNameAndType) {
  const KernelSpec spec = Sample();
  EXPECT_EQ(*spec.GetInt("tile_m"), 128);
  EXPECT_EQ(*spec.GetString("dtype_a"), "bf16");
  EXPECT_EQ(spec.GetInt("dtype_a").status().code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(spec.GetString("none").status().code(),
            absl::StatusCode::kInternal);
}

TEST(KernelSpec, TruncatedEncodingsAreRefused) {
  const std::string encoding = EncodeKernelSpec(Sample());
  for (size_t size = 0; size < encoding.size(); ++size) {
    EXPECT_EQ(DecodeKernelSpec(absl::string_view(encoding).substr(0, size))
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(DecodeKernelSpec(encoding + "x").ok());
}

// Whatever decodes encodes to the same bytes: no kernel has two spellings.
TEST(KernelSpec, DamagedEncodingsAreRefusedOrCanonical) {
  const std::string encoding = EncodeKernelSpec(Sample());
  std::mt19937 random(3);
  for (int i = 0; i < 50000; ++i) {
    std::string damaged = encoding;
    for (uint32_t j = 1 + random() % 3; j > 0; --j) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const absl::StatusOr<KernelSpec> decoded = DecodeKernelSpec(damaged);
    if (decoded.ok()) {
      EXPECT_EQ(EncodeKernelSpec(*decoded), damaged);
    }
  }
}

TEST(KernelSpec, RandomBytesAreRefused) {
  std::mt19937 random(5);
  const std::string head = EncodeKernelSpec(Sample()).substr(0, 40);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = i % 2 == 0 ? head : "";
    for (uint32_t j = random() % 200; j > 0; --j) {
      bytes.push_back(static_cast<char>(random()));
    }
    EXPECT_FALSE(DecodeKernelSpec(bytes).ok());
  }
}

}  // namespace
}  // namespace ingot
