#include "client/ctl/problem.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

namespace ingot::ctl {
namespace {

using client::Error;
using client::Status;

// Uniform in [-1, 1): no element dominates a sum, and cancellation happens.
std::vector<uint8_t> RandomBytes(const Format& format, int64_t elements,
                                 std::mt19937_64* random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(elements) * format.bytes);
  for (size_t at = 0; at < bytes.size(); at += format.bytes) {
    const double unit = static_cast<double>((*random)() >> 11) * 0x1p-53;
    Encode(format, unit * 2 - 1, &bytes[at]);
  }
  return bytes;
}

double At(const ProblemOperand& operand, int64_t index) {
  return Decode(
      *operand.format,
      &operand.bytes[static_cast<size_t>(index) * operand.format->bytes]);
}

// Reads "m=64" into dims that are there already.
Status ReadDims(const ProblemFlags& flags,
                std::map<std::string, int64_t>* dims) {
  for (const std::string& text : flags.dims) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    char* end = nullptr;
    const int64_t value = equals == std::string::npos
                              ? 0
                              : strtoll(text.c_str() + equals + 1, &end, 10);
    if (end == nullptr || *end != '\0' || value < 1 ||
        dims->find(name) == dims->end()) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "dim: found \"%s\", allowed NAME=VALUE of this op's dims",
                   text.c_str());
    }
    (*dims)[name] = value;
  }
  return Status();
}

// Everything of a problem but its spec's attributes and its reference.
struct Draft {
  Problem* problem;
  std::mt19937_64 random;

  Status AddOperand(const std::string& name, const std::string& dtype,
                    int64_t elements, bool output) {
    const Format* format = FindFormat(dtype);
    if (format == nullptr) {
      return Error(
          INGOT_INVALID_ARGUMENT,
          "dtype: found \"%s\", allowed bf16, f16, f32, e4m3fn or e5m2",
          dtype.c_str());
    }
    ProblemOperand operand = {name, format, output,
                              RandomBytes(*format, elements, &random)};
    problem->operands.push_back(std::move(operand));
    v1::Operand* in_spec = problem->spec.add_operands();
    in_spec->set_name(name);
    in_spec->set_dtype(dtype);
    return Status();
  }

  void AddIntegers(const std::string& name,
                   const std::vector<int32_t>& values) {
    ProblemOperand operand;
    operand.name = name;
    operand.bytes.resize(values.size() * sizeof(int32_t));
    memcpy(operand.bytes.data(), values.data(), operand.bytes.size());
    problem->operands.push_back(std::move(operand));
    v1::Operand* in_spec = problem->spec.add_operands();
    in_spec->set_name(name);
    in_spec->set_dtype("i32");
  }

  void AddDims() {
    for (const auto& [name, value] : problem->dims) {
      v1::Dim* dim = problem->spec.add_dims();
      dim->set_name(name);
      dim->set_value(value);
      problem->title += " " + name + "=" + std::to_string(value);
    }
  }
};

// The tolerance of a sum of k products in f32, whose magnitudes add up to
// `magnitude`, then one rounding.
double GemmTolerance(const Format& out, double reference, int64_t k,
                     double magnitude) {
  return out.unit() * std::fabs(reference) +
         4 * std::sqrt(static_cast<double>(k)) * 0x1p-24 * magnitude +
         out.smallest_subnormal() / 2;
}

// After a, b and d may come scale_a [m] and scale_b [n].
Comparison CompareGemm(const std::vector<ProblemOperand>& operands, int64_t m,
                       int64_t n, int64_t k, bool a_transposed,
                       bool b_transposed, double alpha) {
  const bool scaled = operands.size() > 3;
  const ProblemOperand& a = operands[0];
  const ProblemOperand& b = operands[1];
  const ProblemOperand& d = operands[2];
  const Format& out = *d.format;
  Comparison comparison;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (int64_t p = 0; p < k; ++p) {
        const double product = At(a, a_transposed ? p * m + i : i * k + p) *
                               At(b, b_transposed ? j * k + p : p * n + j);
        sum += product;
        magnitude += std::fabs(product);
      }
      const double factor =
          scaled ? alpha * At(operands[3], i) * At(operands[4], j) : alpha;
      const double reference = factor * sum;
      comparison.Add(
          At(d, i * n + j), reference,
          GemmTolerance(out, reference, k, std::fabs(factor) * magnitude));
    }
  }
  return comparison;
}

