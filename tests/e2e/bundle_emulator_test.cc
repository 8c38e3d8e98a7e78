// A process that has a bundle and no daemon: kernels are loaded, executed and
// their numbers agree.
#include "client/ctl/launch_problem.h"
#include "client/ctl/spec_structs.h"
#include "gmock/gmock.h"
#include "tests/e2e/bundle_fixture.h"

namespace ingot::testing {
namespace {

class BundleOnEmulatorTest : public BundleFixture {
 protected:
  void SetUp() override {
    BundleFixture::SetUp();
    ctl::ProblemFlags gemm;
    gemm.dims = {"m=33", "n=65", "k=100"};
    ctl::ProblemFlags norm;
    norm.dims = {"rows=3", "n=4096"};
    problems_.resize(2);
    ASSERT_TRUE(ctl::MakeProblem("gemm", gemm, &problems_[0]).ok());
    ASSERT_TRUE(ctl::MakeProblem("rmsnorm", norm, &problems_[1]).ok());
    for (const ctl::Problem& problem : problems_) {
      const ctl::SpecStructs structs(problem.spec);
      Client client = NewClient();
      const ingot_prepare_options warm = With(INGOT_PREPARE_NO_BYTES);
      Prepared prepared;
      ASSERT_EQ(client.Prepare(structs.spec(), &warm, &prepared), INGOT_OK)
          << ingot_last_error();
    }
  }

  // Whether every problem's numbers agree with its f64 reference.
  void LaunchAll(Client& client) {
    std::unique_ptr<ctl::Gpu> gpu;
    ASSERT_TRUE(ctl::Gpu::Open(&gpu).ok());
    for (ctl::Problem& problem : problems_) {
      SCOPED_TRACE(problem.title);
      const ctl::SpecStructs structs(problem.spec);
      Prepared prepared;
      ASSERT_EQ(client.Prepare(structs.spec(), nullptr, &prepared), INGOT_OK)
          << ingot_last_error();
      EXPECT_EQ(SourceOf(prepared), uint32_t{INGOT_SOURCE_BUNDLE});
      ctl::LaunchOutcome outcome;
      const client::Status status =
          ctl::LaunchProblem(*gpu, prepared.get(), &problem, &outcome);
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_GT(outcome.comparison.elements, 0u);
      EXPECT_EQ(outcome.comparison.beyond, 0u);
    }
  }

  std::vector<ctl::Problem> problems_;
};

TEST_F(BundleOnEmulatorTest, NumbersAgreeWithoutADaemon) {
  const std::string bundle = Export("all.bundle");
  ASSERT_EQ(daemon_->Terminate().value_or(-1), 0);
  Client client = ClientWith(bundle, address_);
  LaunchAll(client);
  const ingot_client_stats stats = Stats(client);
  EXPECT_EQ(stats.bundle_specs, 2u);
  EXPECT_GE(stats.bundle_objects, 2u);
  EXPECT_EQ(stats.objects, 0u);
}

TEST_F(BundleOnEmulatorTest, TheEnvironmentNamesABundle) {
  const std::string bundle = Export("all.bundle");
  setenv("INGOT_BUNDLE", bundle.c_str(), 1);
  const std::string nobody = "unix:" + folder_.path() + "/nobody";
  ingot_client_options options = {sizeof(options)};
  options.address = nobody.c_str();
  Client client;
  ASSERT_EQ(Client::Create(&options, &client), INGOT_OK);
  options.bundle_dir = "";  // none, whatever the environment says
  Client without;
  ASSERT_EQ(Client::Create(&options, &without), INGOT_OK);
  unsetenv("INGOT_BUNDLE");
  LaunchAll(client);
  const ctl::SpecStructs structs(problems_[0].spec);
  Prepared prepared;
  EXPECT_EQ(without.Prepare(structs.spec(), nullptr, &prepared),
            INGOT_UNAVAILABLE);
}

}  // namespace
}  // namespace ingot::testing
