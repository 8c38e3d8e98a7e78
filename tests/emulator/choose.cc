#include <cstdlib>
#include <cstring>

#include "tests/emulator/emulator.h"
#include "tests/emulator/interp/interpreter.h"

namespace ingot::emulator {

const InstructionSet& ChooseInterpreter() {
  static const InstructionSet* const chosen = [] {
    const char* wish = std::getenv("INGOT_EMULATOR_LEVEL");
    const auto wants = [wish](const char* level) {
      return wish == nullptr || std::strcmp(wish, level) == 0;
    };
    if (__builtin_cpu_supports("x86-64-v4") && wants("x86-64-v4"))
      return &x86_64_v4::Interpreter();
    if (__builtin_cpu_supports("x86-64-v3") &&
        (wish == nullptr || wants("x86-64-v3"))) {
      return &x86_64_v3::Interpreter();
    }
    return &x86_64_v2::Interpreter();
  }();
  return *chosen;
}

const char* InterpreterLevel() { return ChooseInterpreter().name; }

}  // namespace ingot::emulator
