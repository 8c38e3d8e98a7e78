#include "tests/emulator/decode.h"

#include <cstdio>

#include "tests/emulator/decode_fields.h"
#include "tests/emulator/disassemble.h"

namespace ingot::emulator {

Decoder::Decoder(const InstructionSet& set) {
  for (int f = 0; f < static_cast<int>(Format::kCount); ++f) {
    by_opcode_[f].resize(1024, nullptr);
    for (int n = 0; n < set.table[f].count; ++n) {
      const OpInfo& op = set.table[f].ops[n];
      by_opcode_[f][op.opcode] = &op;
    }
  }
  for (const InstructionSet::More& more : set.more) {
    for (int n = 0; n < more.table.count; ++n) {
      const OpInfo& op = more.table.ops[n];
      by_opcode_[static_cast<int>(more.format)][op.opcode] = &op;
    }
  }
}

bool Decoder::Find(Format format, uint32_t opcode, Inst* i) const {
  const OpInfo* op = by_opcode_[static_cast<int>(format)][opcode];
  if (op == nullptr) return false;
  i->op = op;
  i->format = format;
  i->run = op->run;
  return true;
}

bool Decoder::Decode(const uint32_t* words, size_t count, Inst* out) const {
  *out = Inst();
  if (count == 0) return false;
  const Bits b{words, count};
  const uint32_t w = words[0];
  bool ok = false;
  if (w >> 31 == 0) {
    ok = Vector12c(b, out);
  } else if (w >> 30 == 2) {
    ok = Scalar(b, out);
  } else if (w >> 26 == 0x30) {
    ok = count >= 2 && ScalarMemory(b, out);
  } else if (w >> 23 == 0x1a7) {
    ok = count >= 2 && Vector3p(b, out);
  } else if (w >> 26 == 0x34) {
    ok = count >= 2 && Vector3(b, out);
  } else if (w >> 26 == 0x36) {
    ok = count >= 2 && Ds(b, out);
  } else if (w >> 26 == 0x37) {
    ok = count >= 2 && FlatLike(b, out);
  } else if (w >> 26 == 0x38) {
    ok = count >= 2 && Mubuf(b, out);
  } else if (w >> 26 == 0x3a) {
    ok = count >= 2 && Mtbuf(b, out);
  }
  if (!ok || out->size / 4u > count || !RegistersExist(*out)) return false;
  for (int n = 0; n < out->size / 4; ++n) out->words[n] = words[n];
  return true;
}

std::string Describe(const Inst& inst) {
  std::string text =
      inst.op != nullptr ? Disassemble(inst) : "unknown instruction";
  text += " (";
  for (int n = 0; n < inst.size / 4; ++n) {
    char word[16];
    std::snprintf(word, sizeof(word), "%s%08x", n == 0 ? "" : " ",
                  inst.words[n]);
    text += word;
  }
  return text + ")";
}

}  // namespace ingot::emulator
