// Every input that the fuzzers kept, through the same targets.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/emulator/fuzz/targets.h"
#include "tests/emulator/gzip_file.h"

namespace ingot::emulator::fuzz {
namespace {

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, IsSurvived) {
  const std::string all = ReadGzip(std::string("tests/data/fuzz/emulator/") +
                                   GetParam().name + ".gz");
  int inputs = 0;
  for (size_t at = 0; at + 4 <= all.size(); ++inputs) {
    uint32_t size;
    std::memcpy(&size, &all[at], sizeof(size));
    at += sizeof(size);
    ASSERT_LE(size, all.size() - at) << "the corpus is truncated";
    // A copy of its own, so that a checker of memory sees a byte too far.
    const std::unique_ptr<uint8_t[]> input(new uint8_t[size]);
    std::memcpy(input.get(), all.data() + at, size);
    at += size;
    GetParam().run(input.get(), size);
  }
  EXPECT_GT(inputs, 20);
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(kTargets),
                         [](const testing::TestParamInfo<Target>& i) {
                           return i.param.name;
                         });

}  // namespace
}  // namespace ingot::emulator::fuzz
