#include "compiler/ops/gemm_body_epilogue.h"

#include <optional>
#include <string>

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

struct Params {
  tile::Type elem_d;
  std::string bias;  // dtype, or "none"
  bool has_c = false;
  int width_d = 0;
};

absl::StatusOr<Params> ReadParams(Builder& b) {
  Params p;
  p.bias = b.String("bias");
  p.has_c = b.Int("has_c") != 0;
  p.width_d = static_cast<int>(b.Int("width_d"));
  INGOT_RETURN_IF_ERROR(b.status());
  INGOT_ASSIGN_OR_RETURN(p.elem_d, tile::TypeOf(b.String("dtype_d")));
  return p;
}

}  // namespace

absl::Status FinishGemm(Builder& b, const tile::MatmulShape& shape,
                        const tile::TilePlace& place, const Values& sums) {
  INGOT_ASSIGN_OR_RETURN(const Params p, ReadParams(b));
  tile::TileView d(b, shape, place, b.Arg("d"), b.Arg("ldd"), p.elem_d,
                   p.width_d);
  std::optional<tile::TileView> c;
  std::optional<tile::ColumnVector> bias;
  Value beta;
  if (p.has_c) {
    c.emplace(b, shape, place, b.Arg("c"), b.Arg("ldc"), p.elem_d, p.width_d);
    beta = Splat(b.Arg("beta", tile::kF32), 4);
  }
  if (p.bias != "none") {
    bias.emplace(b, shape, place, b.Arg("bias"),
                 p.bias == "f32" ? tile::kF32 : p.elem_d);
  }
  const Value alpha = Splat(b.Arg("alpha", tile::kF32), 4);
  const int columns = shape.fragments_n();
  for (int i = 0; i < shape.fragments_m(); ++i) {
    Values old;
    for (int j = 0; p.has_c && j < columns; ++j) old.push_back(c->Load(i, j));
    for (int j = 0; j < columns; ++j) {
      Value sum = sums[i * columns + j];
      if (shape.accumulate_in_agprs) {
        sum = b.Opaque(sum, tile::RegisterClass::kAgpr, /*pinned=*/true);
      }
      Value value = sum * alpha;
      if (p.has_c) value = Fma(old[j], beta, value);
      if (bias) value = value + bias->At(j);
      d.Store(i, j, value);
    }
  }
  return b.status();
}

}  // namespace ingot
