// The kernels that a model needs on one rank of a tensor-parallel group.
#ifndef INGOT_CLIENT_CTL_MODEL_SPECS_H_
#define INGOT_CLIENT_CTL_MODEL_SPECS_H_

#include <string>
#include <vector>

#include "client/ctl/model_config.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

struct ModelOptions {
  int64_t tensor_parallel = 1;
  // Of the weights of linear layers and experts: bf16, mxfp8, mxfp4. Embedding,
  // router and norms stay bf16; activations of mx layers have the same format.
  std::string dtype = "bf16";
  std::string target = "gfx950";
};

struct NamedSpec {
  std::string name;  // "qkv", "experts.down"
  v1::Spec spec;     // token counts are ranges without bounds
};

// Layers as serving engines fuse them: qkv, gate and up in one product each,
// swiglu after it. INVALID_ARGUMENT when the ranks cannot share out the model.
client::Status SpecsOfModel(const ModelConfig& config,
                            const ModelOptions& options,
                            std::vector<NamedSpec>* specs);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_MODEL_SPECS_H_
