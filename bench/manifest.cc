#include "bench/manifest.h"

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace ingot::bench {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const Struct& Object(const Struct& from, const char* name) {
  static const Struct& empty = *new Struct();
  const auto found = from.fields().find(name);
  return found == from.fields().end() ? empty : found->second.struct_value();
}

struct OperandOf {
  const char* operand;
  const char* dtype;  // the manifest's name of it
};

// The operands that a manifest of the op implies.
std::vector<OperandOf> OperandsOf(const std::string& op) {
  if (op == "gemm") return {{"a", "a"}, {"b", "b"}, {"d", "d"}};
  if (op == "grouped_gemm") {
    return {{"a", "a"}, {"b", "b"}, {"d", "d"}, {"offs", ""}};
  }
  if (op == "scaled_gemm") {
    return {{"a", "a"},
            {"b", "b"},
            {"scale_a", "scale"},
            {"scale_b", "scale"},
            {"d", "d"}};
  }
  if (op == "rmsnorm") return {{"x", "x"}, {"weight", "weight"}, {"y", "y"}};
  if (op == "silu_mul") return {{"x", "x"}, {"y", "y"}};
  return {};
}

Attr AttrOf(const std::string& name, const Value& value) {
  if (value.kind_case() == Value::kStringValue) {
    return {name, value.string_value()};
  }
  if (value.kind_case() == Value::kBoolValue) return {name, value.bool_value()};
  return {name, static_cast<int64_t>(value.number_value())};
}

absl::StatusOr<ManifestRow> RowOf(const Struct& line) {
  ManifestRow row;
  Spec& spec = row.spec;
  spec.op = TextOf(line, "op");
  spec.target = "gfx950";
  for (const auto& [name, value] : Object(line, "dims").fields()) {
    const int64_t number = static_cast<int64_t>(value.number_value());
    row.dims[name] = number;
    spec.dims.push_back({name, number});
  }
  const Struct& dtypes = Object(line, "dtypes");
  for (const OperandOf& known : OperandsOf(spec.op)) {
    const std::string dtype =
        *known.dtype ? TextOf(dtypes, known.dtype) : "i32";
    spec.operands.push_back({known.operand, dtype});
  }
  if (spec.operands.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("op: found \"", spec.op,
                     "\", allowed gemm, grouped_gemm, scaled_gemm, rmsnorm, "
                     "silu_mul"));
  }
  for (const auto& [name, value] : Object(line, "attrs").fields()) {
    // Every scaled_gemm has blocks of 32.
    if (name != "scale_block") spec.attrs.push_back(AttrOf(name, value));
  }
  for (const auto& [name, value] : Object(line, "tuning").fields()) {
    spec.tuning.push_back({name, static_cast<int64_t>(value.number_value())});
  }
  row.id = absl::StrCat(spec.op, " ", spec.operands[0].dtype, " ",
                        spec.operands[1].dtype, " ");
  std::string between;
  for (const char* dim : {"g", "rows", "m", "total_m", "n", "k"}) {
    if (row.dims.count(dim) == 0) continue;
    absl::StrAppend(&row.id, between, row.dims[dim]);
    between = "x";
  }
  return row;
}

}  // namespace

std::string TextOf(const Struct& from, const char* name) {
  const auto found = from.fields().find(name);
  return found == from.fields().end() ? "" : found->second.string_value();
}

double NumberOf(const Struct& from, const char* name) {
  const auto found = from.fields().find(name);
  return found == from.fields().end() ? 0 : found->second.number_value();
}

absl::Status ForEachJsonLine(
    const std::string& path,
    const std::function<absl::Status(const Struct&)>& take) {
  std::ifstream file(path);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  }
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    Struct object;
    const auto parsed =
        google::protobuf::util::JsonStringToMessage(line, &object);
    absl::Status status =
        parsed.ok() ? take(object)
                    : absl::InvalidArgumentError("found no JSON object");
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ManifestRow>> ReadManifest(const std::string& path) {
  std::vector<ManifestRow> rows;
  INGOT_RETURN_IF_ERROR(ForEachJsonLine(path, [&](const Struct& line) {
    INGOT_ASSIGN_OR_RETURN(ManifestRow row, RowOf(line));
    rows.push_back(std::move(row));
    return absl::OkStatus();
  }));
  return rows;
}

}  // namespace ingot::bench
