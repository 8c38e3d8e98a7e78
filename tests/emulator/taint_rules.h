// How undefined bits travel through each instruction: one line an opcode.
#ifndef TESTS_EMULATOR_TAINT_RULES_H_
#define TESTS_EMULATOR_TAINT_RULES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/emulator/isa.h"
#include "tests/emulator/taint_bits.h"

namespace ingot::emulator::taint {

// One lane of a vector instruction, or a scalar one.
struct Lane {
  const Inst* inst = nullptr;
  int lane = 0;
  int width = 32;  // of the result
  Bits s[3];       // the sources, modified as the instruction says
  Bits old;        // scalar: the destination before
  Bits carry;      // one bit: carry-in, condition, VCC's, or SCC
  Bits flag;       // one bit: carry-out or SCC, when the rule sets it
};
// The result at Lane::width; may set the flag.
using LaneRule = Bits (*)(Lane&);

enum class How : uint8_t {
  kNothing,   // touches no register that could be undefined
  kDefines,   // results are always defined
  kVector,    // lane by lane
  kCompare,   // lane by lane into a mask
  kPacked16,  // lane by lane and half by half
  kPacked32,  // lane by lane and register by register of pairs
  kPackedMove,
  kMix,       // v_fma_mix*
  kElements,  // conversions of packed elements
  kTuple,     // everything depends on everything of a lane
  kReadFirstLane,
  kReadLane,
  kWriteLane,
  kSwap,
  kPermlaneSwap,
  kMatrix,
  kScalar,
  kSaveExec,   // the destination gets the old EXEC
  kWriteExec,  // … the new one
  kBranchScc,
  kBranchVcc,
  kJump,         // to an address in SGPRs
  kSetMode,      // MODE from an SGPR
  kGprIndex,     // M0 and the index mode
  kMoveRelFrom,  // SGPRs numbered by M0
  kMoveRelTo,
  kFork,          // s_cbranch_*_fork and s_cbranch_join
  kVectorMemory,  // flat, global, scratch, buffer
  kLds,
  kLdsLanes,  // exchanges between lanes: no memory
  kScalarMemory,
};

// Operands of 16 bits.
enum Half : uint8_t { kH0 = 1, kH1 = 2, kH2 = 4, kHDst = 8 };

// How the elements of a packed conversion lie.
struct Elements {
  uint8_t count = 0;
  uint8_t from_bits = 0, to_bits = 0;
  bool from_selected = false;  // op_sel[1:0] says which part of src0
  bool to_selected = false;    // op_sel[3:2] says which part of vdst
  bool to_counted = false;     // src1 says which byte of vdst
  bool two_sources = false;    // odd elements come from src1
  bool seed = false;           // src1 is a random number
  bool scale = false;          // the last source is a scale
  bool amount = false;         // src2 is a shift amount
};

// Data of a memory lane that is not whole dwords.
enum class Narrow : uint8_t { kNone, kUnsigned, kSigned, kLow, kHigh };

struct Rule {
  How how = How::kNothing;
  uint8_t halves = 0;
  LaneRule lane = nullptr;
  Elements elements = {};
  Narrow narrow = Narrow::kNone;
  uint8_t narrow_bits = 0;  // 8 or 16
  bool extends = false;     // kLow, kHigh: the byte is sign-extended
  uint8_t transpose = 0;    // bits of an element
  bool formatted = false;   // through a buffer's format
};

using Rules = std::map<std::string, Rule, std::less<>>;
void AddVectorRules(Rules* rules);
void AddConversionRules(Rules* rules);
void AddScalarRules(Rules* rules);
void AddMemoryRules(Rules* rules);

// Null when the opcode has none, which a test rules out. Thread-safe.
const Rule* RuleOf(const OpInfo& op);

// Adds the rule for each of the names, which spaces separate.
void Each(Rules* rules, std::string_view names, const Rule& rule);

}  // namespace ingot::emulator::taint

#endif  // TESTS_EMULATOR_TAINT_RULES_H_
