#include "compiler/target/codegen_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::target {
namespace {

absl::StatusOr<CodegenOptions> Read(std::vector<Param> codegen) {
  KernelSpec spec;
  spec.codegen = std::move(codegen);
  return ReadCodegenOptions(spec);
}

TEST(ReadCodegenOptionsTest, Defaults) {
  const auto options = Read({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->optimization, Optimization::kLight);
  EXPECT_TRUE(options->reorder);
  EXPECT_FALSE(options->agpr_alloc.has_value());
  EXPECT_EQ(options->preload, 0);
}

TEST(ReadCodegenOptionsTest, All) {
  const auto options = Read({{"agpr_alloc", int64_t{0}},
                             {"opt", "full"},
                             {"preload", int64_t{3}},
                             {"reorder", int64_t{0}},
                             {"schedule", "max-ilp"},
                             {"waves_per_eu", "2,2"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->optimization, Optimization::kFull);
  EXPECT_FALSE(options->reorder);
  EXPECT_EQ(options->agpr_alloc, 0);
  EXPECT_EQ(options->preload, 3);
  EXPECT_EQ(options->schedule, "max-ilp");
  EXPECT_EQ(options->waves_per_eu, "2,2");
}

TEST(ReadCodegenOptionsTest, WhatLlvmWouldIgnoreIsRefused) {
  const std::vector<Param> bad[] = {{{"opt", "O2"}},
                                    {{"opt", int64_t{2}}},
                                    {{"schedule", "max_ilp"}},
                                    {{"waves_per_eu", "2"}},
                                    {{"waves_per_eu", "3,2"}},
                                    {{"waves_per_eu", "1,9"}},
                                    {{"agpr_alloc", int64_t{257}}},
                                    {{"preload", int64_t{-1}}},
                                    {{"reorder", int64_t{2}}},
                                    {{"reorder", "no"}},
                                    {{"unroll", int64_t{4}}}};
  for (const std::vector<Param>& codegen : bad) {
    EXPECT_TRUE(absl::IsInvalidArgument(Read(codegen).status()))
        << codegen[0].name;
  }
}

}  // namespace
}  // namespace ingot::target
