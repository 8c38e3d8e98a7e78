#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/emulator/emulator.h"
#include "tests/emulator/interp/interpreter.h"

namespace ingot::emulator {
namespace {

struct Level {
  const char* name;
  bool runs_here;
  const InstructionSet& (*interpreter)();
};

const InstructionSet& Choose() {
  // Best first. __builtin_cpu_supports wants a literal.
  const Level levels[] = {
#ifdef INGOT_EMULATOR_BUILT_v4
      {"x86-64-v4", __builtin_cpu_supports("x86-64-v4") != 0,
       &x86_64_v4::Interpreter},
#endif
#ifdef INGOT_EMULATOR_BUILT_v3
      {"x86-64-v3", __builtin_cpu_supports("x86-64-v3") != 0,
       &x86_64_v3::Interpreter},
#endif
#ifdef INGOT_EMULATOR_BUILT_v2
      {"x86-64-v2", __builtin_cpu_supports("x86-64-v2") != 0,
       &x86_64_v2::Interpreter},
#endif
  };
  const char* wish = std::getenv("INGOT_EMULATOR_LEVEL");
  const Level* best = nullptr;
  for (const Level& level : levels) {
    if (!level.runs_here) continue;
    if (best == nullptr) best = &level;
    if (wish != nullptr && std::strcmp(wish, level.name) == 0) best = &level;
  }
  if (best == nullptr) {
    std::fprintf(stderr, "the emulator was built for no level of this CPU\n");
    std::abort();
  }
  return best->interpreter();
}

}  // namespace

const InstructionSet& ChooseInterpreter() {
  static const InstructionSet& chosen = Choose();
  return chosen;
}

const char* InterpreterLevel() { return ChooseInterpreter().name; }

}  // namespace ingot::emulator
