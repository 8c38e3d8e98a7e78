#include "client/ctl/model_specs.h"

#include <algorithm>
#include <utility>

namespace ingot::ctl {
namespace {

using client::Error;
using client::Status;

// Embeddings are padded to this many rows, as vLLM does.
constexpr int64_t kVocabularyPadding = 64;

class Writer {
 public:
  Writer(const ModelConfig& config, const ModelOptions& options,
         std::vector<NamedSpec>* specs)
      : c_(config), options_(options), specs_(*specs) {}

  Status Write();

 private:
  void Attention();
  void LatentAttention();
  void DenseMlp(const std::string& name, int64_t intermediate);
  void Experts();

  v1::Spec* Add(const std::string& name, const char* op);
  void Dim(v1::Spec* spec, const char* name, int64_t value);
  void Token(v1::Spec* spec, const char* name);
  void Operand(v1::Spec* spec, const char* name, const std::string& dtype);
  void Attr(v1::Spec* spec, const char* name, const std::string& value);
  // x [m, k] times weights [n, k], in the weights' format or in bf16.
  void Linear(const std::string& name, int64_t n, int64_t k, bool bias = false);
  void Dense(const std::string& name, int64_t n, int64_t k, bool bias = false);
  void Grouped(const std::string& name, int64_t n, int64_t k);
  void Norm(const std::string& name, int64_t n, bool residual = false);
  void Activation(const std::string& name, int64_t width);
  // This rank's part; records what cannot be shared out.
  int64_t Share(const char* what, int64_t all);
  bool mx() const { return options_.dtype != "bf16"; }
  std::string weight_dtype() const {
    return options_.dtype == "mxfp8"   ? "e4m3fn"
           : options_.dtype == "mxfp4" ? "e2m1"
                                       : "bf16";
  }

