#include "compiler/ops/rmsnorm_plan_request.h"

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRow = 131072;
constexpr int64_t kBlock = 32;  // elements of a scale

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
                    absl::Span<const absl::string_view> dtypes, int64_t n,
                    RowOperand* out) {
    INGOT_ASSIGN_OR_RETURN(out->operand, CheckOperand(spec_, name, dtypes));
    out->index = next_++;
    out->n = n;
    out->unit_bytes = DtypeBytes(out->operand->dtype);
    return CheckRows(*out);
  }

  absl::Status OptionalRows(absl::string_view name, absl::string_view dtype,
                            RowOperand* out) {
    if (spec_.FindOperand(name) == nullptr) return absl::OkStatus();
    return Rows(name, {dtype}, request_.n.min, out);
  }

  absl::Status OptionalVector(absl::string_view name,
                              absl::Span<const absl::string_view> dtypes,
                              RmsNormVector* out) {
    if (spec_.FindOperand(name) == nullptr) return absl::OkStatus();
    return Vector(name, dtypes, out);
  }

  absl::Status Vector(absl::string_view name,
                      absl::Span<const absl::string_view> dtypes,
                      RmsNormVector* out) {
    INGOT_ASSIGN_OR_RETURN(out->operand, CheckOperand(spec_, name, dtypes));
    out->index = next_++;
    return CheckVector(*out->operand);
  }

 private:
  const Spec& spec_;
  const RmsNormRequest& request_;
  int next_ = 0;
};

// y has as many vectors as x, narrower where it is quantised.
absl::Status ReadY(OperandReader* reader, RmsNormRequest* r) {
  const int64_t n = r->n.min;
  if (r->quantised == RmsNormQuantised::kNone) {
    return reader->Rows("y", {r->x->dtype}, n, &r->y);
  }
  const bool nibbles = r->quant == "mxfp4";
  r->y.vector_bytes = kRowVectorBytes / r->bytes / (nibbles ? 2 : 1);
  return nibbles ? reader->Rows("y", {"e2m1"}, n / 2, &r->y)
                 : reader->Rows("y", {"e4m3fn"}, n, &r->y);
}

absl::Status ReadScales(OperandReader* reader, RmsNormRequest* r) {
  switch (r->quantised) {
    case RmsNormQuantised::kNone:
      return absl::OkStatus();
    case RmsNormQuantised::kRow:
      return reader->Vector("scale", {"f32"}, &r->row_scales);
    case RmsNormQuantised::kBlocks:
      r->block_scales.vector_bytes = 1;
      r->block_scales.output = true;
      return reader->Rows("scale", {"e8m0"}, r->n.min / kBlock,
                          &r->block_scales);
  }
  return absl::OkStatus();
}

absl::Status ReadQuant(const Spec& spec, RmsNormRequest* r) {
  INGOT_ASSIGN_OR_RETURN(r->quant,
                         CheckChoice(spec, "quant", "none",
                                     {"none", "fp8_row", "mxfp8", "mxfp4"}));
  if (r->quant == "none") {
    if (spec.FindOperand("scale") == nullptr) return absl::OkStatus();
    return Invalid("operand scale", "one", "none unless quant is stated");
  }
  r->quantised = r->quant == "fp8_row" ? RmsNormQuantised::kRow
                                       : RmsNormQuantised::kBlocks;
  if (r->quantised == RmsNormQuantised::kRow || r->n.min % kBlock == 0) {
    return absl::OkStatus();
  }
  return Invalid("dim n", absl::StrCat(r->n.min),
                 absl::StrCat("multiples of ", kBlock, " with quant ", r->quant,
                              ": a scale has as many elements"));
}

absl::Status ReadOperands(const Spec& spec, RmsNormRequest* r) {
  OperandReader reader(spec, *r);
  INGOT_RETURN_IF_ERROR(
      reader.Rows("x", {"bf16", "f16", "f32"}, r->n.min, &r->x));
  const absl::string_view dtype = r->x->dtype;
  r->bytes = DtypeBytes(dtype);
  INGOT_RETURN_IF_ERROR(ReadY(&reader, r));
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
  return ReadScales(&reader, r);
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
  for (const RowOperand* one :
       {&x, &y, &residual, &residual_out, &block_scales}) {
    if (*one) present.push_back(*one);
  }
  return present;
}

absl::StatusOr<RmsNormRequest> ReadRmsNormRequest(const Spec& spec) {
  RmsNormRequest r;
  INGOT_ASSIGN_OR_RETURN(r.rows, CheckDim(spec, "rows", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.n, CheckDim(spec, "n", kMaxRow));
  if (r.n.min != r.n.max) {
    return Invalid("dim n", absl::StrCat(r.n.min, " to ", r.n.max),
                   "one value");
  }
  INGOT_RETURN_IF_ERROR(ReadQuant(spec, &r));
  INGOT_RETURN_IF_ERROR(ReadOperands(spec, &r));
  INGOT_RETURN_IF_ERROR(ReadTuning(spec, &r));
  return r;
}

}  // namespace ingot
