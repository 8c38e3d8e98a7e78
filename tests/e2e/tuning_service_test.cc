// The calls of an autotuner against a real daemon, with no GPU.
#include <string>

#include "gmock/gmock.h"
#include "tests/e2e/client_fixture.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;

class TuningTest : public ClientFixture {
 protected:
  TuningTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }

  static std::string KernelKey(const Prepared& prepared) {
    ingot_kernel_info kernel = {sizeof(kernel)};
    EXPECT_EQ(ingot_prepared_kernel(prepared.get(), 0, &kernel), INGOT_OK)
        << ingot_last_error();
    return std::string(reinterpret_cast<const char*>(kernel.key), 32);
  }

  static ingot_tuning_record RecordOf(const ingot_candidate& candidate) {
    ingot_tuning_record record = {sizeof(record)};
    record.tuning = candidate.tuning;
    record.tuning_count = candidate.tuning_count;
    record.microseconds = 12.5;
    record.device = "a test";
    return record;
  }

  // One that fits and is not what the plan has anyway.
  static void OtherCandidate(const Candidates& candidates,
                             ingot_candidate* candidate) {
    for (uint32_t i = 0; i < candidates.size(); ++i) {
      ASSERT_EQ(candidates.Get(i, candidate), INGOT_OK) << ingot_last_error();
      if (candidate->chosen == 0 && *candidate->refusal == '\0') return;
    }
    FAIL() << "no other candidate fits";
  }

  static client::OwnedSpec Tuned(const ingot_candidate& candidate) {
    client::OwnedSpec spec = RmsNormSpec(4, 1024);
    for (uint32_t i = 0; i < candidate.tuning_count; ++i) {
      spec.AddTuning(candidate.tuning[i].name, candidate.tuning[i].value);
    }
    return spec;
  }
};

TEST_F(TuningTest, CandidatesArePreparedAndTheWinnerIsTheAnswer) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 1024);
  Prepared before;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &before), INGOT_OK);
  Candidates candidates;
  ASSERT_EQ(client.ListCandidates(spec.spec(), 0, &candidates), INGOT_OK)
      << ingot_last_error();
  ASSERT_GT(candidates.size(), 2u);
  ingot_candidate candidate = {};
  EXPECT_EQ(candidates.Get(candidates.size(), &candidate), INGOT_OUT_OF_RANGE);
  OtherCandidate(candidates, &candidate);
  EXPECT_STREQ(candidate.tuning[0].name, "threads");
  EXPECT_EQ(candidate.kernel_count, 1u);
  client::OwnedSpec with = Tuned(candidate);
  Prepared tuned;
  ASSERT_EQ(client.Prepare(with.spec(), nullptr, &tuned), INGOT_OK)
      << ingot_last_error();
  EXPECT_NE(KernelKey(tuned), KernelKey(before));

  uint64_t epoch = 0;
  ASSERT_EQ(client.StoreTuning(spec.spec(), RecordOf(candidate), &epoch),
            INGOT_OK)
      << ingot_last_error();
  EXPECT_GT(epoch, Describe(before).epoch);
  Prepared after;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &after), INGOT_OK);
  EXPECT_EQ(Describe(after).epoch, epoch);
  EXPECT_EQ(KernelKey(after), KernelKey(tuned));
  // A handle that was held stays what it was, and so does the pinned answer.
  EXPECT_NE(KernelKey(before), KernelKey(after));
  ingot_prepare_options pinned = With(0);
  pinned.pin_epoch = Describe(before).epoch;
  Prepared old;
  ASSERT_EQ(client.Prepare(spec.spec(), &pinned, &old), INGOT_OK);
  EXPECT_EQ(KernelKey(old), KernelKey(before));

  uint64_t deleted = 0;
  ASSERT_EQ(ingot_tuning_delete(client.get(), &epoch, 1, &deleted), INGOT_OK)
      << ingot_last_error();
  EXPECT_EQ(deleted, 1u);
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &after), INGOT_OK);
  EXPECT_EQ(KernelKey(after), KernelKey(before));
  ASSERT_EQ(ingot_tuning_delete(client.get(), &epoch, 1, &deleted), INGOT_OK);
  EXPECT_EQ(deleted, 0u);
}

