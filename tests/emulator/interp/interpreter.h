// One build of the interpreter. Each x86-64 level defines its own.
#ifndef TESTS_EMULATOR_INTERP_INTERPRETER_H_
#define TESTS_EMULATOR_INTERP_INTERPRETER_H_

#include "tests/emulator/isa.h"

#define INGOT_EMULATOR_DECLARE(level)  \
  namespace ingot::emulator::level {   \
  const InstructionSet& Interpreter(); \
  }
INGOT_EMULATOR_DECLARE(x86_64_v2)
INGOT_EMULATOR_DECLARE(x86_64_v3)
INGOT_EMULATOR_DECLARE(x86_64_v4)
#undef INGOT_EMULATOR_DECLARE

namespace ingot::emulator {

// The best build that this CPU can run; INGOT_EMULATOR_LEVEL=x86-64-v2|v3|v4
// asks for another (one that the CPU lacks is not given).
const InstructionSet& ChooseInterpreter();

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_INTERP_INTERPRETER_H_
