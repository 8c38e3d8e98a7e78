#include "tests/support/gemm_problem.h"

#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/device_matrices.h"
#include "tests/support/epilogue_reference.h"

namespace ingot::testing {
namespace {

constexpr int64_t kGuard = 256;

// An operand that the problem has, in the order of the plan's list.
struct OperandShape {
  std::string name;
  std::string dtype;
  int64_t rows;
  int64_t columns;
};

std::vector<OperandShape> Shapes(const GemmProblem& p) {
  const bool a_t = p.layout[0] == 't';
  const bool b_t = p.layout[1] == 't';
  const int64_t wide = p.columns();
  std::vector<OperandShape> shapes = {
      {"a", p.dtype, a_t ? p.k : p.m, a_t ? p.m : p.k},
      {"b", p.dtype_b.empty() ? p.dtype : p.dtype_b, b_t ? wide : p.k,
       b_t ? p.k : wide},
      {"d", p.dtype_d, p.m, p.n}};
  if (p.has_c) shapes.push_back({"c", p.dtype_d, p.m, wide});
  if (p.scaling != "none") {
    const bool row = p.scaling == "row";
    shapes.push_back({"scale_a", "f32", 1, row ? p.m : 1});
    shapes.push_back({"scale_b", "f32", 1, row ? wide : 1});
  }
  if (!p.bias.empty()) shapes.push_back({"bias", p.bias, 1, wide});
  if (p.has_residual) shapes.push_back({"residual", p.dtype_d, p.m, p.n});
  return shapes;
}

// A vector has no row stride, and a batch of them only with strides.
bool IsSharedVector(const GemmProblem& p, const OperandShape& shape) {
  if (shape.name == "scale_a" || shape.name == "scale_b") return true;
  return shape.name == "bias" &&
         (p.batch == 0 || p.Choice("bias").strides == StrideMode::kDense);
}

MatrixLayout LayoutOf(const GemmProblem& p, const OperandShape& shape) {
  const OperandChoice choice = p.Choice(shape.name);
  MatrixLayout layout;
  layout.batch = p.matrices();
  layout.rows = shape.rows;
  layout.columns = shape.columns;
  layout.row_stride = shape.columns + choice.pad;
  layout.batch_stride =
      choice.apart != 0 ? choice.apart : shape.rows * layout.row_stride;
  if (choice.batch == OperandChoice::kShared || IsSharedVector(p, shape)) {
    layout.batch_stride = 0;
  } else if (choice.batch == OperandChoice::kWoven) {
    layout.batch_stride = layout.row_stride;
    layout.row_stride *= layout.batch;
  }
  if (choice.alignment != 0) layout.skip = choice.alignment;
  if (shape.name == "d") layout.guard = kGuard;
  return layout;
}

// As the plan lists them: outermost first.
std::vector<int64_t> Strides(const GemmProblem& p, const OperandShape& shape) {
  const MatrixLayout layout = LayoutOf(p, shape);
  std::vector<int64_t> strides;
  if (p.batch != 0 && !IsSharedVector(p, shape)) {
    strides.push_back(layout.batch_stride);
  }
  const bool vector = shape.name == "bias" || IsSharedVector(p, shape);
  if (!vector) strides.push_back(layout.row_stride);
  strides.push_back(1);
  return strides;
}

// The operands of a problem on the device.
class Operands {
 public:
  Operands(TestDevice& device, const GemmProblem& p, uint32_t seed) {
    std::mt19937 random(seed);
    for (const OperandShape& shape : Shapes(p)) {
      auto matrices = std::make_unique<DeviceMatrices>(device, shape.dtype,
                                                       LayoutOf(p, shape));
      if (shape.name != "d") {
        matrices->Fill(random);
        // Scales beyond what f32 multiplies in any order are the caller's.
        const bool scale = shape.dtype == "f32" && shape.name[0] == 's';
        if (p.specials > 0 && !scale) matrices->Sprinkle(random, p.specials);
      }
      inputs_.operands.push_back(matrices->data());
      inputs_.strides.push_back(Strides(p, shape));
      all_.emplace(shape.name, std::move(matrices));
    }
    inputs_.cu_count = p.cu_count;
    inputs_.dims = {p.m, p.n, p.k};
    if (p.batch != 0) inputs_.dims.push_back(p.batch);
    inputs_.scalars = {p.alpha};
    if (p.has_c) inputs_.scalars.push_back(p.beta);
  }

  const LaunchInputs& inputs() const { return inputs_; }
  const DeviceMatrices& operator[](const std::string& name) const {
    return *all_.at(name);
  }
  std::vector<size_t> InputChecksums() const {
    std::vector<size_t> sums;
    for (const auto& [name, matrices] : all_) {
      if (name != "d") sums.push_back(matrices->Checksum());
    }
    return sums;
  }

