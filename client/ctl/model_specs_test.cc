#include "client/ctl/model_specs.h"

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// "gemm 6144x4096" by layer; g in front for experts.
using Shapes = std::map<std::string, std::string>;

ModelConfig Read(const std::string& model) {
  std::ifstream file("tests/data/models/" + model + ".json");
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  ModelConfig config;
  const client::Status status = ParseModelConfig(json, &config);
  EXPECT_TRUE(status.ok()) << status.message;
  return config;
}

std::string ShapeOf(const v1::Spec& spec) {
  std::map<std::string, int64_t> dims;
  for (const v1::Dim& dim : spec.dims()) {
    if (dim.has_value()) dims[dim.name()] = dim.value();
  }
  std::string text = spec.op() + " ";
  if (dims.count("g") > 0) text += std::to_string(dims["g"]) + "x";
  text += std::to_string(dims["n"]);
  if (dims.count("k") > 0) text += "x" + std::to_string(dims["k"]);
  return text;
}

std::vector<NamedSpec> SpecsOf(const std::string& model,
                               const ModelOptions& options = {}) {
  std::vector<NamedSpec> specs;
  const client::Status status = SpecsOfModel(Read(model), options, &specs);
  EXPECT_TRUE(status.ok()) << status.message;
  return specs;
}

Shapes ShapesOf(const std::string& model, const ModelOptions& options = {}) {
  Shapes shapes;
  for (const NamedSpec& spec : SpecsOf(model, options)) {
    shapes[spec.name] = ShapeOf(spec.spec);
  }
  return shapes;
}

// The layers of the published models, as the shape lists of kernel authors have
// them.
TEST(ModelSpecsTest, DenseModels) {
  EXPECT_EQ(ShapesOf("llama-3.1-8b"),
            (Shapes{{"norm", "rmsnorm 4096"},
                    {"norm.residual", "rmsnorm 4096"},
                    {"qkv", "gemm 6144x4096"},
                    {"o", "gemm 4096x4096"},
                    {"mlp.gate_up", "gemm 28672x4096"},
                    {"mlp.act", "silu_mul 14336"},
                    {"mlp.down", "gemm 4096x14336"},
                    {"lm_head", "gemm 128256x4096"}}));
  EXPECT_EQ(ShapesOf("llama-3.3-70b"),
            (Shapes{{"norm", "rmsnorm 8192"},
                    {"norm.residual", "rmsnorm 8192"},
                    {"qkv", "gemm 10240x8192"},
                    {"o", "gemm 8192x8192"},
                    {"mlp.gate_up", "gemm 57344x8192"},
                    {"mlp.act", "silu_mul 28672"},
                    {"mlp.down", "gemm 8192x28672"},
                    {"lm_head", "gemm 128256x8192"}}));
  EXPECT_EQ(ShapesOf("qwen3-32b"), (Shapes{{"norm", "rmsnorm 5120"},
                                           {"norm.residual", "rmsnorm 5120"},
                                           {"head_norm", "rmsnorm 128"},
                                           {"qkv", "gemm 10240x5120"},
                                           {"o", "gemm 5120x8192"},
                                           {"mlp.gate_up", "gemm 51200x5120"},
                                           {"mlp.act", "silu_mul 25600"},
                                           {"mlp.down", "gemm 5120x25600"},
                                           {"lm_head", "gemm 151936x5120"}}));
}

