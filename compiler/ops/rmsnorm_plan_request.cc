#include "compiler/ops/rmsnorm_plan_request.h"

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRow = 131072;

absl::Status CheckVector(const Operand& operand) {
  const int64_t least = DtypeBytes(operand.dtype);
  if (AlignmentOf(operand) < least) {
    return Invalid(absl::StrCat("alignment of operand ", operand.name),
                   absl::StrCat(operand.alignment),
                   absl::StrCat(least, " or more"));
  }
  if (operand.stride_mode == StrideMode::kDense) return absl::OkStatus();
  if (operand.stride_mode == StrideMode::kStatic &&
      operand.strides == std::vector<int64_t>{1}) {
    return absl::OkStatus();
  }
  return Invalid(absl::StrCat("strides of operand ", operand.name),
                 absl::StrJoin(operand.strides, ", "), "dense, or static 1");
}

// Reads operands in the order in which the plan lists them.
class OperandReader {
 public:
  OperandReader(const Spec& spec, const RmsNormRequest& request)
      : spec_(spec), request_(request) {}

  absl::Status Rows(absl::string_view name,
                    absl::Span<const absl::string_view> dtypes,
                    RowOperand* out) {
    INGOT_ASSIGN_OR_RETURN(out->operand, CheckOperand(spec_, name, dtypes));
    out->index = next_++;
    out->n = request_.n.min;
    out->unit_bytes = DtypeBytes(out->operand->dtype);
    return CheckRows(*out);
  }

  absl::Status OptionalRows(absl::string_view name, absl::string_view dtype,
                            RowOperand* out) {
    if (spec_.FindOperand(name) == nullptr) return absl::OkStatus();
    return Rows(name, {dtype}, out);
  }

  absl::Status OptionalVector(absl::string_view name,
                              absl::Span<const absl::string_view> dtypes,
                              RmsNormVector* out) {
    if (spec_.FindOperand(name) == nullptr) return absl::OkStatus();
    INGOT_ASSIGN_OR_RETURN(out->operand, CheckOperand(spec_, name, dtypes));
    out->index = next_++;
    return CheckVector(*out->operand);
  }

 private:
  const Spec& spec_;
  const RmsNormRequest& request_;
  int next_ = 0;
};

absl::Status ReadOperands(const Spec& spec, RmsNormRequest* r) {
  OperandReader reader(spec, *r);
  INGOT_RETURN_IF_ERROR(reader.Rows("x", {"bf16", "f16", "f32"}, &r->x));
  const absl::string_view dtype = r->x->dtype;
  r->bytes = DtypeBytes(dtype);
  INGOT_RETURN_IF_ERROR(reader.Rows("y", {dtype}, &r->y));
  INGOT_RETURN_IF_ERROR(
      reader.OptionalVector("weight", {dtype, "f32"}, &r->weight));
  INGOT_RETURN_IF_ERROR(reader.OptionalVector("rstd", {"f32"}, &r->rstd));
  INGOT_RETURN_IF_ERROR(reader.OptionalRows("residual", dtype, &r->residual));
  INGOT_RETURN_IF_ERROR(
      reader.OptionalRows("residual_out", dtype, &r->residual_out));
  if (r->residual_out && !r->residual) {
    return Invalid("operand residual", "none",
                   "one where residual_out is asked for");
  }
  r->y.output = r->residual_out.output = true;
  return absl::OkStatus();
}

absl::Status ReadTuning(const Spec& spec, RmsNormRequest* r) {
  const Tuning* threads = spec.FindTuning("threads");
  if (threads == nullptr) return absl::OkStatus();
  if (threads->value < 64 || threads->value > 1024 ||
      threads->value % 64 != 0) {
    return Invalid("tuning threads", absl::StrCat(threads->value),
                   "multiples of 64 to 1024");
  }
  const int64_t vectors = r->n.min / (kRowVectorBytes / r->bytes);
  const int64_t share = (vectors + threads->value - 1) / threads->value;
  // More would be code without a loop for hundreds of vectors.
  constexpr int64_t kMostVectors = 32;
  if (share > kMostVectors) {
    return Invalid("tuning threads", absl::StrCat(threads->value),
                   absl::StrCat("enough for ", kMostVectors,
                                " vectors of 16 bytes a thread"));
  }
  r->threads = static_cast<int>(threads->value);
  return absl::OkStatus();
}

}  // namespace

std::vector<RowOperand> RmsNormRequest::matrices() const {
  std::vector<RowOperand> present;
  for (const RowOperand* one : {&x, &y, &residual, &residual_out}) {
    if (*one) present.push_back(*one);
  }
  return present;
}

absl::StatusOr<RmsNormRequest> ReadRmsNormRequest(const Spec& spec) {
  RmsNormRequest r;
  INGOT_RETURN_IF_ERROR(CheckChoice(spec, "quant", "none", {"none"}).status());
  INGOT_ASSIGN_OR_RETURN(r.rows, CheckDim(spec, "rows", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.n, CheckDim(spec, "n", kMaxRow));
  if (r.n.min != r.n.max) {
    return Invalid("dim n", absl::StrCat(r.n.min, " to ", r.n.max),
                   "one value");
  }
  INGOT_RETURN_IF_ERROR(ReadOperands(spec, &r));
  INGOT_RETURN_IF_ERROR(ReadTuning(spec, &r));
  return r;
}

}  // namespace ingot
