// Text of decoded instructions, in LLVM's syntax.
#ifndef TESTS_EMULATOR_DISASSEMBLE_H_
#define TESTS_EMULATOR_DISASSEMBLE_H_

#include <string>

#include "tests/emulator/isa.h"

namespace ingot::emulator {

// "v_add_f32 v1, |v2|, 0.5 clamp": what the interpreter will run, so a word
// that it ignores does not show. Encodings (_e32, _e64, _dpp, _sdwa) are not
// part of the name; numbers that LLVM spells (hwreg, sendmsg) stay numbers.
std::string Disassemble(const Inst& inst);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_DISASSEMBLE_H_
