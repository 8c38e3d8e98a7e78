// A compiled kernel as its instructions, for tests of what a loop is made of.
#ifndef TESTS_SUPPORT_PROGRAM_TEXT_H_
#define TESTS_SUPPORT_PROGRAM_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace ingot::testing {

struct Instruction {
  int64_t address = 0;
  std::string name;
  std::string operands;
};

// Lines of Disassemble: address, encoding, tab, instruction.
inline std::vector<Instruction> ParseProgram(const std::string& text) {
  std::vector<Instruction> program;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    int64_t address = 0;
    if (halves.second.empty() ||
        !absl::SimpleHexAtoi(halves.first.substr(0, halves.first.find(' ')),
                             &address)) {
      continue;
    }
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(halves.second, absl::MaxSplits(' ', 1));
    program.push_back({address, parts.first, parts.second});
  }
  return program;
}

inline int CountInstructions(const std::vector<Instruction>& program,
                             absl::string_view prefix) {
  return static_cast<int>(std::count_if(
      program.begin(), program.end(),
      [&](const Instruction& x) { return absl::StartsWith(x.name, prefix); }));
}

// Every range that a backward branch closes, in order of the branches: of
// nested loops the inner one comes first.
inline std::vector<std::vector<Instruction>> LoopsOf(
    const std::vector<Instruction>& program) {
  std::vector<std::vector<Instruction>> loops;
  for (size_t i = 0; i < program.size(); ++i) {
    int64_t words = 0;
    if (!(absl::StartsWith(program[i].name, "s_cbranch") ||
          program[i].name == "s_branch") ||
        !absl::SimpleAtoi(program[i].operands, &words) || words < 32768) {
      continue;
    }
    const int64_t target = program[i].address + 4 + (words - 65536) * 4;
    const auto first =
        std::find_if(program.begin(), program.end(),
                     [&](const Instruction& x) { return x.address == target; });
    if (first != program.end()) {
      loops.emplace_back(first, program.begin() + i + 1);
    }
  }
  return loops;
}

// The loop with the most MFMAs for its size that has no other loop in it: the
// k loop of a matrix product. Empty when there is none.
inline std::vector<Instruction> MatmulLoopOf(
    const std::vector<Instruction>& program) {
  std::vector<Instruction> best;
  for (const std::vector<Instruction>& loop : LoopsOf(program)) {
    if (LoopsOf(loop).size() == 1 &&
        CountInstructions(loop, "v_mfma") > CountInstructions(best, "v_mfma")) {
      best = loop;
    }
  }
  return best;
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_PROGRAM_TEXT_H_
