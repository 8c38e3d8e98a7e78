// Activation functions on f32 values, any number of lanes. Good to a few units
// of 2^-24 of |x|; NaN, infinities and zeros go where the mathematical function
// sends them (silu and gelu of minus infinity are zero).
#ifndef INGOT_COMPILER_TILE_ACTIVATION_H_
#define INGOT_COMPILER_TILE_ACTIVATION_H_

#include "absl/strings/string_view.h"
#include "compiler/tile/builder.h"
#include "proto/status.h"

namespace ingot::tile {

enum class Activation { kNone, kRelu, kGeluTanh, kGeluErf, kSilu };

// "none", "relu", "gelu_tanh", "gelu_erf", "silu"; INTERNAL for anything else.
absl::StatusOr<Activation> ActivationOf(absl::string_view name);

Value Activate(Activation activation, Value x);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_ACTIVATION_H_