TEST_F(TuningTest, OtherSpecsStayKnown) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 1024);
  client::OwnedSpec other = RmsNormSpec(4, 2048);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  ASSERT_EQ(client.Prepare(other.spec(), nullptr, &prepared), INGOT_OK);
  Candidates candidates;
  ASSERT_EQ(client.ListCandidates(spec.spec(), 0, &candidates), INGOT_OK);
  ingot_candidate candidate = {};
  OtherCandidate(candidates, &candidate);
  ASSERT_EQ(client.StoreTuning(spec.spec(), RecordOf(candidate), nullptr),
            INGOT_OK);
  const uint64_t calls = Stats(client).prepare_calls;
  ASSERT_EQ(client.Prepare(other.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_EQ(Stats(client).prepare_calls, calls);
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_EQ(Stats(client).prepare_calls, calls + 1);
}

TEST_F(TuningTest, ARecordMayBeForSomeRowsOnly) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 1024);
  Candidates candidates;
  ASSERT_EQ(client.ListCandidates(spec.spec(), 0, &candidates), INGOT_OK);
  ingot_candidate candidate = {};
  OtherCandidate(candidates, &candidate);
  ingot_tuning_record record = RecordOf(candidate);
  record.range_dim = "rows";
  record.range_min = 1;
  record.range_max = 16;
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  const uint32_t variants = Describe(prepared).variant_count;
  ASSERT_EQ(client.StoreTuning(spec.spec(), record, nullptr), INGOT_OK)
      << ingot_last_error();
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_GT(Describe(prepared).variant_count, variants);
  record.range_dim = "n";
  EXPECT_EQ(client.StoreTuning(spec.spec(), record, nullptr),
            INGOT_INVALID_ARGUMENT);
}

TEST_F(TuningTest, RefusalsNameWhatIsWrong) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 1024);
  Candidates candidates;
  ASSERT_EQ(client.ListCandidates(spec.spec(), 2, &candidates), INGOT_OK);
  EXPECT_EQ(candidates.size(), 2u);
  ingot_candidate candidate = {};
  ASSERT_EQ(candidates.Get(0, &candidate), INGOT_OK);
  client::OwnedSpec with = Tuned(candidate);
  EXPECT_EQ(client.StoreTuning(with.spec(), RecordOf(candidate), nullptr),
            INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("spec.tuning"));
  ingot_tuning wrong = {sizeof(wrong), 0, "threads", 65};
  ingot_tuning_record record = RecordOf(candidate);
  record.tuning = &wrong;
  EXPECT_EQ(client.StoreTuning(spec.spec(), record, nullptr),
            INGOT_INVALID_ARGUMENT);
  client::OwnedSpec unknown = RmsNormSpec(4, 0);
  EXPECT_EQ(client.ListCandidates(unknown.spec(), 0, &candidates),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(candidates.size(), 2u);
}

TEST_F(TuningTest, AReleasedListIsNamed) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 1024);
  ingot_candidates* list = nullptr;
  ASSERT_EQ(ingot_list_candidates(client.get(), spec.spec(), 0, &list),
            INGOT_OK);
  ASSERT_EQ(ingot_candidates_release(list), INGOT_OK);
  EXPECT_EQ(ingot_candidates_release(list), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("released list"));
  ingot_candidate candidate = {sizeof(candidate)};
  EXPECT_EQ(ingot_candidates_get(list, 0, &candidate), INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_candidates_count(list), 0u);
}

TEST_F(TuningTest, WhatAPlanWrites) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 1024);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_EQ(ingot_prepared_writes(prepared.get(), 0), 0u);  // x
  EXPECT_EQ(ingot_prepared_writes(prepared.get(), 1), 1u);  // y
  EXPECT_EQ(ingot_prepared_writes(prepared.get(), 2), 0u);
  const int64_t dims[2] = {4, 1024};
  ingot_launch_args args = {sizeof(args)};
  args.dims = dims;
  args.dim_count = 2;
  uint64_t bytes = 0;
  ASSERT_EQ(ingot_read_operand(prepared.get(), &args, 1, nullptr, &bytes),
            INGOT_OK)
      << ingot_last_error();
  EXPECT_EQ(bytes, 4 * 1024 * 2u);
  const ingot_launch_args* sets[1] = {&args};
  ingot_measurement measurement = {sizeof(measurement)};
  EXPECT_EQ(
      ingot_measure(prepared.get(), nullptr, sets, 1, nullptr, &measurement),
      INGOT_FAILED_PRECONDITION);
  EXPECT_EQ(
      ingot_measure(prepared.get(), nullptr, sets, 0, nullptr, &measurement),
      INGOT_INVALID_ARGUMENT);
  const ingot_measure_options many = {sizeof(many), 0, 10001, 0};
  EXPECT_EQ(
      ingot_measure(prepared.get(), nullptr, sets, 1, &many, &measurement),
      INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("runs: found 10001"));
}

}  // namespace
}  // namespace ingot::testing
