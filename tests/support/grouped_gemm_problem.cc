#include "tests/support/grouped_gemm_problem.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/support/device_matrices.h"
#include "tests/support/epilogue_reference.h"
#include "tests/support/mx_rows.h"

namespace ingot::testing {
namespace {

constexpr int64_t kGuard = 256;

bool Transposed(const GroupedGemmProblem& p) { return p.b_layout == "gnk"; }

MatrixLayout Rows(int64_t rows, int64_t columns, int64_t pad) {
  return {.rows = std::max<int64_t>(1, rows),
          .columns = columns,
          .row_stride = columns + pad,
          .guard = kGuard};
}

MatrixLayout LayoutOfB(const GroupedGemmProblem& p) {
  MatrixLayout layout = Transposed(p) ? Rows(p.columns(), p.k, p.pad)
                                      : Rows(p.k, p.columns(), p.pad);
  layout.batch = p.groups();
  layout.batch_stride = (layout.rows + p.gap) * layout.row_stride;
  return layout;
}

std::string DtypeOfB(const GroupedGemmProblem& p) {
  return p.dtype_b.empty() ? p.dtype : p.dtype_b;
}

// From group to group and row to row of b, or of its scales: bytes of a row.
std::vector<int64_t> MxStridesOfB(const GroupedGemmProblem& p,
                                  int64_t row_bytes) {
  const int64_t row = row_bytes + p.pad;
  return {(p.columns() + p.gap) * row, row, 1};
}

// Of every operand, as a spec names them; nothing of those that are dense.
std::vector<std::vector<int64_t>> Strides(const GroupedGemmProblem& p) {
  if (p.strides == StrideMode::kDense) return {};
  if (p.scaled()) {
    const int64_t blocks = p.k / 32;
    return {{MxRowBytes(p.dtype, p.k) + p.pad, 1},
            MxStridesOfB(p, MxRowBytes(DtypeOfB(p), p.k)),
            {p.n + p.pad, 1},
            {},
            {blocks + p.pad, 1},
            MxStridesOfB(p, blocks)};
  }
  const MatrixLayout b = LayoutOfB(p);
  return {
      {p.k + p.pad, 1}, {b.batch_stride, b.row_stride, 1}, {p.n + p.pad, 1}};
}

// a and b, plain or block-scaled.
class Factors {
 public:
  Factors(TestDevice& device, const GroupedGemmProblem& p, std::mt19937& random)
      : p_(p) {
    if (p.scaled()) {
      mx_a_.emplace(
          device, p.dtype,
          MxLayout{.rows = std::max<int64_t>(1, p.total_m), .pad = p.pad}, p.k,
          p.specials, random);
      mx_b_.emplace(device, DtypeOfB(p),
                    MxLayout{.rows = p.columns(),
                             .groups = p.groups(),
                             .pad = p.pad,
                             .gap = p.gap},
                    p.k, p.specials, random);
      return;
    }
    a_.emplace(device, p.dtype, Rows(p.total_m, p.k, p.pad));
    b_.emplace(device, p.dtype, LayoutOfB(p));
    for (DeviceMatrices* x : {&*a_, &*b_}) {
      x->Fill(random);
      x->Sprinkle(random, p.specials);
    }
  }

  // Makes a row of a NaN.
  void Poison(int64_t row) {
    if (mx_a_) return mx_a_->Poison(row);
    for (int64_t i = 0; i < p_.k; ++i) a_->Set(0, row, i, std::nan(""));
  }

  double A(int64_t row, int64_t i) const {
    return mx_a_ ? mx_a_->At(row, i) : a_->At(0, row, i);
  }
  // [k][columns] of a group.
  std::vector<double> MatrixOf(int group) const {
    std::vector<double> values;
    values.reserve(p_.k * p_.columns());
    for (int64_t i = 0; i < p_.k; ++i) {
      for (int64_t j = 0; j < p_.columns(); ++j) {
        values.push_back(B(group, i, j));
      }
    }
    return values;
  }
  size_t Checksum() const {
    return mx_a_ ? mx_a_->Checksum() ^ mx_b_->Checksum()
                 : a_->Checksum() ^ b_->Checksum();
  }

