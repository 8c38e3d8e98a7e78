// The parts of the check for undefined values; see taint.h for what it does.
//
// Registers are followed before an instruction runs, while its sources still
// hold what it will read; memory after it, when the addresses are known.
#ifndef TESTS_EMULATOR_TAINT_CHECK_H_
#define TESTS_EMULATOR_TAINT_CHECK_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/emulator/taint_memory.h"
#include "tests/emulator/taint_rules.h"
#include "tests/emulator/taint_state.h"
#include "tests/emulator/watcher.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator::taint {

// How a vector memory instruction says where.
enum class Form : uint8_t { kFlat, kScratch, kBuffer };

// What the check needs to know of an instruction.
struct Plan {
  const Rule* rule = nullptr;
  bool always = false;     // has effects even when all it reads is defined
  bool memory = false;     // results come with After
  bool masked = false;     // VGPR results are for the lanes of EXEC
  bool reads_vcc = false;  // a bit of VCC a lane, beside the operands
  Form form = Form::kFlat;
  uint8_t reads_count = 0, writes_count = 0;
  RegRange reads[12];
  RegRange writes[5];
};
Plan MakePlan(const Inst& inst);

// One instruction of one wave under way.
struct Step {
  Wave& wave;
  const Inst& inst;
  const Plan& plan;
  Registers& regs;
  Memory& memory;

  uint64_t exec() const { return wave.exec(); }
  // Stops the wave: `reg` has undefined bits where they must not be.
  void Report(FaultKind kind, int lane, uint64_t address, int reg,
              const char* what) const;
  // Undefined bits of an SGPR operand, and of all kinds of scalar operands.
  Bits Scalar(const Operand& operand, int bits) const;
};

// Follow registers, one function a family.
void Vector(const Step& s);
void Packed(const Step& s);
void Exchange(const Step& s);  // between lanes
void LdsLanes(const Step& s);
void Matrix(const Step& s);
void Scalar(const Step& s);
// Before a memory instruction: its address must be defined.
void CheckAddress(const Step& s);
// After it: bytes move between memory and registers.
void MoveMemory(const Step& s, const AccessList& accesses);

// The SGPRs from `sgpr` on get these undefined bits.
void WriteScalar(const Step& s, int sgpr, uint64_t undef, int words);
// "v5", "a5", "s5", "vcc_lo", "scc" and so on.
std::string RegisterName(int reg);

}  // namespace ingot::emulator::taint

#endif  // TESTS_EMULATOR_TAINT_CHECK_H_
