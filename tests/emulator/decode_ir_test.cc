// The decoder against LLVM's disassembler: every opcode of every format with
// random fields. What both read must come out as the same text; what LLVM reads
// must be an instruction here too.
#include <gtest/gtest.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/emulator/assembly_text.h"
#include "tests/emulator/decode.h"
#include "tests/emulator/disassemble.h"
#include "tests/emulator/interp/interpreter.h"

namespace ingot::emulator {
namespace {

class DecodeAgainstLlvm : public testing::Test {
 protected:
  void SetUp() override {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    llvm_ = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", "gfx950", nullptr, 0,
                                nullptr, nullptr);
    ASSERT_NE(llvm_, nullptr);
  }
  void TearDown() override { LLVMDisasmDispose(llvm_); }

  // Size in bytes, 0 when LLVM knows no such instruction.
  size_t Llvm(const std::vector<uint32_t>& words, std::string* text) {
    char buffer[512];
    std::vector<uint32_t> copy = words;
    const size_t size =
        LLVMDisasmInstruction(llvm_, reinterpret_cast<uint8_t*>(copy.data()),
                              copy.size() * 4, 0, buffer, sizeof(buffer));
    *text = buffer;
    return size;
  }

  uint32_t Random(uint32_t below) { return random_() % below; }
  uint32_t Aligned(uint32_t below) { return random_() % below & ~3u; }

  // A source code: registers that fit a tuple, constants, the special ones.
  uint32_t SourceCode() {
    static constexpr uint32_t kSpecial[] = {106, 124, 126, 102, 235, 236,
                                            237, 238, 251, 252, 253, 255};
    switch (Random(8)) {
      case 0:
        return Aligned(100);
      case 1:
        return 128 + Random(81);
      case 2:
        return 240 + Random(9);
      case 3:
        return kSpecial[Random(12)];
      default:
        return 256 + Aligned(224);
    }
  }
  // The 64-bit encodings have no place for a literal.
  uint32_t WideCode() {
    const uint32_t code = SourceCode();
    return code == 255 ? 128 : code;
  }
  uint32_t ScalarCode() {
    const uint32_t code = SourceCode();
    return code < 256 ? code : Aligned(100);
  }

  void Check(const std::vector<uint32_t>& words) {
    ++tried_;
    std::string text;
    size_t size = Llvm(words, &text);
    // LLVM's own doubts.
    if (text.find("/*") != std::string::npos ||
        text.find("Warning") != std::string::npos) {
      size = 0;
    }
    Inst inst;
    const bool ours = decoder_.Decode(words.data(), words.size(), &inst);
    if (size == 0) return;
    Parsed llvm = Parse(text);
    Normalise(&llvm);
    ++seen_[llvm.name];
    char hex[64];
    std::snprintf(hex, sizeof(hex), " (%08x %08x)", words[0], words[1]);
    if (!ours) {
      if (Absent(llvm.name, text)) return;
      refused_.emplace(llvm.name, text + hex);
      return;
    }
    if (llvm.name == "v_mfma_ld_scale_b32") return;
    ++compared_;
    Parsed here = Parse(Disassemble(inst));
    Normalise(&here);
    Forget(llvm, &here);
    if (inst.format == Format::kVop3) {
      std::set<std::string> four;
      for (const std::string& m : llvm.modifiers) four.insert(FourBits(m));
      llvm.modifiers = four;
    }
    // Signs of packed halves in VOP2 have no defined meaning.
    static const std::regex packed("v_dot2c_f32.*|v_pk_fmac_f16|v_ldexp_f16");
    if (std::regex_match(llvm.name, packed)) llvm.operands = here.operands;
    if (OnlyName(llvm.name)) {
      llvm.operands = here.operands;
      llvm.modifiers = here.modifiers;
    }
    if (llvm == here && size == inst.size) return;
    different_.emplace(llvm.name,
                       "LLVM:" + text + "\n  here: " + Disassemble(inst) + hex +
                           " " + llvm.ToString() + " / " + here.ToString());
  }

  // Reports what was found, and that it was enough to mean something.
  void Conclude(int at_least) {
    for (const auto& [name, what] : refused_)
      ADD_FAILURE() << name << " is unknown here: " << what;
    for (const auto& [name, what] : different_)
      ADD_FAILURE() << name << " differs\n  " << what;
    EXPECT_GE(compared_, at_least);
  }

