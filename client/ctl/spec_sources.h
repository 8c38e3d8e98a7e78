// Where commands take lists of specs from: models and manifests.
#ifndef INGOT_CLIENT_CTL_SPEC_SOURCES_H_
#define INGOT_CLIENT_CTL_SPEC_SOURCES_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/ctl/model_specs.h"
#include "client/src/status.h"

namespace ingot::ctl {

struct SpecSources {
  std::vector<std::string> models;  // files of Hugging Face configurations
  std::vector<std::string> manifests;
  ModelOptions options;  // of every model

  // Adds the flags to a subcommand.
  void Add(CLI::App* app);
  bool empty() const { return models.empty() && manifests.empty(); }
};

// Adds the specs of all to `*specs`, a manifest's by the name of their op.
// INVALID_ARGUMENT names the file.
client::Status ReadSpecs(const SpecSources& sources,
                         std::vector<NamedSpec>* specs);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_SPEC_SOURCES_H_