Status MakeGemm(const ProblemFlags& flags, Draft draft) {
  Problem& problem = *draft.problem;
  problem.dims = {{"m", 64}, {"n", 256}, {"k", 256}};
  INGOT_CLIENT_RETURN_IF_ERROR(ReadDims(flags, &problem.dims));
  const int64_t m = problem.dims["m"];
  const int64_t n = problem.dims["n"];
  const int64_t k = problem.dims["k"];
  const bool scaled = flags.dtype == "e4m3fn" || flags.dtype == "e5m2";
  const std::string own = scaled ? "bf16" : flags.dtype;
  const std::string& out = flags.out_dtype.empty() ? own : flags.out_dtype;
  problem.title = "gemm " + flags.dtype + " -> " + out + " " + flags.layout;
  draft.AddDims();
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("a", flags.dtype, m * k, false));
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("b", flags.dtype, k * n, false));
  INGOT_CLIENT_RETURN_IF_ERROR(draft.AddOperand("d", out, m * n, true));
  v1::Attr* layout = problem.spec.add_attrs();
  layout->set_name("layout");
  layout->set_string_value(flags.layout);
  if (scaled) {
    INGOT_CLIENT_RETURN_IF_ERROR(draft.AddOperand("scale_a", "f32", m, false));
    INGOT_CLIENT_RETURN_IF_ERROR(draft.AddOperand("scale_b", "f32", n, false));
    v1::Attr* scaling = problem.spec.add_attrs();
    scaling->set_name("scaling");
    scaling->set_string_value("row");
  }
  const double alpha = 0.75;
  problem.scalars = {{"alpha", alpha}};
  const bool a_transposed = flags.layout[0] == 't';
  const bool b_transposed = flags.layout[1] == 't';
  problem.compare = [=](const std::vector<ProblemOperand>& operands) {
    return CompareGemm(operands, m, n, k, a_transposed, b_transposed, alpha);
  };
  return Status();
}

// Where each of `groups` groups ends: rows dealt out at random, the second of
// three or more groups empty.
std::vector<int32_t> GroupEnds(int64_t groups, int64_t rows,
                               std::mt19937_64* random) {
  std::vector<int32_t> ends(static_cast<size_t>(groups));
  for (int32_t& end : ends) {
    end = static_cast<int32_t>((*random)() % static_cast<uint64_t>(rows + 1));
  }
  std::sort(ends.begin(), ends.end());
  ends.back() = static_cast<int32_t>(rows);
  if (groups > 2) ends[1] = ends[0];
  return ends;
}

Comparison CompareGroupedGemm(const std::vector<ProblemOperand>& operands,
                              const std::vector<int32_t>& ends, int64_t n,
                              int64_t k, bool b_transposed) {
  const ProblemOperand& a = operands[0];
  const ProblemOperand& b = operands[1];
  const ProblemOperand& d = operands[2];
  Comparison comparison;
  int64_t row = 0;
  for (size_t group = 0; group < ends.size(); ++group) {
    const int64_t first = static_cast<int64_t>(group) * n * k;
    for (; row < ends[group]; ++row) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        double magnitude = 0;
        for (int64_t p = 0; p < k; ++p) {
          const double product =
              At(a, row * k + p) *
              At(b, first + (b_transposed ? j * k + p : p * n + j));
          sum += product;
          magnitude += std::fabs(product);
        }
        comparison.Add(At(d, row * n + j), sum,
                       GemmTolerance(*d.format, sum, k, magnitude));
      }
    }
  }
  return comparison;
}

Status MakeGroupedGemm(const ProblemFlags& flags, Draft draft) {
  Problem& problem = *draft.problem;
  problem.dims = {{"total_m", 100}, {"n", 256}, {"k", 256}, {"g", 4}};
  INGOT_CLIENT_RETURN_IF_ERROR(ReadDims(flags, &problem.dims));
  const int64_t rows = problem.dims["total_m"];
  const int64_t n = problem.dims["n"];
  const int64_t k = problem.dims["k"];
  const int64_t groups = problem.dims["g"];
  if (flags.layout[0] != 'n') {
    return Error(INGOT_INVALID_ARGUMENT,
                 "layout: found \"%s\", allowed nn or nt: rows of a belong to "
                 "groups",
                 flags.layout.c_str());
  }
  const bool b_transposed = flags.layout[1] == 't';
  const char* b_layout = b_transposed ? "gnk" : "gkn";
  const std::string& out =
      flags.out_dtype.empty() ? flags.dtype : flags.out_dtype;
  problem.title = "grouped_gemm " + flags.dtype + " -> " + out + " " + b_layout;
  draft.AddDims();
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("a", flags.dtype, rows * k, false));
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("b", flags.dtype, groups * k * n, false));
  INGOT_CLIENT_RETURN_IF_ERROR(draft.AddOperand("d", out, rows * n, true));
  const std::vector<int32_t> ends = GroupEnds(groups, rows, &draft.random);
  draft.AddIntegers("offs", ends);
  v1::Attr* layout = problem.spec.add_attrs();
  layout->set_name("b_layout");
  layout->set_string_value(b_layout);
  problem.compare = [=](const std::vector<ProblemOperand>& operands) {
    return CompareGroupedGemm(operands, ends, n, k, b_transposed);
  };
  return Status();
}

