#include "compiler/ops/gemm_body_epilogue.h"

#include <string>

#include "compiler/ops/gemm_body_operand.h"
#include "compiler/tile/epilogue.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

// swiglu is silu with a pairing.
absl::StatusOr<tile::Activation> ReadActivation(Builder& b) {
  const std::string act = b.String("act");
  return tile::ActivationOf(act == "swiglu" ? "silu" : act);
}

tile::Pairing ReadPairing(Builder& b) {
  const std::string pairing = b.String("pairing");
  if (pairing == "halves") return tile::Pairing::kHalves;
  if (pairing == "interleaved") return tile::Pairing::kInterleaved;
  return tile::Pairing::kNone;
}

// Those of 8-bit elements.
void ReadScales(Builder& b, tile::EpilogueTerms* terms) {
  const std::string scaling = b.String("scaling");
  if (scaling == "tensor") {
    const tile::Access once{.invariant = true};
    terms->alpha = terms->alpha * (b.Load(tile::kF32, b.Arg("scale_a"), once) *
                                   b.Load(tile::kF32, b.Arg("scale_b"), once));
  } else if (scaling == "row") {
    terms->row_scale = {b.Arg("scale_a"), tile::kF32, 1};
    terms->column_scale = {b.Arg("scale_b"), tile::kF32, 1};
  }
}

// Parameters as gemm_plan_contract.cc writes them.
absl::StatusOr<tile::EpilogueTerms> ReadTerms(Builder& b) {
  const int width = static_cast<int>(b.Int("width_d"));
  tile::EpilogueTerms terms;
  INGOT_ASSIGN_OR_RETURN(const tile::Type elem,
                         tile::TypeOf(b.String("dtype_d")));
  INGOT_ASSIGN_OR_RETURN(terms.activation, ReadActivation(b));
  terms.pairing = ReadPairing(b);
  terms.alpha = b.Arg("alpha", tile::kF32);
  ReadScales(b, &terms);
  terms.d = {GemmOperand(b, "d", elem), b.Arg("ldd"), elem, width};
  if (b.Int("has_c") != 0) {
    terms.c = {GemmOperand(b, "c", elem), b.Arg("ldc"), elem, width};
    terms.beta = b.Arg("beta", tile::kF32);
  }
  if (b.Int("has_residual") != 0) {
    terms.residual = {GemmOperand(b, "residual", elem), b.Arg("ldr"), elem,
                      width};
  }
  const std::string bias = b.String("bias");
  if (bias != "none") {
    INGOT_ASSIGN_OR_RETURN(const tile::Type type, tile::TypeOf(bias));
    terms.bias = {GemmOperand(b, "bias", type), type,
                  static_cast<int>(b.Int("width_bias"))};
  }
  return terms;
}

}  // namespace

absl::Status FinishGemm(Builder& b, const tile::MatmulShape& shape,
                        const tile::TilePlace& place, const Values& sums) {
  INGOT_ASSIGN_OR_RETURN(const tile::EpilogueTerms terms, ReadTerms(b));
  INGOT_RETURN_IF_ERROR(b.status());
  tile::FinishTile(b, shape, place, terms, sums);
  return b.status();
}

}  // namespace ingot
