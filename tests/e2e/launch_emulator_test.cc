// The whole way: asked for, compiled, loaded through HIP, executed, checked.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "client/ctl/launch_problem.h"
#include "client/ctl/spec_structs.h"
#include "gmock/gmock.h"
#include "tests/e2e/client_fixture.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;

class LaunchOnEmulatorTest : public ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    const client::Status status = ctl::Gpu::Open(&gpu_);
    ASSERT_TRUE(status.ok()) << status.message;
  }

  static ctl::Problem Make(const std::string& op, std::vector<std::string> dims,
                           const std::string& dtype,
                           const std::string& layout = "nt",
                           const std::string& out_dtype = "") {
    ctl::ProblemFlags flags;
    flags.dims = std::move(dims);
    flags.dtype = dtype;
    flags.layout = layout;
    flags.out_dtype = out_dtype;
    ctl::Problem problem;
    const client::Status status = ctl::MakeProblem(op, flags, &problem);
    EXPECT_TRUE(status.ok()) << status.message;
    return problem;
  }

  void LaunchAndCompare(Client* client, ctl::Problem* problem) {
    SCOPED_TRACE(problem->title);
    const ctl::SpecStructs structs(problem->spec);
    Prepared prepared;
    ASSERT_EQ(client->Prepare(structs.spec(), nullptr, &prepared), INGOT_OK)
        << ingot_last_error();
    ctl::LaunchOutcome outcome;
    const client::Status status =
        ctl::LaunchProblem(*gpu_, prepared.get(), problem, &outcome);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_GT(outcome.comparison.elements, 0u);
    EXPECT_EQ(outcome.comparison.beyond, 0u)
        << "largest error " << outcome.comparison.largest_error << ", "
        << outcome.comparison.share << " of the tolerance";
  }

  std::unique_ptr<ctl::Gpu> gpu_;
};

TEST_F(LaunchOnEmulatorTest, NumbersAgreeWithTheReference) {
  Client client = NewClient();
  for (const char* dtype : {"bf16", "f16"}) {
    for (const char* layout : {"nn", "nt", "tn", "tt"}) {
      ctl::Problem gemm =
          Make("gemm", {"m=33", "n=65", "k=100"}, dtype, layout, "f32");
      LaunchAndCompare(&client, &gemm);
    }
    for (const char* layout : {"nn", "nt"}) {
      ctl::Problem grouped =
          Make("grouped_gemm", {"total_m=70", "n=65", "k=100", "g=5"}, dtype,
               layout);
      LaunchAndCompare(&client, &grouped);
    }
  }
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    for (const char* n : {"n=1", "n=255", "n=4096"}) {
      for (const char* op : {"rmsnorm", "silu_mul"}) {
        ctl::Problem problem = Make(op, {"rows=3", n}, dtype);
        LaunchAndCompare(&client, &problem);
      }
    }
  }
}

TEST_F(LaunchOnEmulatorTest, OneHandleServesEveryTokenCount) {
  Client client = NewClient();
  for (const char* m : {"m=1", "m=17", "m=64", "m=129"}) {
    ctl::Problem gemm = Make("gemm", {m, "n=128", "k=128"}, "bf16");
    LaunchAndCompare(&client, &gemm);
  }
  EXPECT_EQ(Stats(client).prepare_calls, 1u);
}

TEST_F(LaunchOnEmulatorTest, WarmUpWithoutAGpuMeetsTheDevice) {
  EXPECT_EQ(gpu_->target(), "gfx950:sramecc+:xnack-");
  std::vector<ctl::Problem> problems;
  problems.push_back(Make("gemm", {"m=16", "n=64", "k=64"}, "bf16"));
  problems.push_back(Make("gemm", {"m=16", "n=64", "k=64"}, "f16", "nn"));
  problems.push_back(Make("rmsnorm", {"rows=2", "n=512"}, "bf16"));
  {
    ingot_client_options options = {sizeof(options)};
    options.address = address_.c_str();
    options.hip_library = "/nowhere/libhip.so";
    Client warm;
    ASSERT_EQ(Client::Create(&options, &warm), INGOT_OK);
    const ingot_prepare_options flags =
        With(INGOT_PREPARE_NO_BYTES | INGOT_PREPARE_WARMUP);
    for (const ctl::Problem& problem : problems) {
      const ctl::SpecStructs structs(problem.spec);
      Prepared prepared;
      ASSERT_EQ(warm.Prepare(structs.spec(), &flags, &prepared), INGOT_OK)
          << ingot_last_error();
    }
  }
  Client client = NewClient();
  const double compiles = Counter(&client, "ingot_compiles_total");
  EXPECT_GT(compiles, 0);
  for (ctl::Problem& problem : problems) LaunchAndCompare(&client, &problem);
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), compiles);
}

TEST_F(LaunchOnEmulatorTest, AnotherFeatureSettingIsRefusedBeforeLoading) {
  Client client = NewClient("gfx950:xnack+");
  client::OwnedSpec owned = RmsNormSpec(2, 64);
  ingot_spec spec = *owned.spec();
  spec.target = nullptr;
  Prepared prepared;
  const ingot_status status = client.Prepare(&spec, nullptr, &prepared);
  EXPECT_EQ(status, INGOT_FAILED_PRECONDITION) << ingot_last_error();
  EXPECT_THAT(ingot_last_error(), HasSubstr("gfx950:sramecc+:xnack-"));
  // And a second time: a refusal is not remembered as a success.
  EXPECT_EQ(client.Prepare(&spec, nullptr, &prepared),
            INGOT_FAILED_PRECONDITION);
}

TEST_F(LaunchOnEmulatorTest, AForkAfterHipWasInUseIsToldSo) {
  Client client = NewClient();
  ctl::Problem norm = Make("rmsnorm", {"rows=2", "n=64"}, "bf16");
  LaunchAndCompare(&client, &norm);
  const ctl::SpecStructs structs(norm.spec);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    Prepared prepared;
    if (client.Prepare(structs.spec(), nullptr, &prepared) != INGOT_OK) {
      _exit(1);
    }
    const int64_t dims[2] = {64, 2};
    void* operands[3] = {&norm, &norm, &norm};
    ingot_launch_args args = {sizeof(args)};
    args.dims = dims;
    args.dim_count = 2;
    args.operands = operands;
    args.operand_count = 3;
    const bool told =
        prepared.Launch(nullptr, args) == INGOT_FAILED_PRECONDITION &&
        std::string(ingot_last_error()).find("fork") != std::string::npos;
    _exit(told ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  LaunchAndCompare(&client, &norm);
}

TEST_F(LaunchOnEmulatorTest, ThreadsShareModules) {
  Client client = NewClient();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3; ++i) {
        ctl::Problem norm =
            Make("rmsnorm", {"rows=" + std::to_string(1 + t), "n=320"}, "f16");
        LaunchAndCompare(&client, &norm);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Stats(client).modules_loaded, 1u);
}

}  // namespace
}  // namespace ingot::testing
