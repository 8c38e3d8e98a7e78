#include "bench/kernels/rows.h"

#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace ingot::bench {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

std::string Text(const Struct& from, const char* name) {
  const auto found = from.fields().find(name);
  return found == from.fields().end() ? "" : found->second.string_value();
}

double Number(const Struct& from, const char* name) {
  const auto found = from.fields().find(name);
  return found == from.fields().end() ? 0 : found->second.number_value();
}

const Struct& Object(const Struct& from, const char* name) {
  static const Struct& empty = *new Struct();
  const auto found = from.fields().find(name);
  return found == from.fields().end() ? empty : found->second.struct_value();
}

absl::Status ForEachLine(
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
  return {};
}

Attr AttrOf(const std::string& name, const Value& value) {
  if (value.kind_case() == Value::kStringValue) {
    return {name, value.string_value()};
  }
  if (value.kind_case() == Value::kBoolValue) return {name, value.bool_value()};
  return {name, static_cast<int64_t>(value.number_value())};
}

absl::StatusOr<Row> RowOf(const Struct& line) {
  Row row;
  Spec& spec = row.request.spec;
  spec.op = Text(line, "op");
  spec.target = "gfx950";
  const Struct& dims = Object(line, "dims");
  const Struct& dtypes = Object(line, "dtypes");
  for (const auto& [name, value] : dims.fields()) {
    const int64_t number = static_cast<int64_t>(value.number_value());
    row.request.dims[name] = number;
    spec.dims.push_back({name, number});
  }
  for (const OperandOf& known : OperandsOf(spec.op)) {
    const std::string dtype = *known.dtype ? Text(dtypes, known.dtype) : "i32";
    spec.operands.push_back({known.operand, dtype});
  }
  if (spec.operands.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("op: found \"", spec.op,
                     "\", allowed gemm, grouped_gemm, scaled_gemm, rmsnorm"));
  }
  for (const auto& [name, value] : Object(line, "attrs").fields()) {
    // Every scaled_gemm has blocks of 32.
    if (name != "scale_block") spec.attrs.push_back(AttrOf(name, value));
  }
  const double m = Number(dims, "m") + Number(dims, "total_m");
  row.flops = 2 * m * Number(dims, "n") * Number(dims, "k");
  row.request.fill = false;
  row.request.most_groups = 1;
  row.id = absl::StrCat(spec.op, " ", spec.operands[0].dtype, " ",
                        spec.operands[1].dtype);
  if (spec.op == "rmsnorm") {
    absl::StrAppend(&row.id, " ", row.request.dims["rows"], "x",
                    row.request.dims["n"]);
  } else {
    absl::StrAppend(&row.id, " ",
                    row.request.dims.count("g")
                        ? absl::StrCat(row.request.dims["g"], "x")
                        : "",
                    m, "x", row.request.dims["n"], "x", row.request.dims["k"]);
  }
  return row;
}

}  // namespace

absl::StatusOr<std::vector<Row>> ReadManifest(const std::string& path) {
  std::vector<Row> rows;
  INGOT_RETURN_IF_ERROR(ForEachLine(path, [&](const Struct& line) {
    INGOT_ASSIGN_OR_RETURN(Row row, RowOf(line));
    rows.push_back(std::move(row));
    return absl::OkStatus();
  }));
  return rows;
}

absl::StatusOr<std::vector<PeerLaunch>> ReadPeers(const std::string& path) {
  std::vector<PeerLaunch> launches;
  INGOT_RETURN_IF_ERROR(ForEachLine(path, [&](const Struct& line) {
    PeerLaunch launch{Text(line, "id"), Text(line, "config"), {}};
    launch.file.path = Text(line, "path");
    launch.file.kernel = Text(line, "kernel");
    launch.file.grid = Text(line, "grid");
    launch.file.block = Text(line, "block");
    launch.file.lds = static_cast<uint32_t>(Number(line, "lds"));
    launch.file.most_groups = 1;
    const auto arguments = line.fields().find("arguments");
    if (arguments != line.fields().end()) {
      for (const Value& value : arguments->second.list_value().values()) {
        launch.file.arguments.push_back(value.string_value());
      }
    }
    launches.push_back(std::move(launch));
    return absl::OkStatus();
  }));
  return launches;
}

}  // namespace ingot::bench
