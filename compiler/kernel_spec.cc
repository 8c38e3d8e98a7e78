// encoding := "ingot.kernel" u32(schema) field*, the grammar of
// proto/canonical.md. Every field is always written, in the order of the
// struct.
#include "compiler/kernel_spec.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "compiler/field_codec.h"
#include "compiler/sha256.h"

namespace ingot {
namespace {

constexpr absl::string_view kMagic = "ingot.kernel";
constexpr uint32_t kSchema = 1;

std::string EncodeExpr(const Expr& expr) {
  FieldWriter out;
  for (const ExprNode& node : expr.nodes) {
    out.U8(static_cast<uint8_t>(node.op));
    out.I64(node.value);
  }
  return out.Take();
}

Expr DecodeExpr(absl::string_view bytes, FieldReader* owner) {
  FieldReader in(bytes);
  Expr expr;
  while (in.ok() && !in.Done()) {
    const uint8_t op = in.U8();
    const int64_t value = in.I64();
    if (op > ExprNode::kSelect) in.Fail();
    expr.nodes.push_back({static_cast<ExprNode::Op>(op), value});
  }
  if (!in.ok()) owner->Fail();
  return expr;
}

std::string EncodeParams(std::vector<Param> params) {
  std::sort(params.begin(), params.end(),
            [](const Param& a, const Param& b) { return a.name < b.name; });
  FieldWriter out;
  out.U32(static_cast<uint32_t>(params.size()));
  for (const Param& param : params) {
    FieldWriter element;
    element.StringField("name", param.name);
    if (const int64_t* integer = std::get_if<int64_t>(&param.value)) {
      element.I64Field("int", *integer);
    } else {
      element.StringField("string", std::get<std::string>(param.value));
    }
    out.Bytes(element.str());
  }
  return out.Take();
}

Param DecodeParam(absl::string_view bytes, FieldReader* owner) {
  FieldReader in(bytes);
  Param param;
  param.name = std::string(in.Field("name"));
  const absl::string_view kind = in.Bytes();
  const absl::string_view value = in.Bytes();
  if (kind == "int" && value.size() == 8) {
    param.value = FieldReader(value).I64();
  } else if (kind == "string") {
    param.value = std::string(value);
  } else {
    in.Fail();
  }
  if (!in.Done()) owner->Fail();
  return param;
}

std::vector<Param> DecodeParams(absl::string_view bytes, FieldReader* owner) {
  FieldReader in(bytes);
  std::vector<Param> params;
  const uint32_t count = in.U32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    params.push_back(DecodeParam(in.Bytes(), &in));
  }
  if (!in.Done()) owner->Fail();
  return params;
}

std::string EncodeArgs(const std::vector<KernelArg>& args) {
  FieldWriter out;
  out.U32(static_cast<uint32_t>(args.size()));
  for (const KernelArg& arg : args) {
    FieldWriter element;
    element.StringField("name", arg.name);
    element.U32Field("kind", static_cast<uint32_t>(arg.kind));
    element.U32Field("index", static_cast<uint32_t>(arg.index));
    element.U32Field("size", arg.size);
    element.StringField("offset", EncodeExpr(arg.offset));
    out.Bytes(element.str());
  }
  return out.Take();
}

KernelArg DecodeArg(absl::string_view bytes, FieldReader* owner) {
  FieldReader in(bytes);
  KernelArg arg;
  arg.name = std::string(in.Field("name"));
  const uint32_t kind = in.U32Field("kind");
  if (kind > KernelArg::kPeer) in.Fail();
  arg.kind = static_cast<KernelArg::Kind>(kind);
  arg.index = static_cast<int>(in.U32Field("index"));
  arg.size = in.U32Field("size");
  if (arg.size != 4 && arg.size != 8) in.Fail();
  arg.offset = DecodeExpr(in.Field("offset"), &in);
  if (!in.Done()) owner->Fail();
  return arg;
}

std::vector<KernelArg> DecodeArgs(absl::string_view bytes, FieldReader* owner) {
  FieldReader in(bytes);
  std::vector<KernelArg> args;
  const uint32_t count = in.U32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    args.push_back(DecodeArg(in.Bytes(), &in));
  }
  if (!in.Done()) owner->Fail();
  return args;
}

