// Recorded files, and what covers them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "client/ctl/coverage_report.h"
#include "client/ctl/manifest.h"
#include "client/ctl/spec_digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::ctl {
namespace {

using client::Status;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::Spec Gemm(int64_t n, const std::string& name = "m") {
  v1::Spec spec;
  spec.set_op("gemm");
  spec.set_target("gfx950");
  spec.add_dims()->set_name(name);
  v1::Dim* dim = spec.add_dims();
  dim->set_name("n");
  dim->set_value(n);
  v1::Operand* operand = spec.add_operands();
  operand->set_name("a");
  operand->set_dtype("bf16");
  return spec;
}

v1::Spec WithTokens(v1::Spec spec, int64_t tokens) {
  spec.mutable_dims(0)->set_value(tokens);
  return spec;
}

v1::Spec WithRange(v1::Spec spec, int64_t min, int64_t max,
                   int64_t multiple_of = 0) {
  v1::DimRange* range = spec.mutable_dims(0)->mutable_range();
  range->set_min(min);
  range->set_max(max);
  range->set_multiple_of(multiple_of);
  return spec;
}

v1::RecordedSpec Recorded(const v1::Spec& spec, uint64_t requests) {
  v1::RecordedSpec recorded;
  *recorded.mutable_spec() = spec;
  recorded.mutable_traffic()->set_requests(requests);
  std::string digest;
  EXPECT_TRUE(DigestOf(spec, &digest).ok());
  recorded.set_spec_digest(digest);
  return recorded;
}

CoverageReport BySpecs(const std::vector<v1::Spec>& listed,
                       const std::vector<v1::RecordedSpec>& recorded) {
  SpecCoverage coverage;
  for (const v1::Spec& spec : listed) EXPECT_TRUE(coverage.Add(spec).ok());
  CoverageReport report;
  const Status status = Report(
      recorded,
      [&](const v1::RecordedSpec& spec, bool* covered) {
        return coverage.Covers(spec, covered);
      },
      &report);
  EXPECT_TRUE(status.ok()) << status.message;
  return report;
}

bool Covers(const v1::Spec& listed, const v1::Spec& asked) {
  return BySpecs({listed}, {Recorded(asked, 1)}).uncovered.empty();
}

TEST(CoverageTest, SharesAreOfRequestsAndOfSpecs) {
  const CoverageReport report = BySpecs(
      {Gemm(64), Gemm(128)}, {Recorded(Gemm(64), 90), Recorded(Gemm(96), 10)});
  EXPECT_EQ(report.requests, 100);
  EXPECT_EQ(report.requests_covered, 90);
  EXPECT_DOUBLE_EQ(report.RequestShare(), 0.9);
  EXPECT_EQ(report.specs, 2);
  EXPECT_EQ(report.specs_covered, 1);
  EXPECT_DOUBLE_EQ(report.SpecShare(), 0.5);
  ASSERT_THAT(report.uncovered, SizeIs(1));
  EXPECT_EQ(report.uncovered[0].spec().dims(1).value(), 96);
  EXPECT_DOUBLE_EQ(BySpecs({Gemm(64)}, {}).RequestShare(), 1)
      << "nothing is missed when nothing is asked";
}

TEST(CoverageTest, CountsOfTokensMakeNoMiss) {
  EXPECT_TRUE(Covers(Gemm(64), WithTokens(Gemm(64), 7)));
  EXPECT_TRUE(Covers(WithTokens(Gemm(64), 1), WithTokens(Gemm(64), 7)));
  EXPECT_TRUE(Covers(Gemm(64), WithRange(Gemm(64), 1, 4096)));
  EXPECT_TRUE(
      Covers(WithRange(Gemm(64), 1, 4096), WithRange(Gemm(64), 16, 512)));
  // Counts that the listed one leaves out, or kernels for multiples.
  EXPECT_FALSE(Covers(WithRange(Gemm(64), 1, 4096), Gemm(64)));
  EXPECT_FALSE(
      Covers(WithRange(Gemm(64), 1, 512), WithRange(Gemm(64), 1, 513)));
  EXPECT_FALSE(Covers(WithRange(Gemm(64), 2, 0), WithRange(Gemm(64), 1, 0)));
  EXPECT_FALSE(Covers(Gemm(64), WithRange(Gemm(64), 0, 0, 16)));
  // Dims that are baked.
  EXPECT_FALSE(Covers(Gemm(64), Gemm(65)));
  EXPECT_FALSE(Covers(Gemm(64, "d"), WithTokens(Gemm(64, "d"), 7)));
}

TEST(CoverageTest, ByKernelsSpecsShareThem) {
  // A kernel for each 100 of n, none from 1000 on: the daemon refuses.
  KernelCoverage coverage(
      [](const v1::Spec& spec, std::set<std::string>* keys) {
        const int64_t n = spec.dims(1).value();
        if (n < 1000) keys->insert(std::to_string(n / 100));
        if (n == 150) keys->insert("another");
        return Status();
      });
  ASSERT_TRUE(coverage.Add(Gemm(101)).ok());
  const auto covered = [&](int64_t n) {
    bool covers = false;
    EXPECT_TRUE(coverage.Covers(Recorded(Gemm(n), 1), &covers).ok());
    return covers;
  };
  EXPECT_TRUE(covered(199));
  EXPECT_FALSE(covered(201));
  EXPECT_FALSE(covered(150)) << "one of its kernels is in no list";
  EXPECT_FALSE(covered(1000));
}

class RecordedFileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  std::vector<v1::RecordedSpec> Read() {
    std::vector<v1::RecordedSpec> specs;
    const Status status = ReadRecorded({path_}, &specs);
    EXPECT_TRUE(status.ok()) << status.message;
    return specs;
  }

