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
      b_offset_(a.shape().bytes()) {}

StepBases StepReader::Bases(Value lds, int offset) {
  return {a_.Bases(lds, offset), b_reader_.Bases(lds, offset + b_offset_)};
}

StepBases StepReader::Bases(Value lds, Value offset) {
  return {a_.Bases(lds, offset), b_reader_.Bases(lds, offset + b_offset_)};
}

int StepReader::parts_per_set() const {
  return a_.fragments() * a_.parts() +
         b_reader_.fragments() * b_reader_.parts();
}

std::vector<Emit> StepReader::Reads(const StepBases& bases, int set,
                                    const Access& access, Values* parts) {
  std::vector<Emit> reads;
  parts->assign(parts_per_set(), Value());
  size_t place = 0;
  const auto add = [&](FragmentReader* reader, const Values* from) {
    for (int fragment = 0; fragment < reader->fragments(); ++fragment) {
      for (int part = 0; part < reader->parts(); ++part, ++place) {
        reads.push_back([=, this] {
          (*parts)[place] = reader->Read(*from, fragment, set, part, access);
        });
      }
    }
  };
  add(&b_reader_, &bases.b);
  add(&a_, &bases.a);
  return reads;
}

std::vector<Emit> StepReader::Multiplies(int set, const Values* parts,
                                         Values* accumulators) {
  std::vector<Emit> list;
  const int columns = shape_.fragments_n();
  for (int i = 0; i < shape_.fragments_m(); ++i) {
    for (int step = 0; step < columns; ++step) {
      // Serpentine: neighbours in time share an operand.
      const int j = i % 2 == 0 ? step : columns - 1 - step;
      list.push_back([=, this] {
        Value& sum = (*accumulators)[i * columns + j];
        // B first: D is transposed, so a lane owns neighbouring columns.
        sum = b_.Mfma(
            {16, 16, kFragmentK}, Operand(b_reader_, *parts, 0, j),
            Operand(a_, *parts, b_reader_.fragments() * b_reader_.parts(), i),
            sum);
      });
    }
  }
  return list;
}

Value StepReader::Operand(const FragmentReader& reader, const Values& parts,
                          int first, int fragment) const {
  const absl::Span<const Value> all(parts);
  return FragmentReader::Join(
      all.subspan(first + fragment * reader.parts(), reader.parts()),
      shape_.elem);
}

Values ZeroAccumulators(Builder& builder, const MatmulShape& shape) {
  const RegisterClass file =
      shape.accumulate_in_agprs ? RegisterClass::kAgpr : RegisterClass::kVgpr;
  // Opaque: code generation splits phis that start from a constant vector.
  const Value zero = builder.Opaque(builder.Zero(Vec(kF32, 4)), file);
  return Values(shape.fragments_m() * shape.fragments_n(), zero);
}

}  // namespace ingot::tile
