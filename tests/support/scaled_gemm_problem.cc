#include "tests/support/scaled_gemm_problem.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/device_matrix.h"
#include "tests/support/device_pages.h"
#include "tests/support/mx_format.h"
#include "tests/support/number.h"

namespace ingot::testing {
namespace {

constexpr uint8_t kNanByte = 0xff;  // NaN as a scale and an 8-bit float

int64_t RoundUp(int64_t value, int64_t factor) {
  return (value + factor - 1) / factor * factor;
}

// A matrix of bytes in host order, and where byte (row, column) of it lies on
// the device.
struct ByteMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<uint8_t> bytes;

  ByteMatrix(int64_t r, int64_t c) : rows(r), columns(c), bytes(r * c) {}
  uint8_t* Row(int64_t row) { return &bytes[row * columns]; }
  const uint8_t* Row(int64_t row) const { return &bytes[row * columns]; }
};

using Place = std::function<int64_t(int64_t row, int64_t column)>;

// operators.md: pad rows to 256 and columns to 8;
// view(rows / 32, 2, 16, columns / 8, 2, 4).permute(0, 3, 5, 2, 4, 1).
int64_t ShuffledScale(int64_t columns, int64_t row, int64_t column) {
  const int64_t padded = RoundUp(columns, 8);
  const int64_t i[6] = {row / 32,   row / 16 % 2,   row % 16,
                        column / 8, column / 4 % 2, column % 4};
  const int64_t extent[6] = {0, 2, 16, padded / 8, 2, 4};
  int64_t place = 0;
  for (const int axis : {0, 3, 5, 2, 4, 1}) {
    place = place * extent[axis] + i[axis];
  }
  return place;
}

// view(rows / 16, 16, columns / 16, 16).permute(0, 2, 1, 3) of bytes.
int64_t ShuffledWeight(int64_t columns, int64_t row, int64_t column) {
  return ((row / 16 * (columns / 16) + column / 16) * 16 + row % 16) * 16 +
         column % 16;
}

// A matrix at its place on the device; what the layout pads is NaN, unless it
// is too large to fill.
struct DeviceBytes {
  DeviceBytes(TestDevice& device, const ByteMatrix& matrix, int64_t count,
              const Place& place)
      : memory(device, count) {
    if (!memory.sparse()) std::memset(memory.data(), kNanByte, count);
    for (int64_t row = 0; row < matrix.rows; ++row) {
      for (int64_t column = 0; column < matrix.columns; ++column) {
        memory.data()[place(row, column)] = matrix.Row(row)[column];
      }
    }
  }
  DevicePages memory;
};

// One block-scaled operand: codes, scales, their values in f64, and both on the
// device.
class Operand {
 public:
  Operand(const ScaledGemmProblem& p, const std::string& dtype, int64_t rows,
          std::mt19937& random)
      : dtype_(dtype),
        k_(p.k),
        data(rows, MxRowBytes(dtype, p.k)),
        scales(rows, p.k / 32) {
    FillCodes(p.special, random);
    FillScales(p.special, random);
  }

  double Value(int64_t row, int64_t k) const {
    return MxValue(dtype_, MxCode(dtype_, data.Row(row), k)) *
           MxScale(scales.Row(row)[k / 32]);
  }
  std::vector<double> Values() const {
    std::vector<double> values;
    for (int64_t row = 0; row < data.rows; ++row) {
      for (int64_t k = 0; k < k_; ++k) values.push_back(Value(row, k));
    }
    return values;
  }

 private:
  void FillCodes(bool special, std::mt19937& random) {
    const int bits = MxFormatOf(dtype_).bits();
    for (int64_t row = 0; row < data.rows; ++row) {
      for (int64_t k = 0; k < k_; ++k) {
        uint32_t code = random() % (1u << bits);
        const double value = MxValue(dtype_, code);
        // NaN and infinity only here and there, or every sum would be one.
        const bool rare = special && random() % 512 == 0;
        if (!std::isfinite(value) && !rare)
          code = code & 1 ? 1u << (bits - 1) : 0;
        // Large ones of a wide format would drown all others.
        if (std::fabs(value) > 64 && std::isfinite(value) && !special) {
          code &= (1u << (bits - 2)) - 1;
        }
        MxPutCode(dtype_, data.Row(row), k, code);
      }
    }
  }
  void FillScales(bool special, std::mt19937& random) {
    constexpr uint8_t kExtreme[] = {0, 1, 254, 255};
    for (uint8_t& scale : scales.bytes) {
      scale = static_cast<uint8_t>(120 + random() % 14);
      if (special && random() % 64 == 0) scale = kExtreme[random() % 4];
    }
  }

