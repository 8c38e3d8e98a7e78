// What gemm does with a tile's sums, whatever loop they come from.
#ifndef INGOT_COMPILER_OPS_GEMM_BODY_EPILOGUE_H_
#define INGOT_COMPILER_OPS_GEMM_BODY_EPILOGUE_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"
#include "proto/status.h"

namespace ingot {

// Writes d at the places of the accumulators `sums` (matmul.h), by the baked
// parameters and arguments of gemm_plan_contract.h. One block at a time, so
// that few accumulators are out of their registers at once.
absl::Status FinishGemm(tile::Builder& builder, const tile::MatmulShape& shape,
                        const tile::TilePlace& place, const tile::Values& sums);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_BODY_EPILOGUE_H_
