#include "client/ctl/spec_sources.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "client/ctl/manifest.h"
#include "client/ctl/model_config.h"

namespace ingot::ctl {
namespace {

client::Status ReadModel(const std::string& path, const ModelOptions& options,
                         std::vector<NamedSpec>* specs) {
  std::ifstream file(path);
  if (!file) {
    return client::Error(
        INGOT_INVALID_ARGUMENT,
        "--model: found \"%s\", allowed a file that can be read", path.c_str());
  }
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  ModelConfig config;
  INGOT_CLIENT_RETURN_IF_ERROR(ParseModelConfig(json, &config));
  std::vector<NamedSpec> found;
  INGOT_CLIENT_RETURN_IF_ERROR(SpecsOfModel(config, options, &found));
  std::move(found.begin(), found.end(), std::back_inserter(*specs));
  return client::Status();
}

}  // namespace

void SpecSources::Add(CLI::App* app) {
  app->add_option("--model", models,
                  "a Hugging Face config.json of a Llama, Mistral, Qwen2, "
                  "Qwen3, Mixtral, Qwen3-MoE or DeepSeek model");
  app->add_option("--manifest", manifests,
                  "files with the JSON form of an ingot.v1.Spec on each line; "
                  "\"-\": standard input");
  app->add_option("--tp", options.tensor_parallel, "ranks that share the model")
      ->capture_default_str();
  app->add_option("--dtype", options.dtype,
                  "of the model's linear layers: bf16, mxfp8 or mxfp4")
      ->capture_default_str();
  app->add_option("--target", options.target, "of the model's kernels")
      ->capture_default_str();
}

client::Status ReadSpecs(const SpecSources& sources,
                         std::vector<NamedSpec>* specs) {
  for (const std::string& path : sources.models) {
    INGOT_CLIENT_RETURN_IF_ERROR(ReadModel(path, sources.options, specs));
  }
  for (const std::string& path : sources.manifests) {
    std::vector<v1::Spec> read;
    INGOT_CLIENT_RETURN_IF_ERROR(ReadManifest(path, &read));
    for (v1::Spec& spec : read) {
      specs->push_back({spec.op(), std::move(spec)});
    }
  }
  return client::Status();
}

}  // namespace ingot::ctl
