// Every input that the fuzzers kept, through the same targets.
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/fuzz/targets.h"
#include "tests/support/corpus.h"

namespace ingot::emulator::fuzz {
namespace {

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, IsSurvived) {
  const std::string path =
      std::string("tests/data/fuzz/emulator/") + GetParam().name + ".gz";
  EXPECT_GT(ingot::testing::ForEachInput(path, GetParam().run), 20);
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, ::testing::ValuesIn(kTargets),
                         [](const ::testing::TestParamInfo<Target>& i) {
                           return i.param.name;
                         });

}  // namespace
}  // namespace ingot::emulator::fuzz