absl::Status Missing(absl::string_view symbol, absl::string_view name,
                     absl::string_view kind) {
  return absl::InternalError(absl::StrCat("kernel ", symbol, " has no ", kind,
                                          " parameter '", name,
                                          "': plan and body disagree"));
}

template <typename T>
const T* FindParam(const std::vector<Param>& params, absl::string_view name) {
  for (const Param& param : params) {
    if (param.name == name) return std::get_if<T>(&param.value);
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<int64_t> KernelSpec::GetInt(absl::string_view name) const {
  const int64_t* value = FindParam<int64_t>(params, name);
  if (value == nullptr) return Missing(symbol, name, "integer");
  return *value;
}

absl::StatusOr<std::string> KernelSpec::GetString(
    absl::string_view name) const {
  const std::string* value = FindParam<std::string>(params, name);
  if (value == nullptr) return Missing(symbol, name, "string");
  return *value;
}

std::string EncodeKernelSpec(const KernelSpec& spec) {
  FieldWriter out;
  out.Raw(kMagic);
  out.U32(kSchema);
  out.StringField("op", spec.op);
  out.StringField("symbol", spec.symbol);
  out.StringField("target", spec.target);
  out.StringField("fingerprint", spec.fingerprint);
  out.StringField("params", EncodeParams(spec.params));
  out.StringField("codegen", EncodeParams(spec.codegen));
  for (const uint32_t size : spec.workgroup) out.U32Field("workgroup", size);
  for (const Expr& size : spec.grid) out.StringField("grid", EncodeExpr(size));
  out.U32Field("lds_bytes", spec.lds_bytes);
  out.U32Field("dynamic_lds_bytes", spec.dynamic_lds_bytes);
  out.U8Field("cooperative", spec.cooperative ? 1 : 0);
  out.U8Field("scratch_allowed", spec.scratch_allowed ? 1 : 0);
  out.StringField("args", EncodeArgs(spec.args));
  return out.Take();
}

absl::StatusOr<KernelSpec> DecodeKernelSpec(absl::string_view encoding) {
  FieldReader in(encoding);
  KernelSpec spec;
  if (in.Raw(kMagic.size()) != kMagic || in.U32() != kSchema) {
    return absl::InvalidArgumentError(
        "kernel spec: not an encoding of schema 1");
  }
  spec.op = std::string(in.Field("op"));
  spec.symbol = std::string(in.Field("symbol"));
  spec.target = std::string(in.Field("target"));
  spec.fingerprint = std::string(in.Field("fingerprint"));
  spec.params = DecodeParams(in.Field("params"), &in);
  spec.codegen = DecodeParams(in.Field("codegen"), &in);
  for (uint32_t& size : spec.workgroup) size = in.U32Field("workgroup");
  for (Expr& size : spec.grid) size = DecodeExpr(in.Field("grid"), &in);
  spec.lds_bytes = in.U32Field("lds_bytes");
  spec.dynamic_lds_bytes = in.U32Field("dynamic_lds_bytes");
  spec.cooperative = in.U8Field("cooperative") != 0;
  spec.scratch_allowed = in.U8Field("scratch_allowed") != 0;
  spec.args = DecodeArgs(in.Field("args"), &in);
  // Written back it must be the same bytes: unsorted parameters or a flag of 2
  // would otherwise be second spellings of one kernel.
  if (!in.Done() || EncodeKernelSpec(spec) != encoding) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel spec: malformed encoding of ", encoding.size(), " bytes"));
  }
  return spec;
}

std::string KernelKey(absl::string_view encoding) { return Sha256(encoding); }

}  // namespace ingot
