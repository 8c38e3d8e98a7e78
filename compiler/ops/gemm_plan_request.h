// What a spec of gemm asks for, checked.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// n, k and row strides, elements.
inline constexpr int64_t kGemmMaxRow = (int64_t{1} << 21) - 1;
// From one matrix of a batch to the next, elements.
inline constexpr int64_t kGemmMaxBatchStride = int64_t{1} << 40;

// Places in Plan::dims.
inline constexpr int kGemmM = 0;
inline constexpr int kGemmN = 1;
inline constexpr int kGemmK = 2;
inline constexpr int kGemmB = 3;  // only of a batch

// A matrix as the spec gives it: [rows, inner], inner contiguous, or many of
// them under leading axes.
struct GemmMatrix {
  const Operand* operand = nullptr;  // into the spec
  int index = 0;                     // into Plan::operands
  int rows = 0;                      // dims
  int inner = 0;
  int row_axis = 0;  // of the operand; the last one is inner
  // Rows, or elements of a row, for each one of the dim.
  int rows_factor = 1;
  int inner_factor = 1;
};

struct GemmRequest {
  std::array<PlanDim, 3> dims;
  std::string layout;
  std::string dtype;    // of a
  std::string dtype_b;  // the same, unless of 8 bits
  std::string dtype_d;  // of d and c
  GemmMatrix a, b, d, c, residual;
  const Operand* bias = nullptr;
  int bias_index = 0;         // into Plan::operands
  bool bias_batched = false;  // [b,n], not [n]
  // Of 8 bits: none, tensor or row. What it names is there.
  std::string scaling = "none";
  const Operand* scale_a = nullptr;
  const Operand* scale_b = nullptr;
  int scale_index = 0;  // of scale_a in Plan::operands; scale_b follows
  std::string act = "none";
  std::string pairing = "none";
  std::optional<PlanDim> batch;

  bool a_transposed() const { return layout[0] == 't'; }
  bool b_transposed() const { return layout[1] == 't'; }
  bool fp8() const { return dtype == "e4m3fn" || dtype == "e5m2"; }
  bool scaled() const { return scaling != "none"; }
  bool has_c() const { return c.operand != nullptr; }
  bool has_residual() const { return residual.operand != nullptr; }
  // Columns of the product for each of d.
  int columns_factor() const { return pairing == "none" ? 1 : 2; }
};

// Every check of dims, dtypes, strides and attributes. `spec` must outlive the
// request.
absl::StatusOr<GemmRequest> ReadGemmRequest(const Spec& spec);

// Parts of it, for ops that are products, too: attributes act and pairing;
absl::Status ReadGemmActivation(const Spec& spec, GemmRequest* request);
// which dims the axes of each matrix are, by layout, pairing and batch;
void ShapeGemmMatrices(GemmRequest* request);
// strides and alignment of a matrix of `request`, which may limit its dims.
absl::Status CheckGemmMatrix(const GemmMatrix& x, GemmRequest* request);
absl::Status CheckGemmAlignment(const Operand& operand);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_