TEST(ModelSpecsTest, MixturesOfExperts) {
  EXPECT_EQ(ShapesOf("qwen3-30b-a3b"),
            (Shapes{{"norm", "rmsnorm 2048"},
                    {"norm.residual", "rmsnorm 2048"},
                    {"head_norm", "rmsnorm 128"},
                    {"qkv", "gemm 5120x2048"},
                    {"o", "gemm 2048x4096"},
                    {"router", "gemm 128x2048"},
                    {"experts.gate_up", "grouped_gemm 128x1536x2048"},
                    {"experts.act", "silu_mul 768"},
                    {"experts.down", "grouped_gemm 128x2048x768"},
                    {"lm_head", "gemm 151936x2048"}}));
  EXPECT_EQ(ShapesOf("mixtral-8x7b"),
            (Shapes{{"norm", "rmsnorm 4096"},
                    {"norm.residual", "rmsnorm 4096"},
                    {"qkv", "gemm 6144x4096"},
                    {"o", "gemm 4096x4096"},
                    {"router", "gemm 8x4096"},
                    {"experts.gate_up", "grouped_gemm 8x28672x4096"},
                    {"experts.act", "silu_mul 14336"},
                    {"experts.down", "grouped_gemm 8x4096x14336"},
                    {"lm_head", "gemm 32000x4096"}}));
}

TEST(ModelSpecsTest, LatentAttentionAndSharedExperts) {
  EXPECT_EQ(ShapesOf("deepseek-v3", {.tensor_parallel = 8}),
            (Shapes{{"norm", "rmsnorm 7168"},
                    {"norm.residual", "rmsnorm 7168"},
                    {"qkv_a", "gemm 2112x7168"},
                    {"q_a_norm", "rmsnorm 1536"},
                    {"q_b", "gemm 3072x1536"},
                    {"kv_a_norm", "rmsnorm 512"},
                    {"kv_b", "gemm 4096x512"},
                    {"o", "gemm 7168x2048"},
                    {"mlp.gate_up", "gemm 4608x7168"},
                    {"mlp.act", "silu_mul 2304"},
                    {"mlp.down", "gemm 7168x2304"},
                    {"router", "gemm 256x7168"},
                    {"experts.gate_up", "grouped_gemm 256x512x7168"},
                    {"experts.act", "silu_mul 256"},
                    {"experts.down", "grouped_gemm 256x7168x256"},
                    {"shared_experts.gate_up", "gemm 512x7168"},
                    {"shared_experts.act", "silu_mul 256"},
                    {"shared_experts.down", "gemm 7168x256"},
                    {"lm_head", "gemm 16192x7168"}}));
}

TEST(ModelSpecsTest, RanksShareTheModel) {
  const Shapes shapes = ShapesOf("llama-3.3-70b", {.tensor_parallel = 8});
  EXPECT_EQ(shapes.at("qkv"), "gemm 1280x8192");
  EXPECT_EQ(shapes.at("o"), "gemm 8192x1024");
  EXPECT_EQ(shapes.at("mlp.gate_up"), "gemm 7168x8192");
  EXPECT_EQ(shapes.at("mlp.down"), "gemm 8192x3584");
  // Vocabularies are padded before they are shared out.
  EXPECT_EQ(shapes.at("lm_head"), "gemm 16064x8192");
  // More ranks than key heads: each has one.
  EXPECT_EQ(ShapesOf("qwen3-30b-a3b", {.tensor_parallel = 8}).at("qkv"),
            "gemm 768x2048");
}

TEST(ModelSpecsTest, FormatsOfWeights) {
  for (const NamedSpec& spec : SpecsOf("qwen3-30b-a3b", {.dtype = "mxfp4"})) {
    const bool weights = spec.name == "qkv" || spec.name == "o" ||
                         spec.spec.op() == "grouped_gemm";
    EXPECT_EQ(spec.spec.operands(1).dtype(), weights ? "e2m1" : "bf16")
        << spec.name;
    EXPECT_EQ(spec.spec.op() == "scaled_gemm",
              spec.name == "qkv" || spec.name == "o")
        << spec.name;
  }
}

TEST(ModelSpecsTest, TheResidualIsAddedByTheNorm) {
  std::vector<std::string> operands;
  for (const NamedSpec& spec : SpecsOf("llama-3.1-8b")) {
    if (spec.name != "norm.residual") continue;
    for (const v1::Operand& operand : spec.spec.operands()) {
      operands.push_back(operand.name());
    }
  }
  EXPECT_THAT(operands, UnorderedElementsAre("x", "y", "weight", "residual",
                                             "residual_out"));
}

