#include "compiler/code_object.h"

#include <fstream>
#include <random>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// Of tests/data/code_object/saxpy.ll.
std::string Object() {
  std::ifstream in("tests/data/code_object/saxpy.hsaco", std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

// What a plan for that object would promise.
KernelSpec Contract() {
  KernelSpec spec;
  spec.symbol = "saxpy";
  spec.target = "gfx950";
  spec.workgroup = {64, 1, 1};
  spec.lds_bytes = 256;
  spec.args = {{"x", KernelArg::kOperand, 0, 8, Expr::Const(0)},
               {"y", KernelArg::kOperand, 1, 8, Expr::Const(0)},
               {"n", KernelArg::kInteger, 0, 4, Expr::DimAt(0)},
               {"a", KernelArg::kScalar, 0, 4, {}},
               {"s", KernelArg::kInteger, 0, 8, Expr::Const(1)}};
  return spec;
}

CodeObjectDescription Described() {
  const absl::StatusOr<CodeObjectDescription> description =
      DescribeCodeObject(Object());
  EXPECT_TRUE(description.ok()) << description.status();
  return description.value_or(CodeObjectDescription());
}

TEST(CodeObject, DescribesWhatTheFileSays) {
  const CodeObjectDescription found = Described();
  EXPECT_EQ(found.symbol, "saxpy");
  EXPECT_EQ(found.target, "gfx950");
  EXPECT_EQ(found.elf_flags, 0x54fu);
  EXPECT_EQ(found.code_object_version, 6u);
  EXPECT_EQ(found.kernarg_bytes, 32u);
  EXPECT_EQ(found.kernarg_alignment, 8u);
  EXPECT_EQ(found.max_workgroup, 64u);
  EXPECT_EQ(found.lds_bytes, 256u);
  EXPECT_EQ(found.scratch_bytes, 0u);
  EXPECT_EQ(found.vgprs, 3u);
  EXPECT_EQ(found.agprs, 0u);
  EXPECT_EQ(found.sgprs, 14u);
  EXPECT_EQ(found.wavefront, 64u);
  EXPECT_GT(found.code_bytes, 40u);
  ASSERT_EQ(found.args.size(), 5u);
  EXPECT_EQ(found.args[4].offset, 24u);
  EXPECT_EQ(found.args[4].size, 8u);
  EXPECT_EQ(found.args[1].kind, "global_buffer");
}

TEST(CodeObject, TargetComesFromTheFlags) {
  constexpr size_t kFlagsOffset = 48;  // of e_flags in an ELF64 header
  const std::pair<uint32_t, const char*> cases[] = {
      {0xe4f, "gfx950:sramecc+:xnack-"}, {0xd4f, "gfx950:sramecc+"},
      {0x64f, "gfx950:xnack-"},          {0x74f, "gfx950:xnack+"},
      {0xa4f, "gfx950:sramecc-:xnack-"},
  };
  for (const auto& [flags, target] : cases) {
    std::string object = Object();
    memcpy(&object[kFlagsOffset], &flags, sizeof(flags));
    const absl::StatusOr<CodeObjectDescription> found =
        DescribeCodeObject(object);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->target, target);
  }
  std::string gfx942 = Object();
  gfx942[kFlagsOffset] = 0x4c;
  EXPECT_EQ(DescribeCodeObject(gfx942).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(CodeObject, DescriptorAndMetadataMustAgree) {
  std::string object = Object();
  // The descriptor starts with LDS, scratch and kernarg sizes.
  const std::string head("\x00\x01\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00",
                         12);
  const size_t at = object.find(head);
  ASSERT_NE(at, std::string::npos);
  for (const size_t field : {0, 4, 8}) {
    std::string damaged = object;
    damaged[at + field] ^= 0x40;
    EXPECT_EQ(DescribeCodeObject(damaged).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(CodeObject, TruncationsAreDataLoss) {
  const std::string object = Object();
  for (size_t size = 0; size < object.size(); size += 7) {
    // Copied, so that a read beyond the end is one that a sanitizer sees.
    const std::string truncated = object.substr(0, size);
    EXPECT_EQ(DescribeCodeObject(truncated).status().code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
}

TEST(CodeObject, DamageNeverCrashes) {
  const std::string object = Object();
  std::mt19937 random(11);
  for (int i = 0; i < 30000; ++i) {
    std::string damaged = object;
    for (uint32_t j = 1 + random() % 8; j > 0; --j) {
      // Mostly where the structure is: headers, note, symbols.
      const size_t range = j % 4 == 0 ? damaged.size() : 2048;
      damaged[random() % range] = static_cast<char>(random());
    }
    const auto found = DescribeCodeObject(damaged);
    if (!found.ok()) {
      EXPECT_EQ(found.status().code(), absl::StatusCode::kDataLoss)
          << found.status();
    }
  }
}

TEST(Contract, HoldsForTheObjectItWasMadeFor) {
  EXPECT_TRUE(CheckContract(Described(), Contract()).ok());
}

TEST(Contract, EveryDifferenceIsNamed) {
  using Change = std::function<void(CodeObjectDescription&, KernelSpec&)>;
  const std::pair<const char*, Change> cases[] = {
      {"symbol", [](auto&, auto& spec) { spec.symbol = "daxpy"; }},
      {"target", [](auto&, auto& spec) { spec.target = "gfx950:xnack+"; }},
      {"arguments", [](auto&, auto& spec) { spec.args.pop_back(); }},
      {"argument 2 n size", [](auto&, auto& spec) { spec.args[2].size = 8; }},
      {"argument 3 a offset",
       [](auto& found, auto&) { found.args[3].offset = 24; }},
      {"argument 0 x kind",
       [](auto&, auto& spec) { spec.args[0].kind = KernelArg::kInteger; }},
      {"argument 4 s kind",
       [](auto& found, auto&) { found.args[4].kind = "hidden_block_count_x"; }},
      {"kernarg bytes", [](auto& found, auto&) { found.kernarg_bytes = 40; }},
      {"kernarg bytes", [](auto& found, auto&) { found.kernarg_bytes = 24; }},
      {"workgroup items",
       [](auto&, auto& spec) { spec.workgroup = {64, 2, 1}; }},
      {"workgroup axis 1",
       [](auto& found, auto&) { found.workgroup = {64, 2, 1}; }},
      {"LDS bytes", [](auto&, auto& spec) { spec.lds_bytes = 255; }},
      {"scratch", [](auto& found, auto&) { found.scratch_bytes = 4; }},
      {"VGPR spills", [](auto& found, auto&) { found.vgpr_spills = 1; }},
      {"SGPR spills", [](auto& found, auto&) { found.sgpr_spills = 1; }},
      {"wavefront", [](auto& found, auto&) { found.wavefront = 32; }},
  };
  for (const auto& [field, change] : cases) {
    CodeObjectDescription found = Described();
    KernelSpec spec = Contract();
    change(found, spec);
    const absl::Status status = CheckContract(found, spec);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << field;
    EXPECT_THAT(std::string(status.message()), HasSubstr(field));
  }
}

TEST(Contract, ScratchWhereItIsAllowed) {
  CodeObjectDescription found = Described();
  KernelSpec spec = Contract();
  found.scratch_bytes = 64;
  found.vgpr_spills = 3;
  spec.scratch_allowed = true;
  EXPECT_TRUE(CheckContract(found, spec).ok());
}

TEST(Occupancy, FollowsTheTableOfTheIsa) {
  CodeObjectDescription kernel;
  kernel.sgprs = 96;
  const std::pair<uint32_t, int> waves[] = {{64, 8},  {72, 7},  {80, 6},
                                            {96, 5},  {128, 4}, {168, 3},
                                            {256, 2}, {512, 1}, {1, 8}};
  for (const auto& [vgprs, expected] : waves) {
    kernel.vgprs = vgprs;
    EXPECT_EQ(OccupancyOf(kernel, 256, 0).waves_per_simd, expected) << vgprs;
  }
  kernel.vgprs = 64;
  kernel.sgprs = 104;
  EXPECT_EQ(OccupancyOf(kernel, 256, 0).waves_per_simd, 7);
  EXPECT_EQ(OccupancyOf(kernel, 256, 0).limited_by, "sgprs");
}

TEST(Occupancy, LdsCountsWorkgroups) {
  CodeObjectDescription kernel;
  kernel.vgprs = 128;
  kernel.sgprs = 32;
  kernel.lds_bytes = 81920;
  EXPECT_EQ(OccupancyOf(kernel, 256, 0).waves_per_simd, 2);
  EXPECT_EQ(OccupancyOf(kernel, 256, 0).limited_by, "lds");
  EXPECT_EQ(OccupancyOf(kernel, 256, 1).waves_per_simd, 1);
  EXPECT_EQ(OccupancyOf(kernel, 1024, 81920).waves_per_simd, 4);
  // More than the compute unit has: nothing is ever resident.
  EXPECT_EQ(OccupancyOf(kernel, 256, 0xffffffff).waves_per_simd, 0);
}

}  // namespace
}  // namespace ingot
