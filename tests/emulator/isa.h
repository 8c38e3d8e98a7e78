// The decoded form of a gfx950 instruction and the description of an opcode.
//
// The decoder (decode.h) turns encoding words into an Inst once per program
// counter; the interpreter runs Inst::run. Nothing here knows semantics.
#ifndef TESTS_EMULATOR_ISA_H_
#define TESTS_EMULATOR_ISA_H_

#include <cstdint>

namespace ingot::emulator {

struct Wave;
struct Inst;

inline constexpr int kLanes = 64;
inline constexpr int kVgprs = 512;  // 256 architectural, then 256 accumulation
inline constexpr int kAccBase = 256;
inline constexpr int kSgprs = 128;

inline constexpr int kFlatScratch = 102;
inline constexpr int kVcc = 106;
inline constexpr int kM0 = 124;
inline constexpr int kExec = 126;

// Bits 63:32 of generic addresses that mean LDS and scratch.
inline constexpr uint64_t kSharedAperture = uint64_t{1} << 48;
inline constexpr uint64_t kPrivateAperture = uint64_t{2} << 48;

enum class Format : uint8_t {
  kSop1,
  kSop2,
  kSopk,
  kSopc,
  kSopp,
  kSmem,
  kVop1,
  kVop2,
  kVopc,
  kVop3,
  kVop3p,
  kDs,
  kMubuf,
  kMtbuf,
  kFlat,
  kGlobal,
  kScratch,
  kCount,
};

// What an opcode belongs to in statistics.
enum class OpClass : uint8_t {
  kSalu,
  kSmem,
  kBranch,
  kWait,
  kBarrier,
  kValu,
  kTrans,
  kMfma,
  kLds,
  kVmem,
  kLdsDma,
  kCount,
};

// How a source operand's encoding becomes bits: inline constants and literals
// depend on the operand's type.
enum class SrcKind : uint8_t {
  kNone,
  kB32,  // integers; float constants as f32
  kF32,
  kF16,    // float constants as f16
  kB16,    // 16-bit integers; float constants as f16
  kBf16,   // float constants as bf16
  kB64,    // integers sign-extend, float constants as f64
  kI64,    // as kB64; a literal sign-extends
  kF64,    // as kB64; a literal is the high half
  kPk16,   // packed f16: the constant in the low half only
  kPk32,   // packed f32: the constant in both registers
  kMask,   // a 64-bit lane mask in SGPRs
  kVgprs,  // a tuple of VGPRs (or an inline constant, repeated)
};

// Facts of an opcode beyond its operands.
enum OpFlag : uint32_t {
  kWritesSgpr = 1u << 0,     // vdst names an SGPR (readlane)
  kWritesMask = 1u << 1,     // sdst (VOP3B) or VCC receives a lane mask
  kReadsVcc = 1u << 2,       // VOP2: src2 is VCC; VOP3: src2 is a mask
  kReadsDst = 1u << 3,       // accumulates into vdst, which becomes src2
  kCompare = 1u << 4,        // VOPC: the destination is a mask
  kWritesExec = 1u << 5,     // v_cmpx
  kLiteralMiddle = 1u << 6,  // v_madmk: literal between the sources
  kLiteralLast = 1u << 7,    // v_madak: literal after the sources
  kSdst = 1u << 8,           // VOP3 with an sdst field (VOP3B)
  kPreservesHigh = 1u << 9,  // 16-bit result keeps the other half
  kAccSource = 1u << 10,     // v_accvgpr_read, v_accvgpr_mov: src0 is an AGPR
  kAccDest = 1u << 11,       // v_accvgpr_write, v_accvgpr_mov: vdst is an AGPR
  kSwaps = 1u << 12,         // src0 is written too
  kLoad = 1u << 13,          // memory: writes registers
  kStore = 1u << 14,         // memory: reads data registers
  kAtomic = 1u << 15,        // memory: read-modify-write
  kLdsDest = 1u << 16,       // memory to LDS
  kTwoAddress = 1u << 17,    // DS read2/write2/wrxchg2: two offsets
  kReturns = 1u << 18,       // DS: writes vdst
  kNoAddress = 1u << 19,     // DS: no address VGPR
  kTruthTable = 1u << 19,    // VOP3: the modifiers are v_bitop3's table
  kTwoData = 1u << 20,       // DS: data1 is used
  kNoSdst = 1u << 21,        // scalar: the sdst field is not written
  kReadsSdst = 1u << 22,     // scalar: the sdst field is read
  kReadsM0 = 1u << 23,
  kMayRound = 1u << 24,  // result depends on MODE's f32 rounding field
  kEndsRun = 1u << 25,   // branch, barrier, end
  kScaled = 1u << 26,    // MFMA that may carry scales
  kSparse = 1u << 27,    // SMFMAC: src2 is the index, vdst accumulates
  kNoExtra = 1u << 28,   // has neither a DPP nor an SDWA form
  kReadsScc = 1u << 29,
  kReadsOld = 1u << 31,  // keeps part of what vdst held
  kRounds64 = 1u << 30,  // … by the f16/f64 rounding field
};

using Handler = void (*)(Wave&, const Inst&);

// One line of an opcode table.
struct OpInfo {
  uint16_t opcode = 0;
  const char* name = nullptr;
  Handler run = nullptr;
  OpClass cls = OpClass::kValu;
  uint32_t flags = 0;
  uint8_t dst_words = 1;  // registers written at vdst (or sdst)
  uint8_t src_words[3] = {0, 0, 0};
  SrcKind src_kind[3] = {SrcKind::kNone, SrcKind::kNone, SrcKind::kNone};
  uint8_t bytes = 0;  // memory: bytes a lane moves
};

// ds_read_b64_tr_b4, ds_read_b96_tr_b6, ds_read_b64_tr_b8 and _b16.
constexpr bool IsTransposingRead(const OpInfo& op) {
  return op.cls == OpClass::kLds && op.opcode >= 0xe0 && op.opcode <= 0xe3;
}

struct OpTable {
  const OpInfo* ops = nullptr;
  int count = 0;
};

// The instruction set as one build of the interpreter implements it.
struct InstructionSet {
  OpTable table[static_cast<int>(Format::kCount)];
  // Families that share a format with another.
  struct More {
    Format format;
    OpTable table;
  } more[4];
  // Runs a wave until it blocks, ends, faults or used up `budget` instructions.
  void (*run)(Wave& wave, int64_t budget);
  const char* name;  // the host level, "x86-64-v3"
};

struct Operand {
  enum Kind : uint8_t { kNone, kVgpr, kSgpr, kConst, kVccz, kExecz, kScc };
  Kind kind = kNone;
  uint16_t reg = 0;    // VGPR 0..511 or SGPR 0..127; kConst: source code
  uint64_t value = 0;  // kConst, already of the operand's type
};

enum class Extra : uint8_t { kNone, kDpp, kSdwa };

// Registers an instruction touches, for the checks; `first` counts VGPRs from 0
// and SGPRs from kSgprSpace.
inline constexpr uint16_t kSgprSpace = 512;
struct RegRange {
  uint16_t first = 0;
  uint16_t count = 0;
};

struct Inst {
  Handler run = nullptr;
  const OpInfo* op = nullptr;
  uint32_t index = 0;  // among the program's, in the order of decoding
  Format format = Format::kCount;
  Operand src[3];
  uint16_t dst = 0;   // VGPR (or SGPR for scalar formats and kWritesSgpr)
  uint16_t sdst = 0;  // SGPR of the mask result
  uint16_t data = 0;  // memory: VGPR of the data, DS data0
  uint16_t data1 = 0;
  uint16_t saddr = 0;  // SGPR base; kNoSaddr when off
  int32_t imm = 0;     // simm16, or the memory offset
  uint8_t size = 0;    // bytes
  uint8_t neg = 0;     // per source; VOP3P: low halves
  uint8_t abs = 0;     // per source; VOP3P: neg of high halves
  uint8_t op_sel = 0;
  uint8_t op_sel_hi = 0;
  uint8_t omod = 0;
  bool clamp = false;
  bool plain = true;  // no modifier of sources or result at all
  Extra extra = Extra::kNone;
  // DPP
  uint16_t dpp_ctrl = 0;
  uint8_t row_mask = 0xf, bank_mask = 0xf;
  bool bound_ctrl = false;
  // SDWA
  uint8_t dst_sel = 6, dst_unused = 0, src_sel[2] = {6, 6}, src_sext = 0;
  // MFMA
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  bool scaled = false;
  uint8_t scale_sel[2] = {0, 0};
  Operand scale[2];
  // Memory
  bool offen = false, idxen = false, sc0 = false, sc1 = false, nt = false;
  bool sve = false, acc = false;
  uint8_t dfmt = 0, nfmt = 0;  // MTBUF: data and number format
  uint8_t reads_count = 0, writes_count = 0;
  RegRange reads[8];
  RegRange writes[3];
  uint32_t words[5] = {};
};

inline constexpr uint16_t kNoSaddr = 0x7f;

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_ISA_H_