Comparison CompareRmsNorm(const std::vector<ProblemOperand>& operands,
                          int64_t rows, int64_t n, double eps) {
  const ProblemOperand& x = operands[0];
  const ProblemOperand& y = operands[1];
  const ProblemOperand& weight = operands[2];
  const Format& out = *y.format;
  Comparison comparison;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += At(x, row * n + i) * At(x, row * n + i);
    }
    const double rstd = 1 / std::sqrt(sum / static_cast<double>(n) + eps);
    for (int64_t i = 0; i < n; ++i) {
      const double reference = At(x, row * n + i) * rstd * At(weight, i);
      const double tolerance = (out.unit() + 0x1p-20) * std::fabs(reference) +
                               out.smallest_subnormal() / 2;
      comparison.Add(At(y, row * n + i), reference, tolerance);
    }
  }
  return comparison;
}

Status MakeRmsNorm(const ProblemFlags& flags, Draft draft) {
  Problem& problem = *draft.problem;
  problem.dims = {{"rows", 17}, {"n", 4096}};
  INGOT_CLIENT_RETURN_IF_ERROR(ReadDims(flags, &problem.dims));
  const int64_t rows = problem.dims["rows"];
  const int64_t n = problem.dims["n"];
  problem.title = "rmsnorm " + flags.dtype;
  draft.AddDims();
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("x", flags.dtype, rows * n, false));
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("y", flags.dtype, rows * n, true));
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("weight", flags.dtype, n, false));
  const double eps = 1e-5;
  problem.scalars = {{"eps", eps}};
  problem.compare = [=](const std::vector<ProblemOperand>& operands) {
    // The kernel is given eps in f32.
    return CompareRmsNorm(operands, rows, n, static_cast<float>(eps));
  };
  return Status();
}

Comparison CompareSiluMul(const std::vector<ProblemOperand>& operands,
                          int64_t rows, int64_t n) {
  const ProblemOperand& x = operands[0];
  const ProblemOperand& y = operands[1];
  Comparison comparison;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < n; ++i) {
      const double gate = At(x, row * 2 * n + i);
      const double up = At(x, row * 2 * n + n + i);
      const double reference = gate / (1 + std::exp(-gate)) * up;
      const double tolerance = y.format->unit() * std::fabs(reference) +
                               0x1p-20 * std::fabs(gate * up) +
                               y.format->smallest_subnormal() / 2;
      comparison.Add(At(y, row * n + i), reference, tolerance);
    }
  }
  return comparison;
}

Status MakeSiluMul(const ProblemFlags& flags, Draft draft) {
  Problem& problem = *draft.problem;
  problem.dims = {{"rows", 17}, {"n", 4096}};
  INGOT_CLIENT_RETURN_IF_ERROR(ReadDims(flags, &problem.dims));
  const int64_t rows = problem.dims["rows"];
  const int64_t n = problem.dims["n"];
  problem.title = "silu_mul " + flags.dtype;
  draft.AddDims();
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("x", flags.dtype, rows * 2 * n, false));
  INGOT_CLIENT_RETURN_IF_ERROR(
      draft.AddOperand("y", flags.dtype, rows * n, true));
  problem.compare = [=](const std::vector<ProblemOperand>& operands) {
    return CompareSiluMul(operands, rows, n);
  };
  return Status();
}

}  // namespace

void Comparison::Add(double found, double reference, double tolerance) {
  ++elements;
  const double error = std::fabs(found - reference);
  if (!(error <= tolerance)) ++beyond;
  if (std::isnan(error)) return;
  largest_error = std::max(largest_error, error);
  share = std::max(share, error / tolerance);
}

const std::vector<std::string>& ProblemOps() {
  static const auto* ops = new std::vector<std::string>{"gemm", "grouped_gemm",
                                                        "rmsnorm", "silu_mul"};
  return *ops;
}

Status MakeProblem(const std::string& op, const ProblemFlags& flags,
                   Problem* problem) {
  *problem = Problem();
  problem->spec.set_op(op);
  problem->spec.set_target("gfx950");
  const Draft draft = {problem, std::mt19937_64(flags.seed)};
  if (flags.layout.size() != 2) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "layout: found \"%s\", allowed nn, nt, tn or tt",
                 flags.layout.c_str());
  }
  if (op == "gemm") return MakeGemm(flags, draft);
  if (op == "grouped_gemm") return MakeGroupedGemm(flags, draft);
  if (op == "rmsnorm") return MakeRmsNorm(flags, draft);
  if (op == "silu_mul") return MakeSiluMul(flags, draft);
  return Error(INGOT_INVALID_ARGUMENT,
               "op: found \"%s\", allowed gemm, grouped_gemm, rmsnorm or "
               "silu_mul: only those have a reference here",
               op.c_str());
}

}  // namespace ingot::ctl
