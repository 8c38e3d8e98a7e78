#include "tests/support/gemm_problem.h"

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"

namespace ingot::testing {
namespace {

constexpr unsigned char kNanByte = 0xff;  // in every format here
constexpr int64_t kGuard = 256;

// op(A) as [m][k] and op(B) as [k][n], and what is wanted of them.
struct Reference {
  std::vector<double> sum;        // of a * b
  std::vector<double> magnitude;  // of |a| * |b|
};

std::vector<double> Transposed(const std::vector<double>& x, int64_t rows,
                               int64_t columns) {
  std::vector<double> out(x.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      out[j * rows + i] = x[i * columns + j];
    }
  }
  return out;
}

Reference Multiply(const std::vector<double>& a, const std::vector<double>& b,
                   int64_t m, int64_t n, int64_t k) {
  Reference out;
  out.sum.assign(m * n, 0);
  out.magnitude.assign(m * n, 0);
  for (int64_t i = 0; i < m; ++i) {
    double* sum = &out.sum[i * n];
    double* magnitude = &out.magnitude[i * n];
    for (int64_t p = 0; p < k; ++p) {
      const double x = a[i * k + p];
      const double absolute = std::fabs(x);
      const double* row = &b[p * n];
      for (int64_t j = 0; j < n; ++j) {
        sum[j] += x * row[j];
        magnitude[j] += absolute * std::fabs(row[j]);
      }
    }
  }
  return out;
}

// The inputs of a problem on the device, and their values.
struct Operands {
  Operands(TestDevice& device, const GemmProblem& p, std::mt19937& random)
      : a_transposed(p.layout[0] == 't'),
        b_transposed(p.layout[1] == 't'),
        a(device, p.dtype, a_transposed ? p.k : p.m, a_transposed ? p.m : p.k,
          p.pad, 0),
        b(device, p.dtype, b_transposed ? p.n : p.k, b_transposed ? p.k : p.n,
          p.pad, 0),
        d(device, p.dtype_d, p.m, p.n, p.pad, kGuard),
        c(device, p.dtype_d, p.has_c ? p.m : 1, p.has_c ? p.n : 1,
          p.has_c ? p.pad : 0, 0),
        bias(device, p.bias.empty() ? "f32" : p.bias, 1, p.n, 0, 0),
        a_values(a.Fill(random)),
        b_values(b.Fill(random)),
        c_values(c.Fill(random)),
        bias_values(bias.Fill(random)) {
    if (a_transposed) a_values = Transposed(a_values, p.k, p.m);
    if (b_transposed) b_values = Transposed(b_values, p.n, p.k);
  }

  LaunchInputs Inputs(const GemmProblem& p) const {
    LaunchInputs inputs;
    inputs.dims = {p.m, p.n, p.k};
    inputs.operands = {a.data(), b.data(), d.data()};
    inputs.scalars = {p.alpha};
    inputs.strides = {{a.stride(), 1}, {b.stride(), 1}, {d.stride(), 1}};
    if (p.has_c) {
      inputs.operands.push_back(c.data());
      inputs.strides.push_back({c.stride(), 1});
      inputs.scalars.push_back(p.beta);
    }
    if (!p.bias.empty()) inputs.operands.push_back(bias.data());
    return inputs;
  }

  bool a_transposed;
  bool b_transposed;
  DeviceMatrix a;
  DeviceMatrix b;
  DeviceMatrix d;
  DeviceMatrix c;
  DeviceMatrix bias;
  std::vector<double> a_values;
  std::vector<double> b_values;
  std::vector<double> c_values;
  std::vector<double> bias_values;
};

// operators.md, gemm, with no activation. A result that rounds beyond the
// format's largest number may be infinite.
bool Agrees(const Format& format, double found, double reference,
            double tolerance) {
  if (std::fabs(found - reference) <= tolerance) return true;
  return std::isinf(found) && std::signbit(found) == std::signbit(reference) &&
         std::fabs(reference) + tolerance >= format.Largest();
}

void Compare(const GemmProblem& p, const Operands& x) {
  const Reference reference = Multiply(x.a_values, x.b_values, p.m, p.n, p.k);
  const Format& format = x.d.format();
  const double growth =
      4 * std::sqrt(static_cast<double>(p.k)) * std::ldexp(1.0, -24);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      const int64_t at = i * p.n + j;
      const double from_c = p.has_c ? p.beta * x.c_values[at] : 0;
      const double from_bias = p.bias.empty() ? 0 : x.bias_values[j];
      const double wanted = p.alpha * reference.sum[at] + from_c + from_bias;
      const double tolerance =
          format.Unit() * std::fabs(wanted) +
          growth * (std::fabs(p.alpha) * reference.magnitude[at] +
                    std::fabs(from_c) + std::fabs(from_bias)) +
          format.SmallestSubnormal() / 2;
      const double found = x.d.At(i, j);
      ASSERT_TRUE(Agrees(format, found, wanted, tolerance))
          << "d[" << i << "," << j << "]: found " << found << ", reference "
          << wanted << " +- " << tolerance;
    }
  }
}

}  // namespace

