// Whether what a kernel found is what a reference in f64 says, for kernels that
// compute in f32 and round once.
#ifndef TESTS_SUPPORT_AGREEMENT_H_
#define TESTS_SUPPORT_AGREEMENT_H_

#include <cmath>

#include "tests/support/number.h"

namespace ingot::testing {

// The same number, or one no further away than rounding to `format` and an
// error of `allowed` before it explain; the same infinity; both NaN. What
// rounds to infinity in the format may do so.
inline bool Agrees(const Format& format, double found, double reference,
                   double allowed) {
  if (std::isnan(reference)) return std::isnan(found);
  if (std::isinf(reference)) return found == reference;
  if (std::isinf(found)) {
    return std::fabs(reference) + allowed >=
               format.Largest() * (1 + format.Unit()) &&
           std::signbit(found) == std::signbit(reference);
  }
  return std::fabs(found - reference) <= format.Unit() * std::fabs(reference) +
                                             allowed +
                                             format.SmallestSubnormal() / 2;
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_AGREEMENT_H_
