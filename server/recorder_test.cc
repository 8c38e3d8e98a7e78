#include "server/recorder.h"

#include <thread>
#include <vector>

#include "gmock/gmock.h"

namespace ingot::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Answer = Recorder::Answer;

// A plan of rmsnorm that has nothing but its digest: the first letter of it.
AskedPlan Asked(char digest, std::optional<int64_t> rows = std::nullopt) {
  AskedPlan asked;
  asked.asked.op = "rmsnorm";
  asked.asked.target = "GFX950";
  asked.asked.dims = {{"rows", rows}, {"n", 64}};
  asked.asked.operands = {{"y", "bf16"}, {"x", "bf16"}};
  auto plan = std::make_shared<EncodedPlan>();
  plan->plan.spec_digest = std::string(32, digest);
  asked.plan = std::move(plan);
  return asked;
}

class RecorderTest : public ::testing::Test {
 protected:
  v1::ListRecordedResponse List(uint32_t page_size = 0,
                                const std::string& token = "") {
    v1::ListRecordedRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    const auto response = recorder_.List(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return *response;
  }
  uint64_t Unrecorded() {
    return counters_.Get("ingot_unrecorded_requests_total").value();
  }

  Counters counters_;
  Recorder recorder_{3, counters_};
};

TEST_F(RecorderTest, ALineCountsItsAnswers) {
  const auto line = recorder_.Of(Asked('a'));
  EXPECT_THAT(List().specs(), IsEmpty()) << "listed before it was answered";
  line->Count(Answer::kCompiled, 1000);
  line->Count(Answer::kHit, 2000);
  line->Count(Answer::kHit, 3000);
  line->Count(Answer::kRefused, 4000);
  line->Count(Answer::kAbandoned, 5000);
  const v1::ListRecordedResponse all = List();
  ASSERT_THAT(all.specs(), SizeIs(1));
  EXPECT_EQ(all.specs(0).spec_digest(), std::string(32, 'a'));
  const v1::SpecTraffic& traffic = all.specs(0).traffic();
  EXPECT_EQ(traffic.requests(), 5);
  EXPECT_EQ(traffic.hits(), 2);
  EXPECT_EQ(traffic.compiled(), 1);
  EXPECT_EQ(traffic.refused(), 1);
  EXPECT_EQ(traffic.abandoned(), 1);
  EXPECT_EQ(traffic.last_result(), "abandoned");
  EXPECT_EQ(traffic.first_unix_ms(), 1000);
  EXPECT_EQ(traffic.last_unix_ms(), 5000);
}

TEST_F(RecorderTest, TokensAreSeenAndNotInTheSpec) {
  recorder_.Of(Asked('a'))->Count(Answer::kHit);
  EXPECT_THAT(List().specs(0).traffic().tokens(), IsEmpty());
  for (const int64_t rows : {7, 3, 90}) {
    recorder_.Of(Asked('a', rows))->Count(Answer::kHit);
  }
  const v1::ListRecordedResponse all = List();
  ASSERT_THAT(all.specs(), SizeIs(1)) << "values of tokens made specs";
  const v1::RecordedSpec& spec = all.specs(0);
  ASSERT_THAT(spec.traffic().tokens(), SizeIs(1));
  EXPECT_EQ(spec.traffic().tokens(0).dim(), "rows");
  EXPECT_EQ(spec.traffic().tokens(0).min(), 3);
  EXPECT_EQ(spec.traffic().tokens(0).max(), 90);
  EXPECT_EQ(spec.spec().target(), "gfx950") << "the spec is not canonical";
  ASSERT_THAT(spec.spec().dims(), SizeIs(2));
  EXPECT_EQ(spec.spec().dims(0).value(), 64);
  EXPECT_TRUE(spec.spec().dims(1).has_range());
}

TEST_F(RecorderTest, FurtherSpecsOfAFullRecordAreCounted) {
  std::vector<std::shared_ptr<Recorder::Line>> lines;
  for (const char digest : {'c', 'a', 'b'}) {
    lines.push_back(recorder_.Of(Asked(digest)));
    lines.back()->Count(Answer::kHit);
  }
  EXPECT_EQ(recorder_.Of(Asked('d')), nullptr);
  EXPECT_EQ(recorder_.Of(Asked('e')), nullptr);
  EXPECT_EQ(recorder_.Of(Asked('a')), lines[1]) << "it was there before";
  EXPECT_EQ(recorder_.size(), 3);
  EXPECT_EQ(List().unrecorded(), 2);
  EXPECT_EQ(Unrecorded(), 2);

  EXPECT_EQ(recorder_.Forget(), 3);
  lines[0]->Count(Answer::kHit);  // unseen
  EXPECT_THAT(List().specs(), IsEmpty());
  EXPECT_EQ(List().unrecorded(), 0);
  EXPECT_EQ(Unrecorded(), 2) << "a counter never falls";
  EXPECT_NE(recorder_.Of(Asked('d')), nullptr);
}

TEST_F(RecorderTest, PagesHoldEachSpecOnce) {
  for (const char digest : {'c', 'a', 'b'}) {
    recorder_.Of(Asked(digest))->Count(Answer::kHit);
  }
  std::vector<char> seen;
  std::string token;
  do {
    const v1::ListRecordedResponse page = List(1, token);
    for (const v1::RecordedSpec& spec : page.specs()) {
      seen.push_back(spec.spec_digest()[0]);
    }
    token = page.next_page_token();
  } while (!token.empty() && seen.size() < 10);
  EXPECT_THAT(seen, ElementsAre('a', 'b', 'c'));

  v1::ListRecordedRequest request;
  request.set_page_size(2001);
  EXPECT_EQ(recorder_.List(request).status().code(),
            absl::StatusCode::kInvalidArgument);
  request.set_page_size(0);
  request.set_page_token("abc");
  EXPECT_EQ(recorder_.List(request).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RecorderTest, NoneMayBeRecorded) {
  Recorder off(0, counters_);
  EXPECT_EQ(off.Of(Asked('a')), nullptr);
  EXPECT_EQ(Unrecorded(), 0) << "nobody wants them";
}

TEST_F(RecorderTest, ThreadsLoseNoCount) {
  std::vector<std::thread> threads;
  for (int64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([this, t] {
      for (int64_t i = 0; i < 1000; ++i) {
        recorder_.Of(Asked('a', t * 1000 + i))->Count(Answer::kHit);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const v1::SpecTraffic traffic = List().specs(0).traffic();
  EXPECT_EQ(traffic.requests(), 4000);
  EXPECT_EQ(traffic.tokens(0).min(), 1000);
  EXPECT_EQ(traffic.tokens(0).max(), 4999);
}

}  // namespace
}  // namespace ingot::server