TEST(ModelSpecsTest, ActivationsAreTheConfigs) {
  ModelConfig config = Read("llama-3.1-8b");
  EXPECT_EQ(config.act, "silu");
  config.act = "gelu_tanh";
  std::vector<NamedSpec> specs;
  ASSERT_TRUE(SpecsOfModel(config, {}, &specs).ok());
  int found = 0;
  for (const NamedSpec& spec : specs) {
    if (spec.spec.op() != "silu_mul") continue;
    ASSERT_EQ(spec.spec.attrs_size(), 1);
    EXPECT_EQ(spec.spec.attrs(0).name(), "act");
    EXPECT_EQ(spec.spec.attrs(0).string_value(), "gelu_tanh");
    ++found;
  }
  EXPECT_EQ(found, 1);
}

TEST(ModelSpecsTest, WhatCannotBeIsNamed) {
  std::vector<NamedSpec> specs;
  client::Status status =
      SpecsOfModel(Read("llama-3.1-8b"), {.tensor_parallel = 3}, &specs);
  EXPECT_EQ(status.code, INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(status.message, HasSubstr("found 3 ranks for 32 heads"));
  status = SpecsOfModel(Read("llama-3.1-8b"), {.tensor_parallel = 0}, &specs);
  EXPECT_THAT(status.message, HasSubstr("found 0, allowed 1 or more"));
  status = SpecsOfModel(Read("llama-3.1-8b"), {.dtype = "fp3"}, &specs);
  EXPECT_THAT(status.message, HasSubstr("found \"fp3\", allowed bf16"));
}

TEST(ModelConfigTest, BadConfigsAreNamed) {
  struct Bad {
    const char* json;
    ingot_status code;
    const char* text;
  };
  for (const Bad& bad :
       {Bad{"", INGOT_INVALID_ARGUMENT, "no JSON object"},
        Bad{"[1]", INGOT_INVALID_ARGUMENT, "no JSON object"},
        Bad{"{\"model_type\": \"llama\"", INGOT_INVALID_ARGUMENT, "no JSON"},
        Bad{"{}", INGOT_UNIMPLEMENTED, "model_type: found \"\", allowed llama"},
        Bad{"{\"model_type\": \"bert\"}", INGOT_UNIMPLEMENTED, "\"bert\""},
        Bad{"{\"model_type\": \"llama\"}", INGOT_INVALID_ARGUMENT,
            "hidden_size: found none"},
        Bad{"{\"model_type\": \"llama\", \"hidden_size\": \"big\"}",
            INGOT_INVALID_ARGUMENT, "hidden_size: found \"big\""},
        Bad{"{\"model_type\": \"llama\", \"hidden_size\": 1.5}",
            INGOT_INVALID_ARGUMENT, "hidden_size: found 1.5"},
        Bad{"{\"model_type\": \"llama\", \"hidden_size\": 1e300}",
            INGOT_INVALID_ARGUMENT, "hidden_size: found 1e+300"},
        Bad{"{\"model_type\": \"llama\", \"hidden_size\": -4}",
            INGOT_INVALID_ARGUMENT, "hidden_size: found -4"},
        Bad{"{\"model_type\": \"llama\", \"hidden_size\": 64,"
            "\"intermediate_size\": 64, \"num_attention_heads\": 1,"
            "\"vocab_size\": 64, \"hidden_act\": \"tanh\"}",
            INGOT_INVALID_ARGUMENT, "hidden_act: found \"tanh\", allowed"}}) {
    ModelConfig config;
    const client::Status status = ParseModelConfig(bad.json, &config);
    EXPECT_EQ(status.code, bad.code) << bad.json;
    EXPECT_THAT(status.message, HasSubstr(bad.text)) << bad.json;
  }
}

}  // namespace
}  // namespace ingot::ctl