  const Decoder decoder_{ChooseInterpreter()};
  LLVMDisasmContextRef llvm_ = nullptr;
  std::mt19937 random_{950};
  int tried_ = 0, compared_ = 0;
  std::map<std::string, int> seen_;
  std::map<std::string, std::string> refused_, different_;
};

TEST_F(DecodeAgainstLlvm, Scalar) {
  for (uint32_t n = 0; n < 60; ++n) {
    for (uint32_t op = 0; op < 256; ++op) {
      const uint32_t sdst = Random(4) == 0 ? 106 : Aligned(100);
      const uint32_t literal = random_();
      const uint32_t s0 = ScalarCode(), s1 = ScalarCode();
      Check({0xbe800000 | sdst << 16 | op << 8 | s0, literal, 0, 0});
      if (op < 0x60)
        Check(
            {0x80000000 | op << 23 | sdst << 16 | s1 << 8 | s0, literal, 0, 0});
      if (op < 0x80) {
        Check({0xbf000000 | op << 16 | s1 << 8 | s0, literal, 0, 0});
        Check({0xbf800000 | op << 16 | Random(0x10000), literal, 0, 0});
      }
      if (op < 0x1d)
        Check({0xb0000000 | op << 23 | sdst << 16 | Random(0x10000), literal, 0,
               0});
    }
  }
  Conclude(8000);
}

TEST_F(DecodeAgainstLlvm, ScalarMemory) {
  for (uint32_t n = 0; n < 100; ++n) {
    for (uint32_t op = 0; op < 256; ++op) {
      // SOE and IMM with the offset fields they leave in use.
      const uint32_t imm = Random(2), soe = Random(2);
      const uint32_t offset = imm != 0 ? Random(1u << 21) : Aligned(100);
      const uint32_t second = soe != 0 ? Aligned(100) << 25 : 0;
      uint32_t data = Aligned(80) << 6, base = Aligned(100) / 2;
      if (op >= 0x20 && op < 0x26) base = 0;
      if (op >= 0x20 && op < 0x24) data = 0;
      const bool none = op >= 0x20 && op < 0x26;
      Check({0xc0000000 | op << 18 | (none ? 0 : imm << 17 | soe << 14) |
                 (Random(2) != 0 && !none ? 1u << 16 : 0) | data | base,
             none                   ? 0
             : imm != 0 || soe == 0 ? offset | second
                                    : second,
             0, 0});
    }
  }
  Conclude(5000);
}

TEST_F(DecodeAgainstLlvm, Vector) {
  for (uint32_t n = 0; n < 150; ++n) {
    for (uint32_t op = 0; op < 256; ++op) {
      const uint32_t dst = Aligned(250), v1 = Aligned(250);
      const uint32_t literal = random_();
      uint32_t s0 = SourceCode();
      Check({0x7e000000 | dst << 17 | op << 9 | s0, literal, 0, 0});
      Check({0x7e000000 | op << 9, literal, 0, 0});
      s0 = SourceCode();
      Check({0x7c000000 | op << 17 | v1 << 9 | s0, literal, 0, 0});
      s0 = SourceCode();
      // LLVM shows a literal of v_madmk_f16 and v_madak_f16 twice, differently.
      if (op == 0x24 || op == 0x25) s0 = 256;
      if (op < 62) Check({op << 25 | dst << 17 | v1 << 9 | s0, literal, 0, 0});
    }
  }
  Conclude(20000);
}

TEST_F(DecodeAgainstLlvm, Sdwa) {
  for (uint32_t n = 0; n < 150; ++n) {
    for (uint32_t op = 0; op < 256; ++op) {
      const uint32_t dst = Aligned(250), v1 = Aligned(100);
      const bool scalar0 = Random(4) == 0, scalar1 = Random(4) == 0;
      const uint32_t signs = Random(4) == 0 ? random_() & 0x38380000 : 0;
      const uint32_t one =
          Aligned(100) | scalar0 << 23 | Random(7) << 16 | (signs & 0x380000);
      const uint32_t two = one | scalar1 << 31 | Random(7) << 24 | signs;
      const uint32_t result = Random(7) << 8 | Random(3) << 11 |
                              (Random(4) == 0 ? Random(8) << 13 : 0);
      const uint32_t mask = Random(2) << 15 | Aligned(100) << 8;
      Check({0x7e000000 | dst << 17 | op << 9 | 249, one | result, 0, 0});
      Check({0x7c000000 | op << 17 | v1 << 9 | 249, two | mask, 0, 0});
      if (op < 62)
        Check({op << 25 | dst << 17 | v1 << 9 | 249, two | result, 0, 0});
    }
  }
  Conclude(10000);
}

TEST_F(DecodeAgainstLlvm, Dpp) {
  static constexpr uint32_t kControls[] = {0x130, 0x134, 0x138, 0x13c,
                                           0x140, 0x141, 0x142, 0x143};
  for (uint32_t n = 0; n < 200; ++n) {
    for (uint32_t op = 0; op < 256; ++op) {
      const uint32_t dst = Aligned(250), v1 = Aligned(250);
      const uint32_t control = Random(3) == 0 ? kControls[Random(8)]
                               : Random(2) == 0
                                   ? Random(256)
                                   : 0x101 + Random(15) + (Random(3) << 4);
      const uint32_t signs = Random(3) == 0 ? random_() & 0xf00000 : 0;
      const uint32_t extra = Aligned(250) | control << 8 | Random(2) << 19 |
                             signs | Random(256) << 24;
      Check({0x7e000000 | dst << 17 | op << 9 | 250, extra & ~0xc00000u, 0, 0});
      if (op < 62) Check({op << 25 | dst << 17 | v1 << 9 | 250, extra, 0, 0});
    }
  }
  Conclude(10000);
}

TEST_F(DecodeAgainstLlvm, Vop3) {
  for (uint32_t n = 0; n < 150; ++n) {
    for (uint32_t op = 0; op < 0x300; ++op) {
      const uint32_t dst = op < 0x100 || op == 0x289 || op == 0x28a
                               ? Aligned(100)
                               : Aligned(220);
      const uint32_t s0 = WideCode(), s1 = WideCode(), s2 = WideCode();
      // Fields that an instruction lacks must be 0 for LLVM: try each count.
      const uint32_t count = 1 + Random(3);
      uint32_t low = 0xd0000000 | op << 16 | dst;
      uint32_t high =
          s0 | (count > 1 ? s1 << 9 : 0) | (count > 2 ? s2 << 18 : 0);
      switch (Random(6)) {
        case 0:
          low |= Random(16) << 11;
          break;
        case 1:
          low |= 0x8000;
          break;
        case 2:
          high |= Random(4) << 27;
          break;
        case 3:
          high |= Random(1u << count) << 29;
          low |= Random(1u << count) << 8;
          break;
        case 4:  // VOP3B: sdst, a mask as src2
          low |= Aligned(100) << 8;
          high = s0 | s1 << 9 | (Random(2) != 0 ? Aligned(100) << 18 : 0);
          break;
      }
      Check({low, high, 0, 0});
    }
  }
  Conclude(20000);
}

TEST_F(DecodeAgainstLlvm, Packed) {
  for (uint32_t n = 0; n < 400; ++n) {
    for (uint32_t op = 0; op < 0x5a; ++op) {
      // The matrix instructions have a test of their own.
      if (op >= 0x2c && op < 0x58 && op >> 2 != 0xc) continue;
      const uint32_t s0 = WideCode(), s1 = WideCode(), s2 = WideCode();
      const uint32_t count = 1 + Random(3);
      uint32_t low = 0xd3800000 | op << 16 | Aligned(200);
      uint32_t high =
          s0 | (count > 1 ? s1 << 9 : 0) | (count > 2 ? s2 << 18 : 0);
      if (Random(2) != 0) {
        low |= 1u << 14;
        high |= 3u << 27;
      }
      if (Random(2) != 0) {
        low |= Random(1u << count) << 11 | Random(1u << count) << 8 |
               Random(2) << 15 | Random(2) << 14;
        high |= Random(4) << 27 | Random(1u << count) << 29;
      }
      Check({low, high, 0, 0});
    }
  }
  Conclude(5000);
}

TEST_F(DecodeAgainstLlvm, Matrix) {
  for (uint32_t n = 0; n < 800; ++n) {
    for (uint32_t op = 0x2d; op < 128; ++op) {
      if (op >= 0x30 && op < 0x34) continue;  // packed f32
      if (op == 0x58 || op == 0x59) continue;
      const uint32_t c = Random(3) == 0 ? WideCode() : 256 + Aligned(100);
      uint32_t low = 0xd3800000 | op << 16 | Aligned(200);
      uint32_t high = (256 + Aligned(220)) | (256 + Aligned(220)) << 9 |
                      c << 18 | Random(4) << 27;
      low |= Random(2) << 15;
      if (Random(2) != 0) low |= Random(8) << 8;
      if (Random(4) == 0) low |= Random(16) << 11;
      if (Random(2) != 0) high |= Random(8) << 29;
      if (op > 0x2e) {
        Check({low, high, 0, 0});
        continue;
      }
      low &= ~0x7800u;
      Check({low, high, 0, 0});
      const uint32_t scales = (256 + Random(256)) | (256 + Random(256)) << 9;
      Check({0xd3ac0000 | Random(4) << 11, scales | Random(4) << 27,
             low | 0x800, high});
    }
  }
  Conclude(10000);
}

TEST_F(DecodeAgainstLlvm, Lds) {
  for (uint32_t n = 0; n < 200; ++n) {
    for (uint32_t op = 0; op < 256; ++op) {
      const uint32_t fields = random_();
      uint32_t high = 0;
      if ((fields & 7) != 0) high |= Aligned(250);
      if ((fields & 0x10) != 0) high |= Aligned(250) << 8;
      if ((fields & 0x20) != 0) high |= Aligned(250) << 16;
      if ((fields & 0x40) != 0) high |= Aligned(250) << 24;
      Check({0xd8000000 | op << 17 | Random(0x10000) | (fields >> 8 & 1) << 25,
             high, 0, 0});
    }
  }
  Conclude(5000);
}

TEST_F(DecodeAgainstLlvm, Buffer) {
  for (uint32_t n = 0; n < 200; ++n) {
    for (uint32_t op = 0; op < 128; ++op) {
      const uint32_t soffset = ScalarCode();
      const uint32_t high = Aligned(250) | Aligned(250) << 8 |
                            (Aligned(100) / 4) << 16 |
                            (soffset == 255 ? 128 : soffset) << 24;
      const uint32_t bits = Random(0x4000) | Random(4) << 14 | Random(2) << 17;
      Check({0xe0000000 | op << 18 | bits, high | Random(2) << 23, 0, 0});
      Check({0xe0010000 | op << 18 | bits, high & ~0xff00u, 0, 0});
      Check({0xe0000000 | op << 18 | (bits & 0x2c000), 0, 0, 0});
      if (op < 16)
        Check({0xe8000000 | op << 15 | (bits & 0x7fff) | Random(128) << 19,
               high | Random(8) << 21, 0, 0});
    }
  }
  Conclude(8000);
}

TEST_F(DecodeAgainstLlvm, FlatGlobalScratch) {
  for (uint32_t n = 0; n < 200; ++n) {
    for (uint32_t op = 0; op < 128; ++op) {
      for (uint32_t segment = 0; segment < 3; ++segment) {
        const uint32_t fields = random_();
        uint32_t high = Aligned(250);
        if ((fields & 1) != 0) high |= Aligned(250) << 8;
        if ((fields & 2) != 0) high |= Aligned(250) << 24;
        if ((fields & 4) != 0) high |= 1u << 23;
        high |= ((fields & 8) != 0 || segment == 0 ? segment == 0 ? 0u : 0x7fu
                                                   : Aligned(100))
                << 16;
        const uint32_t offset = Random(segment == 0 ? 0x1000 : 0x2000);
        const uint32_t sve = segment == 1 ? Random(2) << 13 : 0;
        if (segment == 1 && sve == 0) high &= ~0xffu;
        Check({0xdc000000 | op << 18 | segment << 14 | offset | sve |
                   Random(4) << 16 | Random(2) << 25,
               high, 0, 0});
      }
    }
  }
  Conclude(8000);
}

}  // namespace
}  // namespace ingot::emulator