  std::string dtype_;
  int64_t k_;

 public:
  ByteMatrix data;
  ByteMatrix scales;
};

struct Buffers {
  Buffers(TestDevice& device, const ScaledGemmProblem& p, const Operand& a,
          const Operand& b)
      : pad(p.strides == StrideMode::kDense ? 0 : p.pad),
        a(device, a.data, LinearBytes(a.data), Linear(a.data)),
        b(device, b.data,
          p.weights_shuffled ? RoundUp(p.n, 16) * b.data.columns
                             : LinearBytes(b.data),
          p.weights_shuffled ? Place([&b](int64_t row, int64_t column) {
            return ShuffledWeight(b.data.columns, row, column);
          })
                             : Linear(b.data)),
        scale_a(device, a.scales, ScaleBytes(p, a.scales),
                ScalePlace(p, a.scales)),
        scale_b(device, b.scales, ScaleBytes(p, b.scales),
                ScalePlace(p, b.scales)) {}

  int64_t LinearBytes(const ByteMatrix& x) const {
    return (x.rows - 1) * (x.columns + pad) + x.columns;
  }
  Place Linear(const ByteMatrix& x) const {
    const int64_t stride = x.columns + pad;
    return
        [stride](int64_t row, int64_t column) { return row * stride + column; };
  }
  int64_t ScaleBytes(const ScaledGemmProblem& p, const ByteMatrix& x) const {
    if (!p.scales_shuffled) return LinearBytes(x);
    return RoundUp(x.rows, 256) * RoundUp(x.columns, 8);
  }
  Place ScalePlace(const ScaledGemmProblem& p, const ByteMatrix& x) const {
    if (!p.scales_shuffled) return Linear(x);
    const int64_t columns = x.columns;
    return [columns](int64_t row, int64_t column) {
      return ShuffledScale(columns, row, column);
    };
  }

  int64_t pad;
  DeviceBytes a, b, scale_a, scale_b;
};

// What d must be, and how far off it may be.
struct Wanted {
  double value = 0;
  double tolerance = 0;
  // Sum of the finite products' sizes.
  double finite = 0;
};

// The reference is the sum of exact products in f64. Where f32 overflows on the
// way, infinity or NaN may come out.
bool Agrees(const Format& format, double found, const Wanted& wanted) {
  if (std::isnan(wanted.value)) return std::isnan(found);
  const bool overflows = wanted.finite >= std::ldexp(1.0, 127);
  if (overflows && !std::isfinite(found)) return true;
  if (std::isinf(wanted.value)) return found == wanted.value;
  if (std::fabs(found - wanted.value) <= wanted.tolerance) return true;
  return std::isinf(found) &&
         std::signbit(found) == std::signbit(wanted.value) &&
         std::fabs(wanted.value) + wanted.tolerance >= format.Largest();
}

void Compare(const ScaledGemmProblem& p, const Operand& a, const Operand& b,
             const std::vector<double>& bias, const DeviceMatrix& d) {
  const Format& format = d.format();
  const std::vector<double> x = a.Values();
  const std::vector<double> y = b.Values();
  const double growth =
      4 * std::sqrt(static_cast<double>(p.k)) * std::ldexp(1.0, -24);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      Wanted wanted;
      for (int64_t k = 0; k < p.k; ++k) {
        const double product = x[i * p.k + k] * y[j * p.k + k];
        wanted.value += product;
        if (std::isfinite(product)) wanted.finite += std::fabs(product);
      }
      if (!bias.empty()) {
        wanted.value += bias[j];
        wanted.finite += std::fabs(bias[j]);
      }
      wanted.tolerance = format.Unit() * std::fabs(wanted.value) +
                         growth * wanted.finite +
                         format.SmallestSubnormal() / 2;
      const double found = d.At(i, j);
      ASSERT_TRUE(Agrees(format, found, wanted))
          << "d[" << i << "," << j << "]: found " << found << ", reference "
          << wanted.value << " +- " << wanted.tolerance;
    }
  }
}

}  // namespace

