// The body of a product whose k one workgroup a tile has, or several share
// (gemm_plan_split.h): what gemm and scaled_gemm have in common.
#ifndef INGOT_COMPILER_OPS_GEMM_BODY_PARTS_H_
#define INGOT_COMPILER_OPS_GEMM_BODY_PARTS_H_

#include "absl/functional/function_ref.h"
#include "compiler/tile/builder.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"
#include "proto/status.h"

namespace ingot {

// What is an op's own.
struct ProductBody {
  // The calling wave's sums of a tile, over part `part` of k (RangeOfPart).
  absl::FunctionRef<tile::Values(const tile::TilePlace&, tile::Value part)>
      multiply;
  // What becomes of all of k's sums, which waves hold by a shape.
  absl::FunctionRef<absl::Status(const tile::MatmulShape&,
                                 const tile::TilePlace&, const tile::Values&)>
      finish;
};

// Writes the kernel that the baked `part` asks for: arguments m, n, k and, of
// parts, those of gemm_plan_split.cc.
absl::Status BuildProduct(tile::Builder& builder,
                          const tile::MatmulShape& shape,
                          const ProductBody& body);

// Steps of a part, or all when there is none.
tile::KRange RangeOfPart(tile::Builder& builder, const tile::MatmulShape& shape,
                         tile::Value k, tile::Value part);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_BODY_PARTS_H_
