#include "compiler/tile/matmul.h"

#include "compiler/tile/fragment.h"
#include "compiler/tile/matmul_step.h"

namespace ingot::tile {

WavePlace PlaceOfWave(Builder& builder, const MatmulShape& shape) {
  const Value wave = builder.WaveId();
  return {wave / shape.waves_n * shape.wave_m(),
          wave % shape.waves_n * shape.wave_n()};
}

StepReader::StepReader(Builder& builder, const MatmulShape& shape,
                       const Panel& a, const Panel& b)
    : b_(builder),
      shape_(shape),
      a_(builder, a.shape(), shape.wave_m(), PlaceOfWave(builder, shape).m),
      b_reader_(builder, b.shape(), shape.wave_n(),
                PlaceOfWave(builder, shape).n),
      scales_a_(builder, a.shape().scales(), PlaceOfWave(builder, shape).m),
      scales_b_(builder, b.shape().scales(), PlaceOfWave(builder, shape).n),
      a_shape_(a.shape()),
      b_shape_(b.shape()) {}

template <typename Offset>
StepBases StepReader::BasesAt(Value lds, Offset offset) {
  const Offset b_offset = offset + a_shape_.bytes();
  StepBases bases{a_.Bases(lds, offset), b_reader_.Bases(lds, b_offset)};
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

// A set's parts: the columns, unless the first half of the rows had them, then
// rows; of each fragment its reads, then its scale.
std::vector<Emit> StepReader::Reads(const StepBases& bases, int set,
                                    const Access& access, Values* parts) {
  const int of_k = set / row_parts();
  const int half = set % row_parts();
  std::vector<Emit> reads;
  const auto add = [&](FragmentReader* reader, const Values* from,
                       ScaleReader* scales, const Value* scales_from, int first,
                       int count) {
    for (int fragment = first; fragment < first + count; ++fragment) {
      for (int part = 0; part < reader->parts(); ++part) {
        reads.push_back([=, place = reads.size()] {
          (*parts)[place] = reader->Read(*from, fragment, of_k, part, access);
        });
      }
      if (!scaled()) continue;
      reads.push_back([=, place = reads.size()] {
        (*parts)[place] = scales->Read(*scales_from, fragment, of_k, access);
      });
    }
  };
  if (half == 0) {
    add(&b_reader_, &bases.b, &scales_b_, &bases.scales_b, 0,
        b_reader_.fragments());
  }
  add(&a_, &bases.a, &scales_a_, &bases.scales_a, half * rows(), rows());
  parts->assign(reads.size(), Value());
  return reads;
}

std::vector<Emit> StepReader::Multiplies(int set, const Values* parts,
                                         Values* accumulators) {
  std::vector<Emit> list;
  const int columns = shape_.fragments_n();
  const int half = set % row_parts();
  const size_t of_columns =
      half == 0 ? size_t(columns) * ValuesOf(b_reader_) : 0;
  for (int i = 0; i < rows(); ++i) {
    for (int step = 0; step < columns; ++step) {
      // Serpentine: neighbours in time share an operand.
      const int j = i % 2 == 0 ? step : columns - 1 - step;
      list.push_back([=, this, first = list.empty()] {
        const absl::Span<const Value> all(*parts);
        if (first && half == 0) {
          columns_.assign(all.begin(), all.begin() + of_columns);
        }
        const size_t row_values = ValuesOf(a_);
        const size_t column_values = ValuesOf(b_reader_);
        MultiplyBlock(all.subspan(of_columns + i * row_values, row_values),
                      absl::MakeConstSpan(columns_).subspan(j * column_values,
                                                            column_values),
                      &(*accumulators)[(half * rows() + i) * columns + j]);
      });
    }
  }
  return list;
}

// B first: D is transposed, so a lane owns neighbouring columns.
void StepReader::MultiplyBlock(absl::Span<const Value> row,
                               absl::Span<const Value> column, Value* sum) {
  if (shape_.a.narrow()) {
    const MxOperand a = ScaledOperand(shape_.a, a_, row);
    const MxOperand b = ScaledOperand(shape_.b, b_reader_, column);
    *sum = b_.MfmaScaled({16, 16, shape_.a.mfma_k()}, b, a, *sum);
    return;
  }
  const Value a = FragmentReader::Join(row, shape_.a);
  const Value b = FragmentReader::Join(column, shape_.b);
  *sum = b_.Mfma({16, 16, shape_.a.mfma_k()}, b, a, *sum);
}

// Without scales both are the literal 0, which stands for the instruction that
// has none.
MxOperand StepReader::ScaledOperand(const Element& element,
                                    const FragmentReader& reader,
                                    absl::Span<const Value> values) const {
  const Value elements =
      FragmentReader::Join(values.first(reader.parts()), element);
  return {element.format, elements, scaled() ? values.back() : b_.I32(0), 0};
}

Values ZeroAccumulators(Builder& builder, const MatmulShape& shape) {
  const RegisterClass file =
      shape.accumulate_in_agprs ? RegisterClass::kAgpr : RegisterClass::kVgpr;
  // Opaque: code generation splits phis that start from a constant vector.
  const Value zero = builder.Opaque(builder.Zero(Vec(kF32, 4)), file);
  return Values(shape.fragments_m() * shape.fragments_n(), zero);
}

}  // namespace ingot::tile
