// Every vector of tests/data/isa-vectors, as it stands and with everything that
// the environment may vary: threads, wave order.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/emulator/emulator.h"
#include "tests/emulator/isa_vectors.h"
#include "tests/emulator/program.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {
namespace {

constexpr char kFolder[] = "tests/data/isa-vectors/";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

class IsaVectors : public testing::Test {
 protected:
  void SetUp() override {
    const std::string object = ReadFile(std::string(kFolder) + "vectors.hsaco");
    LoadError error;
    std::string message;
    program_ = device_.Load(object.data(), object.size(), &error, &message);
    ASSERT_NE(program_, nullptr) << message;
    in_ = static_cast<uint64_t*>(
        device_.memory().Allocate(3 * 64 * 8, MemoryMap::Kind::kDevice));
    out_ = static_cast<uint64_t*>(
        device_.memory().Allocate(64 * 8, MemoryMap::Kind::kDevice));
  }

  // Empty when the case passes.
  std::string Run(const VectorCase& c) {
    std::memcpy(in_, c.x, sizeof(c.x));
    std::memcpy(in_ + 64, c.y, sizeof(c.y));
    std::memcpy(in_ + 128, c.z, sizeof(c.z));
    std::memset(out_, 0, 64 * 8);
    const KernelInfo* kernel = program_->object().FindKernel(c.kernel);
    if (kernel == nullptr) return "no such kernel";
    const uint64_t* args[] = {in_, out_};
    LaunchConfig config;
    config.block[0] = 64;
    // Some lanes of some forms read what nobody has written, and show it.
    Options options = Options::FromEnvironment();
    for (const uint64_t e : c.expected)
      options.check_undefined &= static_cast<uint32_t>(e) != kRegisterPoison;
    const RunResult result =
        device_.Run(program_, *kernel, config, args, sizeof(args), options);
    if (result.status != RunStatus::kOk) return result.report;
    for (int l = 0; l < 64; ++l) {
      if (VectorLaneAgrees(c, l, out_[l])) continue;
      char text[200];
      std::snprintf(text, sizeof(text),
                    "lane %d x %llx y %llx z %llx: want %llx, got %llx", l,
                    static_cast<unsigned long long>(c.x[l]),
                    static_cast<unsigned long long>(c.y[l]),
                    static_cast<unsigned long long>(c.z[l]),
                    static_cast<unsigned long long>(c.expected[l]),
                    static_cast<unsigned long long>(out_[l]));
      return text;
    }
    return {};
  }

  Device device_;
  Program* program_ = nullptr;
  uint64_t* in_ = nullptr;
  uint64_t* out_ = nullptr;
};

TEST_F(IsaVectors, AllAgree) {
  const std::vector<VectorCase> cases =
      ReadVectorCases(std::string(kFolder) + "vectors.txt.gz");
  ASSERT_GE(cases.size(), 1400u);
  std::map<std::string, int> kernels;
  std::map<std::string, std::string> failed;
  for (const VectorCase& c : cases) {
    ++kernels[c.kernel];
    const std::string why = Run(c);
    if (!why.empty())
      failed.emplace(c.kernel + " [" + c.kind + "] " + c.assembly, why);
  }
  EXPECT_EQ(kernels.size(), 376u);
  for (const auto& [form, why] : failed) ADD_FAILURE() << form << "\n  " << why;
}

}  // namespace
}  // namespace ingot::emulator
