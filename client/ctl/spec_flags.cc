#include "client/ctl/spec_flags.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "google/protobuf/util/json_util.h"

namespace ingot::ctl {
namespace {

using client::Error;
using client::Status;

Status BadFlag(const char* flag, const std::string& found,
               const char* allowed) {
  return Error(INGOT_INVALID_ARGUMENT, "%s: found \"%s\", allowed %s", flag,
               found.c_str(), allowed);
}

bool ReadInt(const std::string& text, int64_t* value) {
  char* end = nullptr;
  errno = 0;
  *value = strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && errno == 0;
}

// "a=b" -> "a", "b"; without the separator the second is empty.
bool Cut(const std::string& text, char separator, std::string* first,
         std::string* second) {
  const size_t at = text.find(separator);
  *first = text.substr(0, at);
  *second = at == std::string::npos ? "" : text.substr(at + 1);
  return at != std::string::npos;
}

constexpr char kDimForm[] =
    "NAME, NAME=VALUE, NAME=MIN..MAX or NAME=MIN..MAX/MULTIPLE (MAX may be "
    "left out)";

Status AddDim(const std::string& text, v1::Spec* spec) {
  std::string name;
  std::string extent;
  v1::Dim* dim = spec->add_dims();
  if (!Cut(text, '=', &name, &extent)) {
    dim->set_name(name);
    dim->mutable_range();
    return Status();
  }
  dim->set_name(name);
  int64_t value = 0;
  if (ReadInt(extent, &value)) {
    dim->set_value(value);
    return Status();
  }
  std::string bounds;
  std::string multiple;
  const bool has_multiple = Cut(extent, '/', &bounds, &multiple);
  const size_t dots = bounds.find("..");
  if (dots == std::string::npos) return BadFlag("dim", text, kDimForm);
  const std::string min = bounds.substr(0, dots);
  const std::string max = bounds.substr(dots + 2);
  v1::DimRange* range = dim->mutable_range();
  if (!min.empty()) {
    if (!ReadInt(min, &value)) return BadFlag("dim", text, kDimForm);
    range->set_min(value);
  }
  if (!max.empty()) {
    if (!ReadInt(max, &value)) return BadFlag("dim", text, kDimForm);
    range->set_max(value);
  }
  if (has_multiple) {
    if (!ReadInt(multiple, &value)) return BadFlag("dim", text, kDimForm);
    range->set_multiple_of(value);
  }
  return Status();
}

constexpr char kOperandForm[] =
    "NAME:DTYPE, then perhaps :dynamic or :STRIDE,STRIDE..., then perhaps "
    "@ALIGNMENT";

Status AddOperand(const std::string& text, v1::Spec* spec) {
  std::string rest;
  std::string alignment;
  std::string name;
  std::string dtype;
  std::string strides;
  v1::Operand* operand = spec->add_operands();
  int64_t value = 0;
  if (Cut(text, '@', &rest, &alignment)) {
    if (!ReadInt(alignment, &value) || value < 0 || value > UINT32_MAX) {
      return BadFlag("--operand", text, kOperandForm);
    }
    operand->set_alignment(static_cast<uint32_t>(value));
  }
  const std::string head = rest;
  if (!Cut(head, ':', &name, &rest)) {
    return BadFlag("--operand", text, kOperandForm);
  }
  const bool strided = Cut(std::string(rest), ':', &dtype, &strides);
  operand->set_name(name);
  operand->set_dtype(dtype);
  if (!strided) return Status();
  if (strides == "dynamic") {
    operand->set_stride_mode(v1::STRIDE_MODE_DYNAMIC);
    return Status();
  }
  operand->set_stride_mode(v1::STRIDE_MODE_STATIC);
  while (!strides.empty()) {
    std::string one;
    Cut(std::string(strides), ',', &one, &strides);
    if (!ReadInt(one, &value)) return BadFlag("--operand", text, kOperandForm);
    operand->add_strides(value);
  }
  return Status();
}

// true and false are booleans, digits integers, other numbers floats, the rest
// text.
Status AddAttr(const std::string& text, v1::Spec* spec) {
  std::string name;
  std::string value;
  if (!Cut(text, '=', &name, &value)) {
    return BadFlag("--attr", text, "NAME=VALUE");
  }
  v1::Attr* attr = spec->add_attrs();
  attr->set_name(name);
  int64_t integer = 0;
  char* end = nullptr;
  const double number = strtod(value.c_str(), &end);
  if (value == "true" || value == "false") {
    attr->set_bool_value(value == "true");
  } else if (ReadInt(value, &integer)) {
    attr->set_int_value(integer);
  } else if (!value.empty() && *end == '\0') {
    attr->set_float_value(number);
  } else {
    attr->set_string_value(value);
  }
  return Status();
}

Status AddTuning(const std::string& text, v1::Spec* spec) {
  std::string name;
  std::string value;
  int64_t integer = 0;
  if (!Cut(text, '=', &name, &value) || !ReadInt(value, &integer)) {
    return BadFlag("--tune", text, "NAME=INTEGER");
  }
  v1::Tuning* tuning = spec->add_tuning();
  tuning->set_name(name);
  tuning->set_value(integer);
  return Status();
}

void AddPlainOperand(const std::string& name, const std::string& dtype,
                     v1::Spec* spec) {
  v1::Operand* operand = spec->add_operands();
  operand->set_name(name);
  operand->set_dtype(dtype);
}

// The operands that an op always has, and those of --with.
Status AddKnownOperands(const SpecFlags& flags, v1::Spec* spec) {
  const std::string out =
      flags.out_dtype.empty() ? flags.dtype : flags.out_dtype;
  if (flags.op == "gemm" || flags.op == "grouped_gemm") {
    AddPlainOperand("a", flags.dtype, spec);
    AddPlainOperand("b", flags.dtype, spec);
    AddPlainOperand("d", out, spec);
    if (flags.op == "grouped_gemm") AddPlainOperand("offs", "i32", spec);
  } else if (flags.op == "rmsnorm" || flags.op == "silu_mul") {
    AddPlainOperand("x", flags.dtype, spec);
    AddPlainOperand("y", out, spec);
  } else {
    return Error(
        INGOT_INVALID_ARGUMENT,
        "--operand: found none, allowed at least one: ingotctl knows "
        "the operands of gemm, grouped_gemm, rmsnorm and silu_mul alone");
  }
  for (const std::string& name : flags.with) {
    AddPlainOperand(name, name == "rstd" ? "f32" : out, spec);
  }
  return Status();
}

Status ReadSpecFile(const std::string& file, v1::Spec* spec) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) return BadFlag("--spec", file, "a file that can be read");
  }
  std::istream& in = file == "-" ? std::cin : opened;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto status = google::protobuf::util::JsonStringToMessage(text, spec);
  if (status.ok()) return Status();
  return Error(INGOT_INVALID_ARGUMENT,
               "--spec %s: %s; allowed is the JSON form of ingot.v1.Spec",
               file.c_str(), std::string(status.message()).c_str());
}

}  // namespace

