// What is known of an instruction before it runs, as far as a profile asks.
#ifndef TESTS_EMULATOR_PROFILE_FACTS_H_
#define TESTS_EMULATOR_PROFILE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/emulator/isa.h"
#include "tests/emulator/profile/rates.h"

namespace ingot::profile {

enum class Class : uint8_t {
  kMfma,
  kValu,
  kTrans,
  kSalu,
  kSmem,
  kLds,
  kVmem,
  kLdsDma,
  kBranch,
  kWait,
  kBarrier,
  kNop,
  kCount,
};
inline constexpr int kClasses = static_cast<int>(Class::kCount);

// "mfma", "valu", …: stable, they are keys of the JSON form.
const char* NameOf(Class c);

struct Facts {
  Class cls = Class::kSalu;
  int clocks = 0;          // of the matrix, vector or scalar unit
  int slots = 1;           // issue slots
  double flops = 0;        // of the wave; of a lane when by_lane
  bool by_lane = false;    // a vector instruction, masked by EXEC
  bool acc_move = false;   // v_accvgpr_read, _write, _mov
  bool exchanges = false;  // LDS unit, but no memory: permutes
  int matrix_bits = 0;     // MFMA: of the wider operand's elements
  bool calls = false;      // s_swappc_b64, s_call_b64
  bool ends = false;       // s_endpgm
  bool goes_on = true;     // may fall through
};

Facts FactsOf(const emulator::Inst& inst);

// From a name such as "v_mfma_f32_32x32x4_2b_f16"; empty for other names. The
// formats of f8f6f4 are not in the name.
std::optional<MatrixShape> ParseMatrix(std::string_view name);

// How much an s_waitcnt leaves outstanding; the most does not wait.
inline constexpr int kMostVm = 63, kMostExp = 7, kMostLgkm = 15;
struct Waits {
  int vm = kMostVm;
  int exp = kMostExp;
  int lgkm = kMostLgkm;
};
Waits WaitsOf(const emulator::Inst& inst);

// "vmcnt(8) lgkmcnt(0)", what an s_waitcnt waits for; "-" when for nothing.
std::string WaitText(const emulator::Inst& inst);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_FACTS_H_
