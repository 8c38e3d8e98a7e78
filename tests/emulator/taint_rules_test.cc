// Every opcode of the instruction tables has a rule of its own.
#include "tests/emulator/taint_rules.h"

#include <gtest/gtest.h>

#include "tests/emulator/interp/interpreter.h"

namespace ingot::emulator::taint {
namespace {

void Visit(const OpTable& table, int* seen) {
  for (int n = 0; n < table.count; ++n) {
    const OpInfo& op = table.ops[n];
    ++*seen;
    const Rule* rule = RuleOf(op);
    EXPECT_NE(rule, nullptr) << op.name << " has no rule";
    if (rule == nullptr) continue;
    const bool per_lane =
        rule->how == How::kVector || rule->how == How::kCompare ||
        rule->how == How::kPacked16 || rule->how == How::kScalar ||
        rule->how == How::kSaveExec || rule->how == How::kWriteExec;
    EXPECT_EQ(per_lane, per_lane && rule->lane != nullptr) << op.name;
    if (rule->how == How::kElements) {
      EXPECT_GT(rule->elements.count, 0) << op.name;
    }
  }
}

TEST(TaintRules, EveryOpcodeHasOne) {
  const InstructionSet& set = ChooseInterpreter();
  int seen = 0;
  for (const OpTable& table : set.table) Visit(table, &seen);
  for (const InstructionSet::More& more : set.more) Visit(more.table, &seen);
  EXPECT_GT(seen, 900);
}

TEST(TaintRules, UnknownNamesHaveNone) {
  OpInfo op;
  op.name = "v_made_up_b32";
  EXPECT_EQ(RuleOf(op), nullptr);
}

}  // namespace
}  // namespace ingot::emulator::taint
