// silu_mul, executed: every kernel against a reference in f64 that shares
// nothing with it. The error allowed is that of rmsnorm: rounding once, and
// 2^-20 of what is multiplied for the activation in f32.
#include <cmath>
#include <memory>
#include <random>

#include "compiler/candidates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/device_matrix.h"
#include "tests/support/epilogue_reference.h"
#include "tests/support/launch.h"

namespace ingot {
namespace {

using testing::Agrees;
using testing::DeviceMatrix;
using testing::FormatOf;
using testing::LaunchInputs;
using testing::LaunchReport;
using testing::TestDevice;

enum class Form { kHalves, kInterleaved, kApart };
// What y is written over.
enum class Over { kNothing, kGate, kUp };

struct Problem {
  std::string dtype;
  Form form = Form::kHalves;
  std::string act = "silu";
  int64_t rows = 1;
  int64_t n = 1;
  int64_t pad_in = 0;  // elements between the rows
  int64_t pad_y = 0;
  int64_t misalign = 0;  // bytes that rows start behind a multiple of 16
  Over over = Over::kNothing;
  double magnitude = 1;
};

Spec SpecFor(const Problem& p) {
  Spec spec{"silu_mul"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", p.n}};
  const int64_t bytes = FormatOf(p.dtype).bytes;
  const auto rows = [&](const char* name, int64_t pad, int64_t least) {
    Operand operand{name, p.dtype};
    if (pad != 0 || p.over != Over::kNothing) {
      operand.stride_mode = StrideMode::kDynamic;
    }
    if (p.misalign != 0) operand.alignment = static_cast<uint32_t>(least);
    spec.operands.push_back(operand);
  };
  if (p.form == Form::kApart) {
    rows("gate", p.pad_in, bytes);
    rows("up", p.pad_in, bytes);
  } else {
    rows("x", p.pad_in, p.form == Form::kInterleaved ? 2 * bytes : bytes);
  }
  rows("y", p.pad_y, bytes);
  if (p.form == Form::kInterleaved) {
    spec.attrs.push_back({"pairing", "interleaved"});
  }
  if (p.act != "silu") spec.attrs.push_back({"act", p.act});
  return spec;
}

class SiluMulTest : public ::testing::TestWithParam<const char*> {
 protected:
  using Fill = double (*)(int64_t row, int64_t i);

  // The inputs in device memory, whichever form they have.
  struct Inputs {
    Form form;
    int64_t n;
    std::unique_ptr<DeviceMatrix> first, second;  // second: up alone

    DeviceMatrix& up() const { return second ? *second : *first; }
    int64_t GateColumn(int64_t i) const {
      return form == Form::kInterleaved ? 2 * i : i;
    }
    int64_t UpColumn(int64_t i) const {
      if (form == Form::kInterleaved) return 2 * i + 1;
      return form == Form::kHalves ? n + i : i;
    }
  };

  Inputs MakeInputs(const Problem& p) {
    const bool apart = p.form == Form::kApart;
    const auto matrix = [&] {
      return std::make_unique<DeviceMatrix>(device_, p.dtype, p.rows,
                                            apart ? p.n : 2 * p.n, p.pad_in,
                                            p.misalign);
    };
    Inputs inputs{p.form, p.n, matrix(), apart ? matrix() : nullptr};
    std::normal_distribution<double> normal(0, p.magnitude);
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t i = 0; i < p.n; ++i) {
        inputs.first->Set(row, inputs.GateColumn(i), normal(random_));
        inputs.up().Set(row, inputs.UpColumn(i), normal(random_));
      }
    }
    return inputs;
  }

  void Check(const Problem& p, std::string* variant = nullptr) {
    Inputs inputs = MakeInputs(p);
    Check(p, inputs, variant);
  }

  void Check(const Problem& p, Inputs& in, std::string* variant = nullptr) {
    SCOPED_TRACE(absl::StrCat(p.dtype, " ", p.act, " form ",
                              static_cast<int>(p.form), " rows=", p.rows,
                              " n=", p.n, " pads=", p.pad_in, ",", p.pad_y,
                              " misalign=", p.misalign));
    const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<double> gates, ups;
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t i = 0; i < p.n; ++i) {
        gates.push_back(in.first->At(row, in.GateColumn(i)));
        ups.push_back(in.up().At(row, in.UpColumn(i)));
      }
    }
    DeviceMatrix own(device_, p.dtype, p.rows, p.n, p.pad_y, p.misalign);
    DeviceMatrix& y = p.over == Over::kNothing ? own
                      : p.over == Over::kGate  ? *in.first
                                               : in.up();
    const int64_t column = p.over == Over::kUp && !in.second ? p.n : 0;
    LaunchInputs launch;
    launch.dims = {p.rows, p.n};
    launch.operands = {in.first->data()};
    launch.strides = {{in.first->stride(), 1}};
    if (in.second) {
      launch.operands.push_back(in.second->data());
      launch.strides.push_back({in.second->stride(), 1});
    }
    launch.operands.push_back(static_cast<char*>(y.data()) +
                              column * y.format().bytes);
    launch.strides.push_back({y.stride(), 1});
    const absl::StatusOr<LaunchReport> report = device_.Launch(*plan, launch);
    ASSERT_TRUE(report.ok()) << report.status();
    if (variant != nullptr) *variant = report->variant;
    for (int64_t at = 0; at < p.rows * p.n; ++at) {
      const double found = y.At(at / p.n, column + at % p.n);
      const double reference =
          testing::ActivationValue(p.act, gates[at]) * ups[at];
      ASSERT_TRUE(
          Agrees(y.format(), found,
                 {reference, std::ldexp(std::fabs(gates[at] * ups[at]), -20)}))
          << "element " << at << ": " << gates[at] << " and " << ups[at]
          << " gave " << found << ", reference " << reference;
    }
    EXPECT_TRUE(own.SurroundingsIntact());
    EXPECT_TRUE(in.first->SurroundingsIntact());
    EXPECT_TRUE(in.up().SurroundingsIntact());
  }

  TestDevice device_;
  std::mt19937 random_{20261104};
};