  const std::string path_ = ::testing::TempDir() + "ingot-recorded-" +
                            std::to_string(getpid()) + ".jsonl";
};

TEST_F(RecordedFileTest, LinesComeBackAndAreManifestLines) {
  v1::RecordedSpec recorded = Recorded(Gemm(64), 12);
  v1::SpecTraffic* traffic = recorded.mutable_traffic();
  traffic->set_hits(11);
  traffic->set_refused(1);
  traffic->set_last_result("hit");
  traffic->set_first_unix_ms(1700000000123);
  traffic->set_last_unix_ms(1700000000456);
  v1::SeenTokens* tokens = traffic->add_tokens();
  tokens->set_dim("m");
  tokens->set_max(int64_t{1} << 60);
  Write(RecordedLine(recorded) + "\n\n" + ManifestLine(Gemm(96)) + "\n");

  const std::vector<v1::RecordedSpec> read = Read();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].DebugString(), recorded.DebugString());
  EXPECT_EQ(read[1].traffic().requests(), 1) << "a line that counts nothing";

  std::vector<v1::Spec> specs;
  ASSERT_TRUE(ReadManifest(path_, &specs).ok());
  ASSERT_THAT(specs, SizeIs(2));
  EXPECT_EQ(specs[0].DebugString(), Gemm(64).DebugString());
}

TEST_F(RecordedFileTest, LinesOfOneSpecAddUpAndTheMostAskedIsFirst) {
  const auto line = [](const v1::Spec& spec, uint64_t requests, int64_t at,
                       int64_t tokens) {
    v1::RecordedSpec recorded = Recorded(spec, requests);
    recorded.mutable_traffic()->set_hits(requests);
    recorded.mutable_traffic()->set_first_unix_ms(at);
    recorded.mutable_traffic()->set_last_unix_ms(at + 1);
    recorded.mutable_traffic()->set_last_result(std::to_string(at));
    v1::SeenTokens* seen = recorded.mutable_traffic()->add_tokens();
    seen->set_dim("m");
    seen->set_min(tokens);
    seen->set_max(tokens);
    return RecordedLine(recorded) + "\n";
  };
  Write(line(Gemm(64), 5, 2000, 8) + line(Gemm(96), 7, 1, 1) +
        line(WithTokens(Gemm(64), 3), 4, 1000, 2));
  const std::vector<v1::RecordedSpec> read = Read();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].spec().dims(1).value(), 64);
  const v1::SpecTraffic& traffic = read[0].traffic();
  EXPECT_EQ(traffic.requests(), 9);
  EXPECT_EQ(traffic.hits(), 9);
  EXPECT_EQ(traffic.first_unix_ms(), 1000);
  EXPECT_EQ(traffic.last_unix_ms(), 2001);
  EXPECT_EQ(traffic.last_result(), "2000");
  ASSERT_THAT(traffic.tokens(), SizeIs(1));
  EXPECT_EQ(traffic.tokens(0).min(), 2);
  EXPECT_EQ(traffic.tokens(0).max(), 8);
}

TEST_F(RecordedFileTest, WhatCannotBeReadIsNamed) {
  const auto refused = [this](const std::string& text) {
    Write(ManifestLine(Gemm(64)) + "\n" + text + "\n");
    std::vector<v1::RecordedSpec> specs;
    const Status status = ReadRecorded({path_}, &specs);
    EXPECT_EQ(status.code, INGOT_INVALID_ARGUMENT);
    EXPECT_THAT(status.message, HasSubstr(path_ + ":2: "));
    return status.message;
  };
  EXPECT_THAT(refused("no JSON"), HasSubstr("ingot.v1.Spec"));
  EXPECT_THAT(refused(R"({"op":"gemm","recorded":{"nope":1}})"),
              HasSubstr("ingot.v1.SpecTraffic"));
  EXPECT_THAT(refused(R"({"op":"gemm","recorded":{"requests":"x"}})"),
              HasSubstr("ingot.v1.SpecTraffic"));
  EXPECT_THAT(refused(R"({"op":"gemm","nope":1,"recorded":{}})"),
              HasSubstr("ingot.v1.Spec "));
  EXPECT_THAT(refused(R"({"op":"no op","target":"gfx950"})"), HasSubstr("op"));
  std::vector<v1::RecordedSpec> specs;
  EXPECT_EQ(ReadRecorded({"/nowhere/r.jsonl"}, &specs).code,
            INGOT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace ingot::ctl
