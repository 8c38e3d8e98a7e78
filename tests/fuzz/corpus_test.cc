// Every input that the fuzzers of the service kept, through the same targets.
#include "tests/support/corpus.h"

#include <gtest/gtest.h>

#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, IsSurvived) {
  const std::string path =
      std::string("tests/data/fuzz/service/") + GetParam().name + ".gz";
  EXPECT_GT(testing::ForEachInput(path, GetParam().run), 20);
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, ::testing::ValuesIn(kTargets),
                         [](const ::testing::TestParamInfo<Target>& i) {
                           return i.param.name;
                         });

}  // namespace
}  // namespace ingot::fuzz
