// What a matrix product's epilogue should give, in f64, and how far a result
// may be from it (operators.md, gemm). Shares nothing with the kernels.
#ifndef TESTS_SUPPORT_EPILOGUE_REFERENCE_H_
#define TESTS_SUPPORT_EPILOGUE_REFERENCE_H_

#include "absl/strings/string_view.h"
#include "tests/support/number.h"

namespace ingot::testing {

// A number and how far off it may be computed.
struct Inexact {
  double value = 0;
  double error = 0;
};

// none, relu, gelu_tanh, gelu_erf or silu of x, as mathematics has it: limits
// at the infinities, NaN for NaN.
double ActivationValue(absl::string_view act, double x);
// The least upper bound of the slope.
double ActivationLipschitz(absl::string_view act);

Inexact ActivationOf(absl::string_view act, const Inexact& x);
// silu(gate) * up
Inexact SwigluOf(const Inexact& gate, const Inexact& up);

// Whether `found`, read from `format`, is `wanted` rounded to it, its error
// added. NaN must be NaN, infinity infinity; what rounds beyond the largest
// number may be infinite. `tolerance`, when not null, is what was allowed.
bool Agrees(const Format& format, double found, const Inexact& wanted,
            double* tolerance = nullptr);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_EPILOGUE_REFERENCE_H_