  const ModelConfig& c_;
  const ModelOptions& options_;
  std::vector<NamedSpec>& specs_;
  Status status_;
};

v1::Spec* Writer::Add(const std::string& name, const char* op) {
  specs_.push_back({name, {}});
  v1::Spec* spec = &specs_.back().spec;
  spec->set_op(op);
  spec->set_target(options_.target);
  return spec;
}

void Writer::Dim(v1::Spec* spec, const char* name, int64_t value) {
  v1::Dim* dim = spec->add_dims();
  dim->set_name(name);
  dim->set_value(value);
}

void Writer::Token(v1::Spec* spec, const char* name) {
  v1::Dim* dim = spec->add_dims();
  dim->set_name(name);
  dim->mutable_range();
}

void Writer::Operand(v1::Spec* spec, const char* name,
                     const std::string& dtype) {
  v1::Operand* operand = spec->add_operands();
  operand->set_name(name);
  operand->set_dtype(dtype);
}

void Writer::Attr(v1::Spec* spec, const char* name, const std::string& value) {
  v1::Attr* attr = spec->add_attrs();
  attr->set_name(name);
  attr->set_string_value(value);
}

void Writer::Dense(const std::string& name, int64_t n, int64_t k, bool bias) {
  v1::Spec* spec = Add(name, "gemm");
  Token(spec, "m");
  Dim(spec, "n", n);
  Dim(spec, "k", k);
  for (const char* operand : {"a", "b", "d"}) Operand(spec, operand, "bf16");
  if (bias) Operand(spec, "bias", "bf16");
  Attr(spec, "layout", "nt");
}

void Writer::Linear(const std::string& name, int64_t n, int64_t k, bool bias) {
  if (!mx()) return Dense(name, n, k, bias);
  v1::Spec* spec = Add(name, "scaled_gemm");
  Token(spec, "m");
  Dim(spec, "n", n);
  Dim(spec, "k", k);
  Operand(spec, "a", weight_dtype());
  Operand(spec, "b", weight_dtype());
  Operand(spec, "scale_a", "e8m0");
  Operand(spec, "scale_b", "e8m0");
  Operand(spec, "d", "bf16");
  if (bias) Operand(spec, "bias", "bf16");
}

void Writer::Grouped(const std::string& name, int64_t n, int64_t k) {
  v1::Spec* spec = Add(name, "grouped_gemm");
  Token(spec, "total_m");
  Dim(spec, "g", c_.experts);
  Dim(spec, "n", n);
  Dim(spec, "k", k);
  Operand(spec, "a", weight_dtype());
  Operand(spec, "b", weight_dtype());
  if (mx()) {
    Operand(spec, "scale_a", "e8m0");
    Operand(spec, "scale_b", "e8m0");
  }
  Operand(spec, "d", "bf16");
  Operand(spec, "offs", "i32");
  Attr(spec, "b_layout", "gnk");
}

void Writer::Norm(const std::string& name, int64_t n, bool residual) {
  v1::Spec* spec = Add(name, "rmsnorm");
  Token(spec, "rows");
  Dim(spec, "n", n);
  for (const char* operand : {"x", "weight", "y"}) {
    Operand(spec, operand, "bf16");
  }
  if (!residual) return;
  Operand(spec, "residual", "bf16");
  Operand(spec, "residual_out", "bf16");
}

// Of what a gate_up projection leaves: gate, then up.
void Writer::Activation(const std::string& name, int64_t width) {
  v1::Spec* spec = Add(name, "silu_mul");
  Token(spec, "rows");
  Dim(spec, "n", width);
  Operand(spec, "x", "bf16");
  Operand(spec, "y", "bf16");
  if (c_.act != "silu") Attr(spec, "act", c_.act);
}

int64_t Writer::Share(const char* what, int64_t all) {
  if (all % options_.tensor_parallel != 0 && status_.ok()) {
    status_ = Error(INGOT_INVALID_ARGUMENT,
                    "tensor parallelism: found %lld ranks for %lld %s, allowed "
                    "a divisor",
                    static_cast<long long>(options_.tensor_parallel),
                    static_cast<long long>(all), what);
  }
  return all / options_.tensor_parallel;
}

void Writer::Attention() {
  const int64_t q = Share("heads", c_.heads) * c_.head_dim;
  // Fewer key heads than ranks are repeated.
  const int64_t kv_heads = c_.kv_heads <= options_.tensor_parallel
                               ? 1
                               : Share("key heads", c_.kv_heads);
  Linear("qkv", q + 2 * kv_heads * c_.head_dim, c_.hidden, c_.attention_bias);
  if (c_.head_norms) Norm("head_norm", c_.head_dim);
  Linear("o", c_.hidden, q);
}

void Writer::LatentAttention() {
  const int64_t heads = Share("heads", c_.heads);
  const int64_t q = heads * (c_.nope_dim + c_.rope_dim);
  // Every rank projects into the latent space, which is not shared out.
  if (c_.q_rank > 0) {
    Linear("qkv_a", c_.q_rank + c_.kv_rank + c_.rope_dim, c_.hidden);
    Norm("q_a_norm", c_.q_rank);
    Linear("q_b", q, c_.q_rank);
  } else {
    Linear("q", q, c_.hidden);
    Linear("kv_a", c_.kv_rank + c_.rope_dim, c_.hidden);
  }
  Norm("kv_a_norm", c_.kv_rank);
  Linear("kv_b", heads * (c_.nope_dim + c_.v_dim), c_.kv_rank);
  Linear("o", c_.hidden, heads * c_.v_dim);
}

void Writer::DenseMlp(const std::string& name, int64_t intermediate) {
  const int64_t width = Share("columns of an MLP", intermediate);
  Linear(name + ".gate_up", 2 * width, c_.hidden);
  Activation(name + ".act", width);
  Linear(name + ".down", c_.hidden, width);
}

void Writer::Experts() {
  const int64_t width = Share("columns of an expert", c_.expert_intermediate);
  Dense("router", c_.experts, c_.hidden);
  Grouped("experts.gate_up", 2 * width, c_.hidden);
  Activation("experts.act", width);
  Grouped("experts.down", c_.hidden, width);
  if (c_.shared_intermediate > 0) {
    DenseMlp("shared_experts", c_.shared_intermediate);
  }
}

Status Writer::Write() {
  if (options_.tensor_parallel < 1) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "tensor parallelism: found %lld, allowed 1 or more",
                 static_cast<long long>(options_.tensor_parallel));
  }
  if (options_.dtype != "bf16" && options_.dtype != "mxfp8" &&
      options_.dtype != "mxfp4") {
    return Error(INGOT_INVALID_ARGUMENT,
                 "dtype: found \"%s\", allowed bf16, mxfp8, mxfp4",
                 options_.dtype.c_str());
  }
  // The first layer's; all others add what the layer before has left.
  Norm("norm", c_.hidden);
  Norm("norm.residual", c_.hidden, true);
  if (c_.kv_rank > 0) {
    LatentAttention();
  } else {
    Attention();
  }
  if (c_.intermediate > 0) DenseMlp("mlp", c_.intermediate);
  if (c_.experts > 0) Experts();
  const int64_t ranks_padding = kVocabularyPadding * options_.tensor_parallel;
  const int64_t padded =
      (c_.vocabulary + ranks_padding - 1) / ranks_padding * ranks_padding;
  Dense("lm_head", padded / options_.tensor_parallel, c_.hidden);
  return status_;
}

}  // namespace

Status SpecsOfModel(const ModelConfig& config, const ModelOptions& options,
                    std::vector<NamedSpec>* specs) {
  return Writer(config, options, specs).Write();
}

}  // namespace ingot::ctl
