// Decodes gfx950 encoding words into Inst, straight from the bit fields.
#ifndef TESTS_EMULATOR_DECODE_H_
#define TESTS_EMULATOR_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/isa.h"

namespace ingot::emulator {

// Immutable after construction; safe to share between threads.
class Decoder {
 public:
  explicit Decoder(const InstructionSet& set);

  // Decodes the instruction at `words`, of which `count` may be read. False
  // when the words are no instruction of the set (or end too early).
  bool Decode(const uint32_t* words, size_t count, Inst* out) const;

  struct Bits;  // decode_fields.h

 private:
  bool Scalar(const Bits& b, Inst* i) const;
  bool ScalarMemory(const Bits& b, Inst* i) const;
  bool Vector12c(const Bits& b, Inst* i) const;
  bool Vector3(const Bits& b, Inst* i) const;
  bool Vector3p(const Bits& b, Inst* i) const;
  bool Matrix(const Bits& b, Inst* i, int at) const;
  bool Ds(const Bits& b, Inst* i) const;
  bool Mubuf(const Bits& b, Inst* i) const;
  bool Mtbuf(const Bits& b, Inst* i) const;
  bool FlatLike(const Bits& b, Inst* i) const;
  bool Find(Format format, uint32_t opcode, Inst* i) const;

  std::vector<const OpInfo*> by_opcode_[static_cast<int>(Format::kCount)];
};

// "v_add_f32 v1, s1, v2 (02020401)": for reports.
std::string Describe(const Inst& inst);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_DECODE_H_
