// The pipeline as a whole: stages, refusals, and the same bytes always.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/compile.h"
#include "compiler/compile_body.h"
#include "compiler/ops/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

KernelSpec RmsNormKernel(const char* dtype = "bf16", int64_t n = 4096,
                         const char* target = "gfx950") {
  Spec spec{"rmsnorm"};
  spec.target = target;
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", dtype}, {"y", dtype}, {"weight", dtype}};
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan->kernels[0].spec;
}

std::string MustCompile(const KernelSpec& spec) {
  absl::StatusOr<CompiledKernel> compiled = Compile(spec);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? compiled->object : "";
}

TEST(CompileTest, WarmsUp) { EXPECT_EQ(WarmUpCompiler(), absl::OkStatus()); }

TEST(CompileTest, TimesEveryStage) {
  const absl::StatusOr<CompiledKernel> compiled = Compile(RmsNormKernel());
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  std::vector<std::string> stages;
  for (const StageTime& time : compiled->stages) stages.push_back(time.stage);
  EXPECT_THAT(stages, ElementsAre("build", "mlir", "translate", "opt",
                                  "codegen", "link", "check"));
}

TEST(CompileTest, DescribesWhatItMade) {
  const KernelSpec spec = RmsNormKernel();
  const absl::StatusOr<CompiledKernel> compiled = Compile(spec);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(compiled->description.symbol, spec.symbol);
  EXPECT_EQ(compiled->description.target, "gfx950");
  EXPECT_EQ(compiled->description.args.size(), spec.args.size());
  EXPECT_EQ(compiled->description.scratch_bytes, 0u);
}

TEST(CompileTest, TargetFeaturesReachTheObject) {
  const struct {
    const char* target;
    uint32_t flags;
  } kCases[] = {{"gfx950", 0x54f},
                {"gfx950:sramecc+", 0xd4f},
                {"gfx950:sramecc+:xnack-", 0xe4f},
                {"gfx950:xnack+", 0x74f}};
  for (const auto& c : kCases) {
    const absl::StatusOr<CompiledKernel> compiled =
        Compile(RmsNormKernel("f32", 64, c.target));
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(compiled->description.elf_flags, c.flags) << c.target;
  }
}

TEST(CompileTest, DumpsEachStage) {
  std::string dump;
  ASSERT_TRUE(Compile(RmsNormKernel(), {.ir_dump = &dump}).ok());
  EXPECT_THAT(dump, HasSubstr("scf.if"));                // as built
  EXPECT_THAT(dump, HasSubstr("llvm.cond_br"));          // lowered
  EXPECT_THAT(dump, HasSubstr("define amdgpu_kernel"));  // translated
}

TEST(CompileTest, RefusesAnotherBuildsFingerprint) {
  KernelSpec spec = RmsNormKernel();
  spec.fingerprint[0] ^= 1;
  EXPECT_TRUE(absl::IsInvalidArgument(Compile(spec).status()));
}

TEST(CompileTest, RefusesAnUnknownOp) {
  KernelSpec spec = RmsNormKernel();
  spec.op = "softmax";
  EXPECT_TRUE(absl::IsUnimplemented(Compile(spec).status()));
}

TEST(CompileTest, RefusesUnknownCodegenOptions) {
  KernelSpec spec = RmsNormKernel();
  spec.codegen = {{"opt", "fast"}};
  EXPECT_TRUE(absl::IsInvalidArgument(Compile(spec).status()));
  spec.codegen = {{"unroll", int64_t{4}}};
  EXPECT_TRUE(absl::IsInvalidArgument(Compile(spec).status()));
}

TEST(CompileTest, AMissingParameterIsOurFault) {
  KernelSpec spec = RmsNormKernel();
  spec.params.clear();
  const absl::Status status = Compile(spec).status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(spec.symbol));
}

TEST(CompileTest, WhatDoesNotFitIsAPrecondition) {
  KernelSpec spec = RmsNormKernel();
  spec.lds_bytes = 4;
  std::string dump;
  const absl::Status status = Compile(spec, {.ir_dump = &dump}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("LDS"));
  EXPECT_THAT(dump, HasSubstr("llvm.func"));
}

TEST(CompileTest, RefusalsLeaveNothingBehind) {
  const std::string before = MustCompile(RmsNormKernel());
  KernelSpec bad = RmsNormKernel();
  bad.lds_bytes = 4;
  EXPECT_FALSE(Compile(bad).ok());
  bad.params.clear();
  EXPECT_FALSE(Compile(bad).ok());
  EXPECT_EQ(MustCompile(RmsNormKernel()), before);
}

TEST(CompileTest, SameBytesWhateverWasCompiledBefore) {
  const std::string first = MustCompile(RmsNormKernel());
  MustCompile(RmsNormKernel("f32", 131072));
  KernelSpec pinned = RmsNormKernel();
  pinned.codegen = {{"opt", "none"}, {"reorder", int64_t{0}}};
  EXPECT_NE(MustCompile(pinned), first);
  EXPECT_EQ(MustCompile(RmsNormKernel()), first);
}

