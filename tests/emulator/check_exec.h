// Matrix instructions and transposing reads with lanes off.
#ifndef TESTS_EMULATOR_CHECK_EXEC_H_
#define TESTS_EMULATOR_CHECK_EXEC_H_

#include "tests/emulator/watcher.h"

namespace ingot::emulator {

// MFMA and SMFMAC work on all 64 lanes whatever EXEC says: with a lane off they
// take operands that the lane did not compute and write results over what it
// keeps. Transposing reads hand each lane of a group of 16 what the others
// address, so a group must be on as a whole. Lanes that a small workgroup does
// not have are nobody's mistake here: what their registers hold was never
// written, and that is the taint check's business.
class ExecCheck : public Watcher {
 public:
  ExecCheck()
      : Watcher(ClassBit(OpClass::kMfma) | ClassBit(OpClass::kLds), 0) {}
  void Before(Wave&, const Inst&) override;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_CHECK_EXEC_H_
