// What a Hugging Face config.json says of a transformer, as far as its kernels
// depend on it. Families: Llama, Qwen2, Qwen3, Mistral; Mixtral, Qwen3-MoE;
// DeepSeek V2 and V3.
#ifndef INGOT_CLIENT_CTL_MODEL_CONFIG_H_
#define INGOT_CLIENT_CTL_MODEL_CONFIG_H_

#include <cstdint>
#include <string>

#include "client/src/status.h"

namespace ingot::ctl {

struct ModelConfig {
  std::string family;  // the config's model_type
  int64_t hidden = 0;
  int64_t intermediate = 0;  // of dense layers; 0: there are none
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocabulary = 0;
  std::string act;  // of the MLP's gate: silu, gelu_tanh, gelu_erf
  bool attention_bias = false;
  bool head_norms = false;  // q and k are normalised, a head each
  // Mixture of experts; 0 experts: none.
  int64_t experts = 0;
  int64_t expert_intermediate = 0;
  int64_t shared_intermediate = 0;  // of the experts that every token visits
  // Latent attention; 0: plain heads.
  int64_t kv_rank = 0;
  int64_t q_rank = 0;  // 0: q is projected at once
  int64_t rope_dim = 0;
  int64_t nope_dim = 0;
  int64_t v_dim = 0;
};

// INVALID_ARGUMENT naming the field, what was found and what is allowed;
// UNIMPLEMENTED for another family.
client::Status ParseModelConfig(const std::string& json, ModelConfig* config);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_MODEL_CONFIG_H_
