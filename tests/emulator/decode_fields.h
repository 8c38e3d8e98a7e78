// What the parts of the decoder share: bit fields, source operands and the list
// of registers that an instruction touches.
#ifndef TESTS_EMULATOR_DECODE_FIELDS_H_
#define TESTS_EMULATOR_DECODE_FIELDS_H_

#include <cstddef>
#include <cstdint>

#include "tests/emulator/decode.h"
#include "tests/emulator/isa.h"

namespace ingot::emulator {

// Source codes that mean something other than a register or a constant.
inline constexpr uint32_t kSdwaCode = 249, kDppCode = 250, kLiteralCode = 255;

struct Decoder::Bits {
  const uint32_t* w;
  size_t count;
  // Bits hi..lo of the instruction, all in one word.
  uint32_t Get(int hi, int lo) const {
    return w[lo / 32] >> (lo % 32) & (~0u >> (31 - (hi - lo)));
  }
  bool Bit(int n) const { return Get(n, n) != 0; }
};

Operand Register(Operand::Kind kind, uint32_t reg);

// An 8- or 9-bit source code. False when the code means nothing here.
bool Source(uint32_t code, SrcKind kind, uint32_t literal, Operand* o);

// Record that `i` reads or writes `n` registers from `first` on.
void Reads(Inst* i, uint32_t first, uint32_t n);
void Writes(Inst* i, uint32_t first, uint32_t n);
void ReadsOperand(Inst* i, const Operand& o, uint32_t words);
// The same for the sources and results of a vector ALU instruction.
void VectorRanges(Inst* i);

// Whether every register that `i` names exists, and whether tuples start where
// the hardware wants them: VGPRs at even numbers, SGPRs at even ones or, from
// four on, at multiples of four.
bool RegistersExist(const Inst& i);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_DECODE_FIELDS_H_