Spec ScaledGemmProblem::ToSpec() const {
  Spec spec{"scaled_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {
      {"a", a}, {"b", b}, {"scale_a", "e8m0"}, {"scale_b", "e8m0"}, {"d", d}};
  const int64_t rows[] = {MxRowBytes(a, k), MxRowBytes(b, k), k / 32, k / 32,
                          n};
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    const bool shuffled =
        i == 1 ? weights_shuffled : (i == 2 || i == 3) && scales_shuffled;
    if (shuffled) continue;
    spec.operands[i].stride_mode = strides;
    if (strides == StrideMode::kStatic) {
      spec.operands[i].strides = {rows[i] + pad, 1};
    }
  }
  spec.operands[0].alignment = spec.operands[1].alignment = alignment;
  if (!bias.empty()) spec.operands.push_back({"bias", bias});
  spec.attrs = {{"scale_layout", scales_shuffled ? "shuffled_16x4" : "linear"},
                {"weight_layout", weights_shuffled ? "shuffled" : "linear"}};
  spec.tuning = tuning;
  return spec;
}

std::string ScaledGemmProblem::ToString() const {
  std::string text = absl::StrCat(
      a, " x ", b, " -> ", d, " ", m, "x", n, "x", k, " bias=", bias,
      " scales_shuffled=", scales_shuffled,
      " weights_shuffled=", weights_shuffled, " pad=", pad,
      " strides=", static_cast<int>(strides), " alignment=", alignment,
      " special=", special, " cus=", cu_count);
  for (const Tuning& pin : tuning) {
    absl::StrAppend(&text, " ", pin.name, "=", pin.value);
  }
  return text;
}

void CheckScaledGemm(TestDevice& device, const ScaledGemmProblem& p,
                     uint32_t seed, std::string* variant, std::string* result) {
  SCOPED_TRACE(p.ToString());
  const absl::StatusOr<Plan> plan = MakePlan(p.ToSpec());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::mt19937 random(seed);
  const Operand a(p, p.a, p.m, random);
  const Operand b(p, p.b, p.n, random);
  const Buffers buffers(device, p, a, b);
  constexpr int64_t kGuard = 256;
  const DeviceMatrix d(device, p.d, p.m, p.n, buffers.pad, kGuard);
  DeviceMatrix bias(device, p.bias.empty() ? "f32" : p.bias, 1, p.n, 0, 0);
  std::vector<double> added;
  if (!p.bias.empty()) added = bias.Fill(random);
  LaunchInputs inputs;
  inputs.cu_count = p.cu_count;
  inputs.dims = {p.m, p.n, p.k};
  inputs.operands = {buffers.a.memory.data(), buffers.b.memory.data(),
                     buffers.scale_a.memory.data(),
                     buffers.scale_b.memory.data(), d.data()};
  if (!p.bias.empty()) inputs.operands.push_back(bias.data());
  if (p.strides == StrideMode::kDynamic) {
    inputs.strides = {{a.data.columns + buffers.pad, 1},
                      {b.data.columns + buffers.pad, 1},
                      {a.scales.columns + buffers.pad, 1},
                      {b.scales.columns + buffers.pad, 1},
                      {d.stride(), 1}};
    if (p.weights_shuffled) inputs.strides[1].clear();
    if (p.scales_shuffled) inputs.strides[2].clear();
    if (p.scales_shuffled) inputs.strides[3].clear();
  }
  const absl::StatusOr<LaunchReport> report = device.Launch(*plan, inputs);
  ASSERT_TRUE(report.ok()) << report.status();
  if (variant != nullptr) *variant = report->variant;
  if (result != nullptr) *result = d.Bytes();
  Compare(p, a, b, added, d);
  EXPECT_TRUE(d.SurroundingsIntact());
}

}  // namespace ingot::testing
