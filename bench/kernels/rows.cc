#include "bench/kernels/rows.h"

#include <algorithm>
#include <map>

#include "bench/manifest.h"
#include "google/protobuf/struct.pb.h"
#include "tests/emulator/profile/rates.h"

namespace ingot::bench {
namespace {

using google::protobuf::Struct;

// Bits of an element of a, b or d; 0 for a dtype without matrix instructions.
int BitsOf(const std::string& dtype) {
  static const auto& bits = *new std::map<std::string, int>{
      {"bf16", 16}, {"f16", 16}, {"f32", 32}, {"e4m3fn", 8},
      {"e5m2", 8},  {"e3m2", 6}, {"e2m3", 6}, {"e2m1", 4}};
  const auto found = bits.find(dtype);
  return found == bits.end() ? 0 : found->second;
}

// FLOP/s of the whole device at its highest clock, operands of `bits`.
double PeakFlops(int bits) {
  profile::MatrixShape shape{profile::MatrixType::kF16, 16, 16, 32};
  if (bits <= 8) shape = {profile::MatrixType::kF8f6f4, 16, 16, 128};
  shape.blocks = 1;
  shape.eight_bit = bits == 8;
  const double clocks = profile::MatrixPasses(shape) * profile::kPassClocks;
  return profile::MatrixFlops(shape) / clocks * profile::kClockHz *
         profile::kComputeUnits * profile::kSimds;
}

double ValueOf(const ManifestRow& row, const char* dim) {
  const auto found = row.dims.find(dim);
  return found == row.dims.end() ? 0 : static_cast<double>(found->second);
}

// Of the first operand of that name.
int BitsOf(const Spec& spec, const char* operand) {
  for (const Operand& known : spec.operands) {
    if (known.name == operand) return BitsOf(known.dtype);
  }
  return 0;
}

Row RowOf(const ManifestRow& from) {
  Row row;
  row.id = from.id;
  row.request.spec = from.spec;
  row.request.dims = from.dims;
  row.request.fill = false;
  row.request.most_groups = 1;
  const double m = ValueOf(from, "m") + ValueOf(from, "total_m");
  const double n = ValueOf(from, "n"), k = ValueOf(from, "k");
  row.flops = 2 * m * n * k;
  row.skinny = m > 0 && m <= 64;
  // Where weights are what takes time, who reads them twice matters.
  row.request.one_xcd = row.skinny;
  const int a = BitsOf(from.spec, "a"), b = BitsOf(from.spec, "b");
  if (a == 0 || b == 0) return row;
  const double groups = std::max(1.0, ValueOf(from, "g"));
  const double bytes =
      (m * k * a + groups * k * n * b + m * n * BitsOf(from.spec, "d")) / 8;
  row.matrix_bound = row.flops / PeakFlops(std::max(a, b)) >
                     bytes / profile::kHbmBytesPerSecond;
  return row;
}

}  // namespace

absl::StatusOr<std::vector<Row>> ReadRows(const std::string& manifest) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<ManifestRow> all,
                         ReadManifest(manifest));
  std::vector<Row> rows;
  for (const ManifestRow& row : all) {
    rows.push_back(RowOf(row));
    if (row.dims.count("g") == 0) continue;
    // Routing is never even.
    rows.push_back(rows.back());
    rows.back().id += " skewed";
    rows.back().request.skewed = true;
  }
  return rows;
}

absl::StatusOr<std::vector<PeerLaunch>> ReadPeers(const std::string& path) {
  std::vector<PeerLaunch> launches;
  INGOT_RETURN_IF_ERROR(ForEachJsonLine(path, [&](const Struct& line) {
    PeerLaunch launch{
        TextOf(line, "peer"), TextOf(line, "id"), TextOf(line, "config"), {}};
    launch.file.path = TextOf(line, "path");
    launch.file.kernel = TextOf(line, "kernel");
    launch.file.grid = TextOf(line, "grid");
    launch.file.block = TextOf(line, "block");
    launch.file.lds = static_cast<uint32_t>(NumberOf(line, "lds"));
    launch.file.most_groups = 1;
    const auto arguments = line.fields().find("arguments");
    if (arguments != line.fields().end()) {
      for (const auto& value : arguments->second.list_value().values()) {
        launch.file.arguments.push_back(value.string_value());
      }
    }
    launches.push_back(std::move(launch));
    return absl::OkStatus();
  }));
  return launches;
}

}  // namespace ingot::bench
