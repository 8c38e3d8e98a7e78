#include "client/ctl/model_config.h"

#include <cmath>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace ingot::ctl {
namespace {

using client::Error;
using client::Status;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr int64_t kMost = int64_t{1} << 30;

// Reads fields and keeps the first thing that is wrong.
class Reader {
 public:
  explicit Reader(const Struct& object) : object_(object) {}

  const Status& status() const { return status_; }

  bool Has(const char* name) const {
    const Value* value = Find(name);
    return value != nullptr && value->kind_case() != Value::kNullValue;
  }
  int64_t Number(const char* name) {
    const Value* value = Find(name);
    const double number = value == nullptr ? 0 : value->number_value();
    if (value != nullptr && value->kind_case() == Value::kNumberValue &&
        number >= 1 && number <= static_cast<double>(kMost) &&
        number == std::floor(number)) {
      return static_cast<int64_t>(number);
    }
    Refuse(name, "an integer of 1 to " + std::to_string(kMost));
    return 0;
  }
  // `otherwise` where the field is missing or null.
  int64_t Number(const char* name, int64_t otherwise) {
    return Has(name) ? Number(name) : otherwise;
  }
  bool Flag(const char* name) const {
    const Value* value = Find(name);
    return value != nullptr && value->bool_value();
  }
  std::string Text(const char* name) const {
    const Value* value = Find(name);
    return value == nullptr ? "" : value->string_value();
  }
  void Refuse(const char* name, const std::string& allowed) {
    if (!status_.ok()) return;
    status_ = Error(INGOT_INVALID_ARGUMENT, "%s: found %s, allowed %s", name,
                    Describe(Find(name)).c_str(), allowed.c_str());
  }

 private:
  const Value* Find(const char* name) const {
    const auto found = object_.fields().find(name);
    return found == object_.fields().end() ? nullptr : &found->second;
  }
  static std::string Describe(const Value* value) {
    if (value == nullptr) return "none";
    std::string text;
    google::protobuf::util::MessageToJsonString(*value, &text);
    return text.substr(0, 60);
  }

  const Struct& object_;
  Status status_;
};

void ReadExperts(Reader* reader, ModelConfig* config) {
  for (const char* name :
       {"num_local_experts", "num_experts", "n_routed_experts"}) {
    if (config->experts == 0 && reader->Has(name)) {
      config->experts = reader->Number(name);
    }
  }
  if (config->experts == 0) return;
  // Mixtral's experts have the width that others' dense layers have.
  config->expert_intermediate =
      reader->Number("moe_intermediate_size", config->intermediate);
  if (reader->Has("n_shared_experts")) {
    config->shared_intermediate =
        reader->Number("n_shared_experts") * config->expert_intermediate;
  }
  config->shared_intermediate = reader->Number(
      "shared_expert_intermediate_size", config->shared_intermediate);
  const bool every_layer =
      !reader->Has("moe_intermediate_size") || config->family == "qwen3_moe";
  // DeepSeek's first layers are dense; Qwen's only where it says so.
  if (every_layer) config->intermediate = 0;
}

void ReadLatentAttention(Reader* reader, ModelConfig* config) {
  if (!reader->Has("kv_lora_rank")) return;
  config->kv_rank = reader->Number("kv_lora_rank");
  config->q_rank = reader->Number("q_lora_rank", 0);
  config->rope_dim = reader->Number("qk_rope_head_dim");
  config->nope_dim = reader->Number("qk_nope_head_dim");
  config->v_dim = reader->Number("v_head_dim");
}

// "gelu" is by the error function, the others of that family by tanh.
void ReadActivation(Reader* reader, ModelConfig* config) {
  const std::string act =
      reader->Has("hidden_act") ? reader->Text("hidden_act") : "silu";
  if (act == "silu" || act == "swish") {
    config->act = "silu";
  } else if (act == "gelu") {
    config->act = "gelu_erf";
  } else if (act == "gelu_pytorch_tanh" || act == "gelu_new") {
    config->act = "gelu_tanh";
  } else {
    reader->Refuse("hidden_act", "silu, gelu, gelu_pytorch_tanh");
  }
}

constexpr const char* kFamilies[] = {"llama",       "mistral",    "qwen2",
                                     "qwen3",       "mixtral",    "qwen3_moe",
                                     "deepseek_v2", "deepseek_v3"};

Status CheckFamily(const std::string& family) {
  std::string allowed;
  for (const char* known : kFamilies) {
    if (family == known) return Status();
    allowed += allowed.empty() ? known : std::string(", ") + known;
  }
  return Error(INGOT_UNIMPLEMENTED, "model_type: found \"%s\", allowed %s",
               family.c_str(), allowed.c_str());
}

}  // namespace

Status ParseModelConfig(const std::string& json, ModelConfig* config) {
  Struct object;
  if (!google::protobuf::util::JsonStringToMessage(json, &object).ok()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "model config: found no JSON object, allowed a Hugging Face "
                 "config.json");
  }
  Reader reader(object);
  *config = ModelConfig();
  config->family = reader.Text("model_type");
  INGOT_CLIENT_RETURN_IF_ERROR(CheckFamily(config->family));
  config->hidden = reader.Number("hidden_size");
  config->intermediate = reader.Number("intermediate_size");
  config->heads = reader.Number("num_attention_heads");
  config->kv_heads = reader.Number("num_key_value_heads", config->heads);
  config->vocabulary = reader.Number("vocab_size");
  config->head_dim = reader.Number(
      "head_dim", config->heads == 0 ? 0 : config->hidden / config->heads);
  config->attention_bias =
      reader.Flag("attention_bias") || config->family == "qwen2";
  config->head_norms =
      config->family == "qwen3" || config->family == "qwen3_moe";
  ReadActivation(&reader, config);
  ReadExperts(&reader, config);
  ReadLatentAttention(&reader, config);
  return reader.status();
}

}  // namespace ingot::ctl