  void* a() const { return mx_a_ ? mx_a_->data() : a_->data(); }
  void* b() const { return mx_b_ ? mx_b_->data() : b_->data(); }
  void AppendScales(std::vector<void*>* operands) const {
    if (!mx_a_) return;
    operands->push_back(mx_a_->scales());
    operands->push_back(mx_b_->scales());
  }

 private:
  double B(int group, int64_t i, int64_t j) const {
    if (mx_b_) return mx_b_->At(group * p_.columns() + j, i);
    return Transposed(p_) ? b_->At(group, j, i) : b_->At(group, i, j);
  }

  const GroupedGemmProblem& p_;
  std::optional<DeviceMatrices> a_;
  std::optional<DeviceMatrices> b_;
  std::optional<MxRows> mx_a_;
  std::optional<MxRows> mx_b_;
};

struct Operands {
  Operands(TestDevice& device, const GroupedGemmProblem& p, uint32_t seed)
      : random(seed),
        factors(device, p, random),
        d(device, p.dtype_d, Rows(p.total_m, p.n, p.pad)),
        bias(device, p.bias.empty() ? "f32" : p.bias,
             Rows(p.groups(), p.columns(), 0)),
        group_of_row(GroupOfRow(p.offs, p.total_m)),
        device_(device),
        offs(device.Allocate<int32_t>(p.groups())) {
    std::copy(p.offs.begin(), p.offs.end(), offs);
    bias.Fill(random);
    bias.Sprinkle(random, p.specials);
    for (int64_t row = 0; row < p.total_m; ++row) {
      if (group_of_row[row] < 0) factors.Poison(row);
    }
  }
  ~Operands() { device_.Free(offs); }

  LaunchInputs Inputs(const GroupedGemmProblem& p) const {
    LaunchInputs inputs;
    inputs.dims = {p.total_m, p.n, p.k, p.groups()};
    inputs.operands = {factors.a(), factors.b(), d.data(), offs};
    factors.AppendScales(&inputs.operands);
    if (!p.bias.empty()) inputs.operands.push_back(bias.data());
    inputs.cu_count = p.cu_count;
    inputs.strides = Strides(p);
    return inputs;
  }
  size_t Checksum() const { return factors.Checksum() ^ bias.Checksum(); }

  std::mt19937 random;
  Factors factors;
  DeviceMatrices d;
  DeviceMatrices bias;
  std::vector<int> group_of_row;
  TestDevice& device_;
  int32_t* offs;
};

// A row of the product, with its group's bias.
std::vector<Inexact> ProductRow(const GroupedGemmProblem& p, const Operands& x,
                                const std::vector<double>& matrix, int64_t row,
                                int group) {
  const double growth =
      4 * std::sqrt(static_cast<double>(p.k)) * std::ldexp(1.0, -24);
  std::vector<Inexact> sums(p.columns());
  for (int64_t j = 0; j < p.columns() && !p.bias.empty(); ++j) {
    sums[j].value = x.bias.At(0, group, j);
    sums[j].error = growth * std::fabs(sums[j].value);
  }
  for (int64_t i = 0; i < p.k; ++i) {
    const double from_a = x.factors.A(row, i);
    for (int64_t j = 0; j < p.columns(); ++j) {
      const double product = from_a * matrix[i * p.columns() + j];
      sums[j].value += product;
      sums[j].error += growth * std::fabs(product);
    }
  }
  return sums;
}

Inexact Wanted(const GroupedGemmProblem& p, const std::vector<Inexact>& row,
               int64_t j) {
  if (p.act != "swiglu") return ActivationOf(p.act, row[j]);
  if (p.pairing == "halves") return SwigluOf(row[j], row[p.n + j]);
  return SwigluOf(row[2 * j], row[2 * j + 1]);
}

void Compare(const GroupedGemmProblem& p, const Operands& x) {
  int group = -1;
  std::vector<double> matrix;
  for (int64_t row = 0; row < p.total_m; ++row) {
    if (x.group_of_row[row] < 0) {
      ASSERT_TRUE(x.d.Untouched(0, row)) << "row " << row << " has no group";
      continue;
    }
    if (x.group_of_row[row] != group) {
      group = x.group_of_row[row];
      matrix = x.factors.MatrixOf(group);
    }
    const std::vector<Inexact> product = ProductRow(p, x, matrix, row, group);
    for (int64_t j = 0; j < p.n; ++j) {
      const Inexact wanted = Wanted(p, product, j);
      const double found = x.d.At(0, row, j);
      double tolerance = 0;
      ASSERT_TRUE(Agrees(x.d.format(), found, wanted, &tolerance))
          << "d[" << row << "," << j << "] of group " << group << ": found "
          << found << ", reference " << wanted.value << " +- " << tolerance;
    }
  }
}

}  // namespace

Spec GroupedGemmProblem::ToSpec() const {
  Spec spec{"grouped_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"total_m"}, {"n", n}, {"k", k}, {"g"}};
  if (static_groups) spec.dims[3].value = groups();
  spec.operands = {
      {"a", dtype}, {"b", DtypeOfB(*this)}, {"d", dtype_d}, {"offs", "i32"}};
  if (scaled()) {
    spec.operands.push_back({"scale_a", "e8m0"});
    spec.operands.push_back({"scale_b", "e8m0"});
  }
  const std::vector<std::vector<int64_t>> all = Strides(*this);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].empty()) continue;
    spec.operands[i].stride_mode = strides;
    if (strides == StrideMode::kStatic) spec.operands[i].strides = all[i];
  }
  if (!bias.empty()) spec.operands.push_back({"bias", bias});
  spec.attrs = {{"act", act}, {"b_layout", b_layout}};
  if (!pairing.empty()) spec.attrs.push_back({"pairing", pairing});
  spec.tuning = tuning;
  return spec;
}