TEST(CompileTest, NothingOfThisPlaceIsInTheObject) {
  const std::string object = MustCompile(RmsNormKernel());
  char cwd[4096];
  ASSERT_NE(getcwd(cwd, sizeof(cwd)), nullptr);
  EXPECT_THAT(object, Not(HasSubstr(cwd)));
  EXPECT_THAT(object, Not(HasSubstr("/proc")));
  EXPECT_THAT(object, Not(HasSubstr("/tmp")));
}

// Runs itself once more, in a process of its own, which writes its object.
TEST(CompileTest, SameBytesInAnotherProcessDirectoryAndEnvironment) {
  if (const char* path = getenv("INGOT_TEST_OBJECT")) {
    std::ofstream(path, std::ios::binary) << MustCompile(RmsNormKernel());
    return;
  }
  const std::string path =
      ::testing::TempDir() + "/ingot-object-" + std::to_string(getpid());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string object = "INGOT_TEST_OBJECT=" + path;
    const char* environment[] = {object.c_str(),      "HOME=/nonexistent",
                                 "TZ=Asia/Tokyo",     "LANG=tr_TR.UTF-8",
                                 "PATH=/nonexistent", nullptr};
    const char* args[] = {self.c_str(), "--gtest_filter=*AnotherProcess*",
                          nullptr};
    if (chdir("/") == 0) {
      execve(self.c_str(), const_cast<char**>(args),
             const_cast<char**>(environment));
    }
    _exit(127);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::ifstream in(path, std::ios::binary);
  const std::string other((std::istreambuf_iterator<char>(in)),
                          std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  EXPECT_EQ(other, MustCompile(RmsNormKernel()));
}

KernelSpec BareSpec() {
  KernelSpec spec;
  spec.op = "test";
  spec.symbol = "ingot_test";
  spec.target = "gfx950";
  spec.workgroup = {64, 1, 1};
  spec.args = {{"out", KernelArg::kOperand, 0, 8, Expr::Const(0)}};
  return spec;
}

TEST(CompileTest, WhatTheCodeGeneratorRefusesIsAPrecondition) {
  KernelSpec spec = BareSpec();
  spec.lds_bytes = 200000;
  const absl::Status status =
      CompileBody(spec, [](tile::Builder& b, const KernelSpec&) {
        tile::Value lds = b.Lds("large", 170000);
        b.Store(b.I32(1), lds);
        b.Store(b.Load(tile::kI32, lds), b.Arg("out"));
        return absl::OkStatus();
      }).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("local memory"));
}

TEST(CompileTest, WhatCannotBeTranslatedIsOurFault) {
  const absl::Status status =
      CompileBody(BareSpec(), [](tile::Builder& b, const KernelSpec&) {
        b.Store(
            b.Intrinsic("llvm.amdgcn.no.such.thing", {b.I32(1)}, tile::kI32),
            b.Arg("out"));
        return absl::OkStatus();
      }).status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no.such.thing"));
}

// gfx950 has no such instruction, which LLVM finds out too late to return.
TEST(CompileDeathTest, LlvmSaysWhyItDies) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto body = [](tile::Builder& b, const KernelSpec&) {
    tile::Value a = b.Zero(tile::Vec(tile::kF32, 2));
    b.Store(b.Intrinsic("llvm.amdgcn.mfma.f32.16x16x8.xf32",
                        {a, a, b.Zero(tile::Vec(tile::kF32, 4)), b.I32(0),
                         b.I32(0), b.I32(0)},
                        tile::Vec(tile::kF32, 4)),
            b.Arg("out"));
    return absl::OkStatus();
  };
  EXPECT_DEATH(CompileBody(BareSpec(), body).status().IgnoreError(),
               "fatal: LLVM: Cannot select");
}

TEST(DisassembleTest, ShowsTheKernel) {
  const KernelSpec spec = RmsNormKernel();
  const absl::StatusOr<std::string> text = Disassemble(MustCompile(spec));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr(spec.symbol + ":"));
  EXPECT_THAT(*text, HasSubstr("buffer_load_dwordx4"));
  EXPECT_THAT(*text, HasSubstr("s_endpgm"));
  EXPECT_THAT(*text, Not(HasSubstr("no instruction")));
}

TEST(DisassembleTest, DamagedObjects) {
  const std::string object = MustCompile(RmsNormKernel());
  EXPECT_TRUE(absl::IsDataLoss(Disassemble("").status()));
  EXPECT_TRUE(absl::IsDataLoss(Disassemble("not an object").status()));
  for (size_t size = 1; size < object.size(); size += 97) {
    const absl::Status status = Disassemble(object.substr(0, size)).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << size << ": " << status;
  }
}

}  // namespace
}  // namespace ingot