void SpecFlags::Add(CLI::App* app) {
  app->add_option("op", op,
                  "the op, such as gemm; see `ingotctl capabilities`");
  app->add_option("dims", dims,
                  "dims: m=4096, m=1..4096, m=1..4096/16, or m for any value");
  app->add_option("--dim", dims, "the same, as an option");
  app->add_option("--operand", operands,
                  "a:bf16, a:bf16:dynamic, a:bf16:8192,1, a:bf16@2");
  app->add_option("--attr", attrs, "layout=nt, flag=true, scale=0.5");
  app->add_option("--tune", tuning,
                  "pins a choice of the compiler: tile_m=128");
  app->add_option("--target", target, "gfx950, or with :sramecc+ :xnack-")
      ->capture_default_str();
  app->add_option(
      "--spec", file,
      "a file with the JSON form of ingot.v1.Spec; - reads standard "
      "input; replaces all of the above");
  app->add_option("--dtype", dtype, "of all operands, when none are given")
      ->capture_default_str();
  app->add_option("--out-dtype", out_dtype, "of outputs; else --dtype");
  app->add_option("--with", with,
                  "optional operands: c bias weight rstd residual residual_out")
      ->delimiter(',');
  app->add_option_function<std::string>(
      "--layout",
      [this](const std::string& layout) {
        attrs.push_back("layout=" + layout);
      },
      "short for --attr layout=...");
}

Status MakeSpec(const SpecFlags& flags, v1::Spec* spec) {
  spec->Clear();
  if (!flags.file.empty()) return ReadSpecFile(flags.file, spec);
  if (flags.op.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "op: found none, allowed an op or --spec");
  }
  spec->set_op(flags.op);
  spec->set_target(flags.target);
  for (const std::string& dim : flags.dims) {
    INGOT_CLIENT_RETURN_IF_ERROR(AddDim(dim, spec));
  }
  for (const std::string& operand : flags.operands) {
    INGOT_CLIENT_RETURN_IF_ERROR(AddOperand(operand, spec));
  }
  if (flags.operands.empty()) {
    INGOT_CLIENT_RETURN_IF_ERROR(AddKnownOperands(flags, spec));
  }
  for (const std::string& attr : flags.attrs) {
    INGOT_CLIENT_RETURN_IF_ERROR(AddAttr(attr, spec));
  }
  for (const std::string& tuning : flags.tuning) {
    INGOT_CLIENT_RETURN_IF_ERROR(AddTuning(tuning, spec));
  }
  return Status();
}

}  // namespace ingot::ctl
