// Why a spec is answered as it is, and what it could be tuned to.
#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Stub = v1::Admin::Stub;

class ExplainTest : public DaemonTest {
 protected:
  v1::ExplainResponse Explain(const v1::Spec& spec) {
    v1::ExplainRequest request;
    *request.mutable_spec() = spec;
    const auto answer = client().Call(&Stub::Explain, request);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response;
  }
};

TEST_F(ExplainTest, NamesTheFieldsThatTheNearestHasOtherwise) {
  StartDaemon();
  const v1::ExplainResponse empty = Explain(RmsNorm(64));
  ASSERT_THAT(empty.kernels(), SizeIs(1));
  EXPECT_EQ(empty.kernels(0).state(), "missing");
  EXPECT_THAT(empty.kernels(0).nearest_key(), IsEmpty());
  EXPECT_EQ(empty.compared(), 0u);

  // The other dtype is one field, another n changes strides and alignment, too.
  const auto near = client().Get(RmsNorm(64, "f32"));
  const auto far = client().Get(RmsNorm(66));
  ASSERT_TRUE(far.ok() && near.ok());
  const v1::ExplainResponse miss = Explain(RmsNorm(64));
  EXPECT_EQ(miss.compared(), 2u);
  const v1::ExplainedKernel& kernel = miss.kernels(0);
  EXPECT_EQ(kernel.nearest_key(), near.response.kernels(0).record().key());
  bool found = false;
  for (const v1::FieldDifference& difference : kernel.differences()) {
    if (difference.field() != "param dtype") continue;
    found = true;
    EXPECT_EQ(difference.wanted(), "bf16");
    EXPECT_EQ(difference.stored(), "f32");
  }
  EXPECT_TRUE(found) << miss.DebugString();
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 2);

  const v1::ExplainResponse hit = Explain(RmsNorm(66));
  EXPECT_EQ(hit.kernels(0).state(), "memory");
  EXPECT_THAT(hit.kernels(0).differences(), IsEmpty());
  EXPECT_EQ(hit.compared(), 0u);
  KillAndRestart();
  EXPECT_EQ(Explain(RmsNorm(66)).kernels(0).state(), "store");
}

TEST_F(ExplainTest, ShowsPlanTuningAndRefusals) {
  StartFaultyDaemon();
  v1::TuneRequest tune;
  *tune.mutable_spec() = RmsNorm(4096);
  v1::Tuning* tuning = tune.add_tuning();
  tuning->set_name("threads");
  tuning->set_value(1024);
  tune.set_microseconds(2);
  ASSERT_TRUE(client().Call(&Stub::Tune, tune).ok());
  const v1::ExplainResponse tuned = Explain(RmsNorm(4096));
  EXPECT_EQ(tuned.epoch(), 2u);
  ASSERT_THAT(tuned.tuning(), SizeIs(1));
  EXPECT_EQ(tuned.tuning(0).microseconds(), 2);
  EXPECT_THAT(tuned.canonical_text(), HasSubstr("dim n 4096"));
  ASSERT_FALSE(tuned.variants().empty());
  EXPECT_TRUE(tuned.variants(0).matches());
  for (const v1::ExplainedVariant& variant : tuned.variants()) {
    for (const uint32_t kernel : variant.kernels()) {
      EXPECT_LT(kernel, static_cast<uint32_t>(tuned.kernels_size()));
    }
  }
  EXPECT_GT(tuned.candidates_size(), 2);

  daemon().OrderFault("n=65", "refuse", 1);
  ASSERT_FALSE(client().Get(RmsNorm(65)).ok());
  EXPECT_THAT(Explain(RmsNorm(65)).kernels(0).refusal(),
              HasSubstr("ordered by a test"));
  v1::DisableRequest disable;
  disable.add_ops("rmsnorm");
  disable.set_reason("broken");
  ASSERT_TRUE(client().Call(&Stub::Disable, disable).ok());
  EXPECT_THAT(Explain(RmsNorm(66)).kernels(0).refusal(), HasSubstr("broken"));
}

// What autotuners do: each candidate can be asked for, and the winner stored.
TEST_F(ExplainTest, CandidatesCanBeAskedForAndStored) {
  StartDaemon();
  v1::CandidatesRequest request;
  *request.mutable_spec() = RmsNorm(4096);
  const auto listed = client().Call(&Stub::ListCandidates, request);
  ASSERT_TRUE(listed.ok()) << listed.message();
  int fit = 0;
  for (const v1::Candidate& candidate : listed.response.candidates()) {
    if (!candidate.refusal().empty()) continue;
    v1::Spec spec = RmsNorm(4096);
    *spec.mutable_tuning() = candidate.tuning();
    const auto got = client().Get(spec);
    ASSERT_TRUE(got.ok()) << got.message();
    EXPECT_EQ(got.response.kernels_size(), candidate.keys_size());
    EXPECT_EQ(got.response.kernels(0).record().key(), candidate.keys(0));
    ++fit;
  }
  EXPECT_GE(fit, 3);
  v1::TuneRequest tune;
  *tune.mutable_spec() = RmsNorm(4096);
  *tune.mutable_tuning() = listed.response.candidates(1).tuning();
  tune.set_microseconds(1);
  ASSERT_TRUE(client().Call(&Stub::Tune, tune).ok());
  const auto tuned = client().Get(RmsNorm(4096));
  EXPECT_EQ(tuned.response.kernels(0).record().key(),
            listed.response.candidates(1).keys(0));
  EXPECT_EQ(tuned.response.kernels(0).source(), v1::SOURCE_MEMORY);

  request.set_limit(2);
  EXPECT_THAT(
      client().Call(&Stub::ListCandidates, request).response.candidates(),
      SizeIs(2));
  request.mutable_spec()->set_op("no_such_op");
  EXPECT_EQ(client().Call(&Stub::ListCandidates, request).code(),
            StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace ingot::server
