// The pipeline as a whole, on kernels that no op needs to exist for.
#include "compiler/compile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(WarmUpCompilerTest, CompilesAKernel) {
  EXPECT_EQ(WarmUpCompiler(), absl::OkStatus());
}

}  // namespace
}  // namespace ingot
