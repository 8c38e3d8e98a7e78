// Problems that people have, as tests/data/manifests lists them.
#ifndef INGOT_BENCH_MANIFEST_H_
#define INGOT_BENCH_MANIFEST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/spec.h"
#include "proto/status.h"

namespace google::protobuf {
class Struct;
}

namespace ingot::bench {

struct ManifestRow {
  std::string id;  // "gemm bf16 bf16 64x4096x4096": what a peer's row names
  Spec spec;       // target gfx950
  std::map<std::string, int64_t> dims;  // of the spec, with their values
};

// One JSON object a line: op, dims, dtypes, attrs, and tuning where a tile is
// pinned. INVALID_ARGUMENT naming the line.
absl::StatusOr<std::vector<ManifestRow>> ReadManifest(const std::string& path);

// Calls `take` with each line's JSON object, until it fails. INVALID_ARGUMENT
// naming the line.
absl::Status ForEachJsonLine(
    const std::string& path,
    const std::function<absl::Status(const google::protobuf::Struct&)>& take);

// The text or number of a field; "" or 0 when there is none.
std::string TextOf(const google::protobuf::Struct& from, const char* name);
double NumberOf(const google::protobuf::Struct& from, const char* name);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_MANIFEST_H_
