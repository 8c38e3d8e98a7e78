#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

TEST(Meets, HoldsTheFigureAgainstItsTarget) {
  EXPECT_TRUE(Meets({"latency", 1.3, "x", AtMost(1.3)}));
  EXPECT_FALSE(Meets({"latency", 1.31, "x", AtMost(1.3)}));
  EXPECT_TRUE(Meets({"rate", 0.7, "x", AtLeast(0.7)}));
  EXPECT_FALSE(Meets({"rate", 0.69, "x", AtLeast(0.7)}));
  EXPECT_TRUE(Meets({"anything", 1e9, "x", std::nullopt}));
}

TEST(Report, TextNamesCommandMachineTargetAndVerdict) {
  CaptureStdout();
  Report report("bench_x --runs 5", /*json=*/false);
  report.Add({"slow thing", 2.5, "us", AtMost(2)});
  report.Add({"fast thing", 1.5, "us", AtMost(2)});
  report.Finish();
  const std::string text = GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("bench_x --runs 5"));
  EXPECT_THAT(text, HasSubstr(MachineName()));
  EXPECT_THAT(text, HasSubstr("at most 2.00: MISSED"));
  EXPECT_THAT(text, HasSubstr("1 of 2 targets met"));
}

TEST(Report, JsonIsOneObjectWithEveryFigure) {
  CaptureStdout();
  Report report("bench_x \"quoted\"", /*json=*/true);
  report.Section("not in JSON");
  report.Add({"a", 1, "us", AtMost(2)});
  report.Add({"b", 2, "1/s", std::nullopt});
  report.Finish();
  const std::string text = GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr(R"("command":"bench_x \"quoted\"")"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"({"name":"a","value":1,"unit":"us","target":{"at_most":2},"met":true},)"));
  EXPECT_THAT(text, HasSubstr(R"({"name":"b","value":2,"unit":"1/s"}]})"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("not in JSON")));
}

}  // namespace
}  // namespace ingot::bench
