// What an instruction's LDS accesses cost: the clocks of the LDS unit when
// lanes of one phase want different words of the same bank.
#ifndef TESTS_EMULATOR_PROFILE_LDS_BANKS_H_
#define TESTS_EMULATOR_PROFILE_LDS_BANKS_H_

#include "tests/emulator/access.h"
#include "tests/emulator/profile/rates.h"

namespace ingot::profile {

struct BankCost {
  int clocks = 0;
  int least = 0;      // clocks without conflicts
  double degree = 1;  // of the worst phase: 1 is free of conflicts
};

enum class BankUse {
  kRead,    // lanes that want the same word share it
  kWrite,   // the same: one of them wins
  kAtomic,  // each lane is served
};

// The LDS accesses of one instruction, in lane order; others are passed over.
// Every phase takes a clock at least, with or without active lanes. A lane's
// second access (ds_read2) belongs to a second round of phases.
BankCost CostOf(const emulator::AccessList& accesses, BankUse use);

// Lanes that exchange registers through the unit, as a conflict-free ds_read of
// a dword.
BankCost CostOfExchange();

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_LDS_BANKS_H_
