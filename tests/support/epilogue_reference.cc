#include "tests/support/epilogue_reference.h"

#include <cmath>
#include <cstdlib>

namespace ingot::testing {

double ActivationValue(absl::string_view act, double x) {
  if (std::isnan(x) || act == "none") return x;
  if (act == "relu") return x > 0 ? x : 0;
  // The others are x times a share that falls to zero faster than x grows.
  if (std::isinf(x)) return x > 0 ? x : 0;
  if (act == "silu") return x / (1 + std::exp(-x));
  if (act == "gelu_erf") return x * std::erfc(-x * std::sqrt(0.5)) / 2;
  if (act == "gelu_tanh") {
    const double u =
        std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    return x * (1 + std::tanh(u)) / 2;
  }
  std::abort();
}

double ActivationLipschitz(absl::string_view act) {
  if (act == "silu") return 1.1;
  if (act == "gelu_erf" || act == "gelu_tanh") return 1.13;
  return 1;
}

Inexact ActivationOf(absl::string_view act, const Inexact& x) {
  return {ActivationValue(act, x.value), ActivationLipschitz(act) * x.error};
}

Inexact SwigluOf(const Inexact& gate, const Inexact& up) {
  Inexact share = ActivationOf("silu", gate);
  // Where 1 + exp(-gate) is beyond f32, the share is zero to it. Only infinity
  // notices: a gate as small as the share loses nothing.
  constexpr double kVanishesBelow = -88.7;
  if (gate.value < kVanishesBelow && std::isinf(up.value)) share.value = 0;
  // The share is an f32 itself, maybe a subnormal one.
  share.error += FormatOf("f32").SmallestSubnormal() / 2;
  return {share.value * up.value, std::fabs(share.value) * up.error +
                                      std::fabs(up.value) * share.error +
                                      share.error * up.error};
}

bool Agrees(const Format& format, double found, const Inexact& wanted,
            double* tolerance) {
  // An error that infinite inputs made infinite allows nothing.
  const double error = std::isfinite(wanted.error) ? wanted.error : 0;
  const double allowed = format.Unit() * std::fabs(wanted.value) + error +
                         format.SmallestSubnormal() / 2;
  if (tolerance != nullptr) *tolerance = allowed;
  if (std::isnan(wanted.value)) return std::isnan(found);
  if (std::isinf(wanted.value)) return found == wanted.value;
  if (std::fabs(found - wanted.value) <= allowed) return true;
  return std::isinf(found) &&
         std::signbit(found) == std::signbit(wanted.value) &&
         std::fabs(wanted.value) + allowed >= format.Largest();
}

}  // namespace ingot::testing