 private:
  LaunchInputs inputs_;
  std::map<std::string, std::unique_ptr<DeviceMatrices>> all_;
};

// Sums of products of one matrix of the batch, [m][columns].
struct Product {
  std::vector<double> sum;        // of a * b
  std::vector<double> magnitude;  // of |a| * |b|
};

Product Multiply(const GemmProblem& p, const Operands& x, int64_t matrix) {
  const int64_t n = p.columns();
  Product out;
  out.sum.assign(p.m * n, 0);
  out.magnitude.assign(p.m * n, 0);
  std::vector<double> row(n);
  for (int64_t at = 0; at < p.k; ++at) {
    for (int64_t j = 0; j < n; ++j) {
      row[j] = p.layout[1] == 't' ? x["b"].At(matrix, j, at)
                                  : x["b"].At(matrix, at, j);
    }
    for (int64_t i = 0; i < p.m; ++i) {
      const double a = p.layout[0] == 't' ? x["a"].At(matrix, at, i)
                                          : x["a"].At(matrix, i, at);
      for (int64_t j = 0; j < n; ++j) {
        const double product = a * row[j];
        out.sum[i * n + j] += product;
        out.magnitude[i * n + j] += std::fabs(product);
      }
    }
  }
  return out;
}

// The argument of the activation in column j of the product.
Inexact Argument(const GemmProblem& p, const Operands& x,
                 const Product& product, int64_t matrix, int64_t i, int64_t j) {
  const int64_t at = i * p.columns() + j;
  const bool row = p.scaling == "row";
  double alpha = p.alpha;
  if (p.scaling != "none") {
    alpha *=
        x["scale_a"].At(0, 0, row ? i : 0) * x["scale_b"].At(0, 0, row ? j : 0);
  }
  const double c = p.has_c ? p.beta * x["c"].At(matrix, i, j) : 0;
  const double bias = p.bias.empty() ? 0 : x["bias"].At(matrix, 0, j);
  const double growth =
      4 * std::sqrt(static_cast<double>(p.k)) * std::ldexp(1.0, -24);
  return {alpha * product.sum[at] + c + bias,
          growth * (std::fabs(alpha) * product.magnitude[at] + std::fabs(c) +
                    std::fabs(bias))};
}

Inexact Wanted(const GemmProblem& p, const Operands& x, const Product& product,
               int64_t matrix, int64_t i, int64_t j) {
  const auto argument = [&](int64_t column) {
    return Argument(p, x, product, matrix, i, column);
  };
  Inexact wanted;
  if (p.act != "swiglu") {
    wanted = ActivationOf(p.act, argument(j));
  } else if (p.pairing == "halves") {
    wanted = SwigluOf(argument(j), argument(p.n + j));
  } else {
    wanted = SwigluOf(argument(2 * j), argument(2 * j + 1));
  }
  if (p.has_residual) wanted.value += x["residual"].At(matrix, i, j);
  return wanted;
}

void Compare(const GemmProblem& p, const Operands& x) {
  const DeviceMatrices& d = x["d"];
  for (int64_t matrix = 0; matrix < p.matrices(); ++matrix) {
    const Product product = Multiply(p, x, matrix);
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        const Inexact wanted = Wanted(p, x, product, matrix, i, j);
        const double found = d.At(matrix, i, j);
        double tolerance = 0;
        ASSERT_TRUE(Agrees(d.format(), found, wanted, &tolerance))
            << "d[" << matrix << "," << i << "," << j << "]: found " << found
            << ", reference " << wanted.value << " +- " << tolerance;
      }
    }
  }
}

}  // namespace

OperandChoice GemmProblem::Choice(const std::string& operand) const {
  const auto found = choices.find(operand);
  OperandChoice choice;
  if (found != choices.end()) {
    choice = found->second;
  } else if (operand != "bias" && operand != "scale_a" &&
             operand != "scale_b") {
    choice.strides = strides;
    choice.pad = pad;
  }
  if (choice.strides == StrideMode::kDense) {
    choice.pad = 0;
    choice.batch = OperandChoice::kApart;
  }
  return choice;
}

Spec GemmProblem::ToSpec() const {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  if (open) spec.dims = {{"m"}, {"n"}, {"k"}};
  if (batch != 0) spec.dims.push_back({"b"});
  for (const OperandShape& shape : Shapes(*this)) {
    const OperandChoice choice = Choice(shape.name);
    Operand operand{shape.name, shape.dtype};
    operand.stride_mode = choice.strides;
    operand.alignment = choice.alignment;
    if (choice.strides == StrideMode::kStatic) {
      operand.strides = Strides(*this, shape);
    }
    spec.operands.push_back(operand);
  }
  spec.attrs = {{"act", act}, {"layout", layout}};
  if (!pairing.empty()) spec.attrs.push_back({"pairing", pairing});
  if (scaling != "none") spec.attrs.push_back({"scaling", scaling});
  spec.tuning = tuning;
  return spec;
}

std::string GemmProblem::ToString() const {
  std::string text = absl::StrCat(
      layout, " ", dtype, " ", dtype_b, " ", scaling, "->", dtype_d, " ", batch,
      "x", m, "x", n, "x", k, " act=", act, pairing, " bias=", bias,
      " c=", has_c, " residual=", has_residual, " alpha=", alpha,
      " beta=", beta, " specials=", specials, open ? " open" : "");
  for (const OperandShape& shape : Shapes(*this)) {
    const OperandChoice choice = Choice(shape.name);
    absl::StrAppend(&text, " ", shape.name, ":",
                    static_cast<int>(choice.strides), "+", choice.pad, "/",
                    static_cast<int>(choice.batch), "@", choice.alignment);
  }
  for (const Tuning& pin : tuning) {
    absl::StrAppend(&text, " ", pin.name, "=", pin.value);
  }
  return text;
}

void CheckGemm(TestDevice& device, const GemmProblem& problem, uint32_t seed,
               std::string* variant, std::string* result) {
  SCOPED_TRACE(problem.ToString());
  const absl::StatusOr<Plan> plan = MakePlan(problem.ToSpec());
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Operands operands(device, problem, seed);
  const std::vector<size_t> before = operands.InputChecksums();
  const absl::StatusOr<LaunchReport> report =
      device.Launch(*plan, operands.inputs());
  ASSERT_TRUE(report.ok()) << report.status();
  if (variant != nullptr) *variant = report->variant;
  if (result != nullptr) *result = operands["d"].Bytes();
  Compare(problem, operands);
  EXPECT_TRUE(operands["d"].SurroundingsIntact());
  EXPECT_EQ(before, operands.InputChecksums()) << "an input was written";
}

}  // namespace ingot::testing
