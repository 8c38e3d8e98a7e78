#include "compiler/tile/activation.h"

#include "absl/strings/str_cat.h"

namespace ingot::tile {
namespace {

constexpr double kLog2E = 1.4426950408889634;

// Exp2 is an instruction on scalars.
Value Map(Value x, Value (*function)(Value)) {
  Values lanes;
  for (int i = 0; i < x.type().lanes; ++i) {
    lanes.push_back(function(Extract(x, i)));
  }
  return Pack(lanes);
}

// x / (1 + 2^exponent). Where the power overflows the quotient is zero, also
// for an infinite x: no finite x of that size makes a difference.
Value Gate(Value x, Value exponent) {
  constexpr double kSmallest = -1024;
  const Value share = Map(Map(exponent, Exp2) + 1.0, Rcp);
  return Maximum(x, x.Like(kSmallest)) * share;
}

Value Silu(Value x) { return Gate(x, x * -kLog2E); }

// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)) with u = sqrt(2 / pi) *
// (x + 0.044715 x^3).
Value GeluTanh(Value x) {
  constexpr double kLinear = -2 * 0.7978845608028654 * kLog2E;
  const Value square = x * x;
  return Gate(x, x * Fma(square, x.Like(kLinear * 0.044715), x.Like(kLinear)));
}

// x * Phi(x) = max(x, 0) - a * Phi(-a) with a = |x|, and
//   Phi(-a) = exp(-a^2 / 2) * P(w),  w = 1 / (1 + 0.276 a).
// P is the polynomial without constant term that minimises the largest error
// over a in 0..6: 4e-9.
Value GeluErf(Value x) {
  constexpr double kSlope = 0.276;
  constexpr double kP[] = {0.11762426731139569, 0.04672259568673779,
                           0.32214885437944873, -0.3138558009100719,
                           0.4408113675042834,  -0.11345128789247634};
  // Beyond, the exponential is zero in f32.
  constexpr double kLargest = 16;
  const Value a = Min(Abs(x), x.Like(kLargest));
  const Value w = Map(Fma(a, x.Like(kSlope), x.Like(1.0)), Rcp);
  Value p = x.Like(kP[5]);
  for (int i = 4; i >= 0; --i) p = Fma(p, w, x.Like(kP[i]));
  const Value e = Map(a * a * (-0.5 * kLog2E), Exp2);
  return Fma(-(a * w * e), p, Maximum(x, x.Like(0.0)));
}

}  // namespace

absl::StatusOr<Activation> ActivationOf(absl::string_view name) {
  struct Entry {
    absl::string_view name;
    Activation activation;
  };
  static constexpr Entry kActivations[] = {
      {"none", Activation::kNone},          {"relu", Activation::kRelu},
      {"gelu_tanh", Activation::kGeluTanh}, {"gelu_erf", Activation::kGeluErf},
      {"silu", Activation::kSilu},
  };
  for (const Entry& entry : kActivations) {
    if (entry.name == name) return entry.activation;
  }
  return absl::InternalError(absl::StrCat("no activation \"", name, "\""));
}

Value Activate(Activation activation, Value x) {
  if (!x.valid()) return {};
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return Maximum(x, x.Like(0.0));
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kGeluErf:
      return GeluErf(x);
    case Activation::kSilu:
      return Silu(x);
  }
  return {};
}

}  // namespace ingot::tile
