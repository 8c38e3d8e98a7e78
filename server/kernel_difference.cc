#include "server/kernel_difference.h"

#include <map>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot::server {
namespace {

// By name, in an order that puts what people chose first.
using Fields = std::map<std::pair<int, std::string>, std::string>;

// Postfix, as it is stored.
std::string ExprText(const Expr& expr) {
  static constexpr const char* kNames[] = {
      "",        "dim", "stride", "cus", "+", "-",  "*",     "floordiv",
      "ceildiv", "min", "max",    "=",   "<", "<=", "select"};
  return absl::StrJoin(expr.nodes, " ",
                       [](std::string* out, const ExprNode& node) {
                         const bool valued = node.op == ExprNode::kConst ||
                                             node.op == ExprNode::kDim ||
                                             node.op == ExprNode::kStride;
                         absl::StrAppend(out, kNames[node.op]);
                         if (valued) absl::StrAppend(out, node.value);
                       });
}

std::string ArgText(const KernelArg& arg) {
  static constexpr const char* kKinds[] = {"operand",   "integer", "scalar",
                                           "workspace", "epoch",   "peer"};
  std::string text = absl::StrCat(arg.name, ": ", kKinds[arg.kind], " ",
                                  arg.index, ", ", arg.size, " bytes");
  if (!arg.offset.nodes.empty()) {
    absl::StrAppend(&text, ", ", ExprText(arg.offset));
  }
  return text;
}

std::string ValueText(const ParamValue& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) {
    return absl::StrCat(*number);
  }
  return std::get<std::string>(value);
}

Fields FieldsOf(const KernelSpec& spec) {
  Fields fields;
  fields[{0, "op"}] = spec.op;
  fields[{1, "target"}] = spec.target;
  fields[{2, "fingerprint"}] = absl::BytesToHexString(spec.fingerprint);
  for (const Param& param : spec.params) {
    fields[{3, absl::StrCat("param ", param.name)}] = ValueText(param.value);
  }
  for (const Param& option : spec.codegen) {
    fields[{4, absl::StrCat("codegen ", option.name)}] =
        ValueText(option.value);
  }
  fields[{5, "workgroup"}] = absl::StrJoin(spec.workgroup, " ");
  for (size_t axis = 0; axis < spec.grid.size(); ++axis) {
    fields[{6, absl::StrCat("grid ", axis)}] = ExprText(spec.grid[axis]);
  }
  fields[{7, "lds_bytes"}] = absl::StrCat(spec.lds_bytes);
  fields[{7, "dynamic_lds_bytes"}] = absl::StrCat(spec.dynamic_lds_bytes);
  fields[{7, "cooperative"}] = spec.cooperative ? "true" : "false";
  fields[{7, "scratch_allowed"}] = spec.scratch_allowed ? "true" : "false";
  for (size_t i = 0; i < spec.args.size(); ++i) {
    fields[{8, absl::StrCat("argument ", i)}] = ArgText(spec.args[i]);
  }
  return fields;
}

}  // namespace

std::vector<KernelDifference> DifferencesOf(const KernelSpec& wanted,
                                            const KernelSpec& stored) {
  const Fields ours = FieldsOf(wanted);
  Fields theirs = FieldsOf(stored);
  std::vector<KernelDifference> differences;
  for (const auto& [name, value] : ours) {
    const auto other = theirs.find(name);
    const std::string found = other == theirs.end() ? "" : other->second;
    if (found != value) differences.push_back({name.second, value, found});
    if (other != theirs.end()) theirs.erase(other);
  }
  for (const auto& [name, value] : theirs) {
    differences.push_back({name.second, "", value});
  }
  if (differences.empty() && wanted.symbol != stored.symbol) {
    differences.push_back({"symbol", wanted.symbol, stored.symbol});
  }
  return differences;
}

}  // namespace ingot::server