constexpr int64_t kLengths[] = {1,   2,   3,   7,    8,    63,   64,   65,
                                255, 768, 777, 1024, 2048, 4097, 8191, 14336};
constexpr Form kForms[] = {Form::kHalves, Form::kInterleaved, Form::kApart};

TEST_P(SiluMulTest, DenseRows) {
  for (Form form : kForms) {
    for (int64_t n : kLengths) {
      for (int64_t rows : {1, 5}) {
        Check({.dtype = GetParam(), .form = form, .rows = rows, .n = n});
      }
    }
  }
}

TEST_P(SiluMulTest, Activations) {
  for (const char* act : {"silu", "gelu_tanh", "gelu_erf"}) {
    for (double magnitude : {0.1, 3.0, 40.0}) {
      Check({.dtype = GetParam(),
             .form = Form::kApart,
             .act = act,
             .rows = 3,
             .n = 1003,
             .magnitude = magnitude});
    }
  }
}

TEST_P(SiluMulTest, StridedRowsLeaveTheGapsAlone) {
  for (Form form : kForms) {
    for (int64_t n : {5, 64, 1000, 5001}) {
      std::string variant;
      Check({.dtype = GetParam(),
             .form = form,
             .rows = 3,
             .n = n,
             .pad_in = 6,
             .pad_y = 5},
            &variant);
      EXPECT_EQ(variant, "unaligned");
    }
    std::string variant;
    Check({.dtype = GetParam(),
           .form = form,
           .rows = 3,
           .n = 5000,
           .pad_in = 16,
           .pad_y = 8},
          &variant);
    EXPECT_EQ(variant, "aligned");
  }
}

TEST_P(SiluMulTest, PointersThatAreOnlyElementAligned) {
  const int64_t bytes = FormatOf(GetParam()).bytes;
  for (Form form : kForms) {
    for (int64_t n : {1, 7, 64, 1000, 4096}) {
      std::string variant;
      Check({.dtype = GetParam(),
             .form = form,
             .rows = 3,
             .n = n,
             .misalign = form == Form::kInterleaved ? 2 * bytes : bytes},
            &variant);
      EXPECT_EQ(variant, "unaligned");
    }
  }
}

TEST_P(SiluMulTest, InPlace) {
  for (Form form : {Form::kHalves, Form::kApart}) {
    for (Over over : {Over::kGate, Over::kUp}) {
      for (int64_t n : {63, 1001, 4096}) {
        Check({.dtype = GetParam(),
               .form = form,
               .rows = 3,
               .n = n,
               .over = over});
      }
    }
  }
}

TEST_P(SiluMulTest, SpecialNumbersGoWhereTheFormulaSendsThem) {
  const double kNumbers[] = {0.0,       -0.0,         1.0, -1.0, HUGE_VAL,
                             -HUGE_VAL, std::nan(""), 3e4, -3e4, 1e-7};
  for (const char* act : {"silu", "gelu_tanh", "gelu_erf"}) {
    const Problem p = {.dtype = GetParam(), .act = act, .rows = 2, .n = 100};
    Inputs inputs = MakeInputs(p);
    for (int64_t i = 0; i < p.n; ++i) {
      inputs.first->Set(1, i, kNumbers[i / 10]);
      inputs.first->Set(1, p.n + i, kNumbers[i % 10]);
    }
    Check(p, inputs);
  }
}

TEST_P(SiluMulTest, EveryTuningGivesTheSame) {
  const Problem p = {.dtype = GetParam(), .rows = 3, .n = 5003};
  const absl::StatusOr<std::vector<Candidate>> candidates =
      Candidates(SpecFor(p));
  ASSERT_TRUE(candidates.ok()) << candidates.status();
  Inputs inputs = MakeInputs(p);
  DeviceMatrix y(device_, p.dtype, p.rows, p.n, 0, 0);
  std::vector<double> first;
  for (const Candidate& candidate : *candidates) {
    ASSERT_EQ(candidate.refusal, "");
    Spec spec = SpecFor(p);
    spec.tuning = candidate.tuning;
    const absl::StatusOr<Plan> plan = MakePlan(spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (int64_t i = 0; i < p.rows * p.n; ++i) y.Set(i / p.n, i % p.n, 77);
    LaunchInputs launch;
    launch.dims = {p.rows, p.n};
    launch.operands = {inputs.first->data(), y.data()};
    ASSERT_EQ(device_.Launch(*plan, launch).status(), absl::OkStatus());
    std::vector<double> found;
    for (int64_t i = 0; i < p.rows * p.n; ++i) {
      found.push_back(y.At(i / p.n, i % p.n));
    }
    if (first.empty()) first = found;
    EXPECT_EQ(found, first);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, SiluMulTest,
                         ::testing::Values("bf16", "f16", "f32"));

}  // namespace
}  // namespace ingot
