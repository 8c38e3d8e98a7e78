#include "compiler/tile/matmul.h"

#include "compiler/tile/fragment.h"
#include "compiler/tile/matmul_step.h"

namespace ingot::tile {

PanelShape PanelShapeOf(PanelShape shape, const MatmulOperand& operand) {
  shape.k_contiguous = operand.k_contiguous;
  shape.paired = operand.paired;
  shape.shuffled = operand.shuffled;
  return shape;
}

WavePlace PlaceOfWave(Builder& builder, const MatmulShape& shape) {
  if (shape.waves_m * shape.waves_n == 1) {
    return {builder.I32(0), builder.I32(0)};
  }
  const Value wave = builder.WaveId();
  return {wave / shape.waves_n * shape.wave_m(),
          wave % shape.waves_n * shape.wave_n()};
}

StepReader::StepReader(Builder& builder, const MatmulShape& shape,
                       const PanelShape& a, const PanelShape& b)
    : b_(builder),
      shape_(shape),
      a_shape_(a),
      b_shape_(b),
      a_(builder, a, shape.wave_m() / a.panels,
         PlaceOfWave(builder, shape).m / a.panels),
      b_reader_(builder, b, shape.wave_n() / b.panels,
                PlaceOfWave(builder, shape).n / b.panels),
      scales_a_(builder, a.scales(), PlaceOfWave(builder, shape).m),
      scales_b_(builder, b.scales(), PlaceOfWave(builder, shape).n) {}

ScheduleShape StepReader::Schedule(int stages) const {
  ScheduleShape shape;
  shape.stages = stages;
  shape.sets = sets();
  // Waves that share k read all of a step before they multiply.
  shape.row_groups = sets() == 1 && shape_.waves_k == 1 ? 2 : 1;
  for (const bool columns : {false, true}) {
    OperandSchedule& operand = shape.operands.emplace_back();
    operand.columns = columns;
    operand.panels = PanelOf(columns).panels;
    operand.pieces = PanelOf(columns).pieces();
    operand.fragments = ReaderOf(columns).fragments() * operand.panels;
    operand.parts = ValuesOf(columns);
    operand.sets = sets();
  }
  return shape;
}

template <typename Offset>
StepBases StepReader::BasesAt(Value lds, Offset offset) {
  const Offset b_offset = offset + a_shape_.bytes() * a_shape_.panels;
  StepBases bases{
      a_.Bases(lds, offset), b_reader_.Bases(lds, b_offset), {}, {}};
  if (scaled()) {
    bases.scales_a = scales_a_.Base(lds, offset + a_shape_.data_bytes());
    bases.scales_b = scales_b_.Base(lds, b_offset + b_shape_.data_bytes());
  }
  return bases;
}

StepBases StepReader::Bases(Value lds, int offset) {
  return BasesAt(lds, offset);
}

StepBases StepReader::Bases(Value lds, Value offset) {
  return BasesAt(lds, offset);
}

size_t StepReader::SlotsOf(int operand) const {
  return size_t(PanelOf(operand).panels) * ReaderOf(operand).fragments() *
         ValuesOf(operand) * sets();
}

size_t StepReader::Slot(const Action& read) const {
  const size_t first = read.operand == 0 ? 0 : SlotsOf(0);
  return first +
         (size_t(read.index) * sets() + read.set) * ValuesOf(read.operand) +
         read.part;
}

bool StepReader::IsRead(const Action& read) const {
  return read.part < ReaderOf(read.operand).parts() ||
         read.index % ScalesOf(read.operand).per_read() == 0;
}

void StepReader::Read(const StepBases& bases, const Action& read,
                      const Access& access, StepParts* parts) {
  if (!IsRead(read)) return;
  const bool is_a = read.operand == 0;
  FragmentReader& reader = is_a ? a_ : b_reader_;
  Value& slot = (*parts)[Slot(read)];
  if (read.part == reader.parts()) {
    slot = (is_a ? scales_a_ : scales_b_)
               .Read(is_a ? bases.scales_a : bases.scales_b, read.index,
                     read.set, access);
    return;
  }
  const int panel = read.index / reader.fragments();
  slot = reader.Read(
      is_a ? bases.a : bases.b, panel * PanelOf(read.operand).bytes(),
      read.index % reader.fragments(), read.set, read.part, access);
}

// B first: D is transposed, so a lane owns neighbouring columns.
void StepReader::Multiply(const Action& product, const StepParts& parts,
                          Values* accumulators) {
  Value& sum =
      (*accumulators)[product.index * shape_.fragments_n() + product.column];
  const MfmaShape mfma{16, 16, shape_.a.mfma_k()};
  if (shape_.a.narrow()) {
    sum = b_.MfmaScaled(
        mfma, ScaledOperand(shape_.b, 1, product.column, product.set, parts),
        ScaledOperand(shape_.a, 0, product.index, product.set, parts), sum);
    return;
  }
  const absl::Span<const Value> row =
      Fragment(0, product.index, product.set, parts);
  const absl::Span<const Value> column =
      Fragment(1, product.column, product.set, parts);
  sum = b_.Mfma(mfma, FragmentReader::Join(column, shape_.b),
                FragmentReader::Join(row, shape_.a), sum);
}

absl::Span<const Value> StepReader::Fragment(int operand, int fragment, int set,
                                             const StepParts& parts) const {
  Action read;
  read.operand = operand;
  read.index = fragment;
  read.set = set;
  return absl::MakeConstSpan(parts).subspan(Slot(read), ValuesOf(operand));
}

// Without scales both are the literal 0, which stands for the instruction that
// has none.
MxOperand StepReader::ScaledOperand(const Element& element, int operand,
                                    int fragment, int set,
                                    const StepParts& parts) const {
  const absl::Span<const Value> values =
      Fragment(operand, fragment, set, parts);
  MxOperand out;
  out.format = element.format;
  out.elements =
      FragmentReader::Join(values.first(ReaderOf(operand).parts()), element);
  if (!scaled()) {
    out.scale = b_.I32(0);
    return out;
  }
  const ScaleReader& scales = ScalesOf(operand);
  const int each = scales.per_read();
  out.scale = Fragment(operand, fragment / each * each, set, parts).back();
  out.scale_byte = scales.ByteOf(fragment, set);
  return out;
}

void StepReader::ReadSet(const StepBases& bases, int set, const Access& access,
                         StepParts* parts) {
  for (int operand = 1; operand >= 0; --operand) {
    const OperandSchedule all = Schedule(1).operands[operand];
    for (int fragment = 0; fragment < all.fragments; ++fragment) {
      for (int part = 0; part < all.parts; ++part) {
        Action read;
        read.operand = operand;
        read.index = fragment;
        read.set = set;
        read.part = part;
        Read(bases, read, access, parts);
      }
    }
  }
}

void StepReader::MultiplySet(int set, const StepParts& parts,
                             Values* accumulators) {
  for (int i = 0; i < shape_.fragments_m(); ++i) {
    for (int j = 0; j < shape_.fragments_n(); ++j) {
      Action product;
      product.index = i;
      product.column = j;
      product.set = set;
      Multiply(product, parts, accumulators);
    }
  }
}

Values ZeroAccumulators(Builder& builder, const MatmulShape& shape) {
  const RegisterClass file =
      shape.accumulate_in_agprs ? RegisterClass::kAgpr : RegisterClass::kVgpr;
  // Opaque: code generation splits phis that start from a constant vector.
  const Value zero = builder.Opaque(builder.Zero(Vec(kF32, 4)), file);
  return Values(shape.fragments_m() * shape.fragments_n(), zero);
}

}  // namespace ingot::tile