std::string GroupedGemmProblem::ToString() const {
  const int64_t shown = std::min<int64_t>(groups(), 40);
  std::string text = absl::StrCat(
      b_layout, " ", dtype, " ", dtype_b, "->", dtype_d, " total_m=", total_m,
      " n=", n, " k=", k, " g=", groups(), " act=", act, pairing,
      " bias=", bias, " pad=", pad, " gap=", gap,
      " strides=", static_cast<int>(strides), " specials=", specials);
  absl::StrAppend(&text, " cus=", cu_count, " offs=",
                  absl::StrJoin(offs.begin(), offs.begin() + shown, ","));
  for (const Tuning& pin : tuning) {
    absl::StrAppend(&text, " ", pin.name, "=", pin.value);
  }
  return text;
}

GroupedGemmProblem ScaledGroupedGemmProblem(const std::string& a,
                                            const std::string& b,
                                            const std::vector<int32_t>& sizes,
                                            int64_t n, int64_t k) {
  GroupedGemmProblem p;
  p.dtype = a;
  p.dtype_b = b;
  p.b_layout = "gnk";
  p.offs = OffsOf(sizes);
  p.total_m = p.offs.back();
  p.n = n;
  p.k = k;
  return p;
}

std::vector<int32_t> OffsOf(const std::vector<int32_t>& sizes) {
  std::vector<int32_t> offs;
  int32_t end = 0;
  for (int32_t size : sizes) offs.push_back(end += size);
  return offs;
}

std::vector<int> GroupOfRow(const std::vector<int32_t>& offs, int64_t total_m) {
  std::vector<int> group(total_m, -1);
  int64_t row = 0;
  for (size_t e = 0; e < offs.size(); ++e) {
    for (; row < total_m && row < offs[e]; ++row) {
      group[row] = static_cast<int>(e);
    }
  }
  return group;
}

void CheckGroupedGemm(TestDevice& device, const GroupedGemmProblem& problem,
                      uint32_t seed, LaunchReport* report,
                      std::string* result) {
  SCOPED_TRACE(problem.ToString());
  const absl::StatusOr<Plan> plan = MakePlan(problem.ToSpec());
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Operands x(device, problem, seed);
  const size_t inputs = x.Checksum();
  const absl::StatusOr<LaunchReport> launched =
      device.Launch(*plan, x.Inputs(problem));
  ASSERT_TRUE(launched.ok()) << launched.status();
  if (report != nullptr) *report = *launched;
  if (result != nullptr) *result = x.d.Bytes();
  Compare(problem, x);
  EXPECT_TRUE(problem.total_m > 0 || x.d.Untouched(0, 0));
  EXPECT_TRUE(x.d.SurroundingsIntact());
  EXPECT_TRUE(inputs == x.Checksum() &&
              std::equal(problem.offs.begin(), problem.offs.end(), x.offs))
      << "an input was written to";
}

}  // namespace ingot::testing
