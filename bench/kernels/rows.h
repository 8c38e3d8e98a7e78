// The problems that kernels are judged by: a manifest's lines, and launches of
// other compilers' code objects for the same problems.
#ifndef INGOT_BENCH_KERNELS_ROWS_H_
#define INGOT_BENCH_KERNELS_ROWS_H_

#include <string>
#include <vector>

#include "proto/status.h"
#include "tests/emulator/profile/run_file.h"
#include "tests/emulator/profile/run_op.h"

namespace ingot::bench {

struct Row {
  std::string id;  // "gemm bf16 bf16 64x4096x4096": what a peer's row names
  profile::OpRequest request;
  double flops = 0;
  // The matrix units' peak, not HBM's, limits the problem, whatever kernel:
  // its FLOPs take longer than its operands, each moved once.
  bool matrix_bound = false;
  bool skinny = false;  // m <= 64
};

// Those of a manifest (bench/manifest.h); of groups, with equal and with skewed
// ones. INVALID_ARGUMENT naming the line.
absl::StatusOr<std::vector<Row>> ReadRows(const std::string& manifest);

struct PeerLaunch {
  std::string peer;    // "triton": who made it
  std::string id;      // of the row
  std::string config;  // "128x128x64, 4 warps, 2 stages"
  profile::FileRequest file;
};

// One JSON object a line: peer, id, config, path, kernel, grid, block, lds, and
// arguments as ingot-profile's --arg has them. INVALID_ARGUMENT naming the
// line.
absl::StatusOr<std::vector<PeerLaunch>> ReadPeers(const std::string& path);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_KERNELS_ROWS_H_