Spec GemmProblem::ToSpec() const {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", dtype}, {"b", dtype}, {"d", dtype_d}};
  if (has_c) spec.operands.push_back({"c", dtype_d});
  const int64_t rows[] = {layout[0] == 't' ? m : k, layout[1] == 't' ? k : n, n,
                          n};
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    spec.operands[i].stride_mode = strides;
    if (strides == StrideMode::kStatic) {
      spec.operands[i].strides = {rows[i] + pad, 1};
    }
  }
  if (!bias.empty()) spec.operands.push_back({"bias", bias});
  spec.attrs = {{"layout", layout}};
  spec.tuning = tuning;
  return spec;
}

std::string GemmProblem::ToString() const {
  std::string text = absl::StrCat(
      layout, " ", dtype, "->", dtype_d, " ", m, "x", n, "x", k, " bias=", bias,
      " c=", has_c, " pad=", pad, " strides=", static_cast<int>(strides),
      " alpha=", alpha, " beta=", beta);
  for (const Tuning& pin : tuning) {
    absl::StrAppend(&text, " ", pin.name, "=", pin.value);
  }
  return text;
}

DeviceMatrix::DeviceMatrix(TestDevice& device, const std::string& dtype,
                           int64_t rows, int64_t columns, int64_t pad,
                           int64_t guard)
    : device_(device),
      format_(FormatOf(dtype)),
      rows_(rows),
      columns_(columns),
      stride_(columns + pad),
      bytes_(((rows - 1) * stride_ + columns) * format_.bytes + 2 * guard),
      guard_(guard),
      base_(device.Allocate<unsigned char>(bytes_)),
      start_(base_ + guard) {
  std::memset(base_, kNanByte, bytes_);
}

unsigned char* DeviceMatrix::Address(int64_t row, int64_t column) const {
  return start_ + (row * stride_ + column) * format_.bytes;
}

double DeviceMatrix::At(int64_t row, int64_t column) const {
  return Decode(format_, Address(row, column));
}

std::vector<double> DeviceMatrix::Fill(std::mt19937& random) {
  std::vector<double> values;
  values.reserve(rows_ * columns_);
  std::normal_distribution<double> normal;
  for (int64_t row = 0; row < rows_; ++row) {
    for (int64_t column = 0; column < columns_; ++column) {
      Encode(format_, normal(random), Address(row, column));
      values.push_back(At(row, column));
    }
  }
  return values;
}

bool DeviceMatrix::SurroundingsIntact() const {
  const auto intact = [](const unsigned char* from, const unsigned char* to) {
    for (; from < to; ++from) {
      if (*from != kNanByte) return false;
    }
    return true;
  };
  for (int64_t row = 0; row + 1 < rows_; ++row) {
    if (!intact(Address(row, columns_), Address(row + 1, 0))) return false;
  }
  return intact(base_, start_) &&
         intact(Address(rows_ - 1, columns_), base_ + bytes_);
}

void CheckGemm(TestDevice& device, const GemmProblem& problem, uint32_t seed,
               std::string* variant) {
  SCOPED_TRACE(problem.ToString());
  const absl::StatusOr<Plan> plan = MakePlan(problem.ToSpec());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::mt19937 random(seed);
  const Operands operands(device, problem, random);
  const absl::StatusOr<LaunchReport> report =
      device.Launch(*plan, operands.Inputs(problem));
  ASSERT_TRUE(report.ok()) << report.status();
  if (variant != nullptr) *variant = report->variant;
  Compare(problem, operands);
  EXPECT_TRUE(operands.d.SurroundingsIntact());
}

}  // namespace ingot::testing
