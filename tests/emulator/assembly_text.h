// Assembly text of two disassemblers, made alike so that it can be compared.
#ifndef TESTS_EMULATOR_ASSEMBLY_TEXT_H_
#define TESTS_EMULATOR_ASSEMBLY_TEXT_H_

#include <cstdint>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace ingot::emulator {

// An instruction as words or as text.
struct Parsed {
  std::string name;
  std::vector<std::string> operands;
  std::set<std::string> modifiers;
  bool operator==(const Parsed&) const = default;
  std::string ToString() const {
    std::string s = name;
    for (const std::string& o : operands) s += " " + o + ",";
    for (const std::string& m : modifiers) s += " " + m;
    return s;
  }
};

inline bool IsNumber(const std::string& s) {
  static const std::regex number("-?(0x[0-9a-f]+|[0-9]+)");
  return std::regex_match(s, number);
}

// One spelling for each operand: numbers as their low 32 bits.
inline std::string Canonical(std::string s) {
  if (s.rfind("neg(", 0) == 0) s = "-" + s.substr(4, s.size() - 5);
  if (s.find("0.15915494") != std::string::npos)
    s = s.substr(0, s.find("0.15915494")) + "0.15915494" +
        (s.back() == '|' ? "|" : "");
  if (IsNumber(s))
    return std::to_string(static_cast<uint32_t>(std::stoll(s, nullptr, 0)));
  return s;
}

inline std::string CanonicalModifier(const std::string& m) {
  const size_t colon = m.find(':');
  if (colon != std::string::npos && IsNumber(m.substr(colon + 1)))
    return m.substr(0, colon + 1) + Canonical(m.substr(colon + 1));
  return m;
}

// Splits "name a, b, c mod mod:[x,y]".
inline Parsed Parse(std::string text) {
  Parsed p;
  const size_t comment = text.find("//");
  if (comment != std::string::npos) text.resize(comment);
  std::string word, operand;
  std::vector<std::string> words;
  int depth = 0;
  for (const char c : text + " ") {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0 && (c == ' ' || c == '\t')) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  if (words.empty()) return p;
  p.name = words[0];
  bool more = words.size() > 1;
  for (size_t n = 1; n < words.size(); ++n) {
    std::string w = words[n];
    const bool comma = w.back() == ',';
    if (comma) w.pop_back();
    // The first word may be a modifier already ("buffer_inv sc1").
    if (more && (comma || n > 1 || w.find(':') == std::string::npos)) {
      p.operands.push_back(Canonical(w));
    } else {
      p.modifiers.insert(CanonicalModifier(w));
    }
    more = comma;
  }
  return p;
}

// What LLVM spells differently, made alike.
inline void Normalise(Parsed* p) {
  static const std::regex suffix("_(e32|e64|sdwa|dpp|vi|gfx9)$");
  p->name = std::regex_replace(p->name, suffix, "");
  std::erase_if(p->modifiers, [](const std::string& m) {
    return m.rfind("format:", 0) == 0 || m == "gds";
  });
  if (p->name == "v_madmk_f16" || p->name == "v_madak_f16") {
    for (std::string& o : p->operands) {
      if (IsNumber(o)) o = std::to_string(std::stoul(o) & 0xffff);
    }
  }
  for (const char* flag : {"sc0", "sc1", "nt", "lds"}) {
    auto at = std::find(p->operands.begin(), p->operands.end(), flag);
    if (at == p->operands.end()) continue;
    p->operands.erase(at);
    p->modifiers.insert(flag);
  }
  if (p->name.rfind("s_", 0) == 0 && !p->operands.empty() &&
      p->name.find("load") + p->name.find("store") + p->name.find("atomic") +
              p->name.find("discard") !=
          4 * std::string::npos &&
      IsNumber(p->operands.back())) {
    p->modifiers.insert("offset:" + p->operands.back());
    p->operands.pop_back();
  }
}

// Takes out of `here` what LLVM does not show because the instruction has no
// use for it, and aligns lists of op_sel.
inline void Forget(const Parsed& llvm, Parsed* here) {
  const auto shows = [&](const char* name) {
    return std::any_of(
        llvm.modifiers.begin(), llvm.modifiers.end(),
        [&](const std::string& m) { return m.rfind(name, 0) == 0; });
  };
  const auto drop = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (shows(name)) continue;
      std::erase_if(here->modifiers, [&](const std::string& m) {
        return m.rfind(name, 0) == 0;
      });
    }
  };
  static const std::regex no_halves("v_dot[48]_.*|v_accvgpr.*");
  static const std::regex from_byte("v_cvt_(pk_)?f32_(fp8|bf8)");
  drop({"op_sel:", "bitop3:0"});
  if (std::regex_match(llvm.name, no_halves))
    drop({"op_sel_hi:", "neg_lo:", "neg_hi:", "clamp"});
  if (std::regex_match(llvm.name, from_byte)) drop({"dst_sel:", "dst_unused:"});
  if (llvm.name.rfind("s_dcache_discard", 0) == 0) drop({"glc"});
  if (llvm.name == "buffer_inv" || llvm.name == "buffer_wbl2") drop({"nt"});
}

// "op_sel:[a,b,d]" of two sources as "op_sel:[a,b,0,d]".
inline std::string FourBits(const std::string& m) {
  static const std::regex three("op_sel:\\[(.),(.),(.)\\]"),
      two("op_sel:\\[(.),(.)\\]");
  return std::regex_replace(std::regex_replace(m, three, "op_sel:[$1,$2,0,$3]"),
                            two, "op_sel:[$1,0,0,$2]");
}

// Instructions whose immediates LLVM spells as words.
inline bool OnlyName(const std::string& name) {
  static const std::set<std::string> names = {
      "s_getreg_b32",     "s_setreg_b32",       "s_setreg_imm32_b32",
      "s_waitcnt",        "s_sendmsg",          "s_sendmsghalt",
      "s_set_gpr_idx_on", "s_set_gpr_idx_mode", "ds_swizzle_b32",
      "s_atc_probe",      "s_atc_probe_buffer", "s_nop"};
  return names.count(name) != 0 || name.rfind("ds_gws", 0) == 0;
}

// What LLVM reads though the processor has no such thing: the ISA document
// knows neither the instruction nor packed math under SDWA.
inline bool Absent(const std::string& name, const std::string& text) {
  if (name == "v_screen_partition_4se_b32") return true;
  if (name == "v_nop" || name == "v_clrexcp")
    return text.find("_mask") != std::string::npos || text.size() < 12;
  if (name == "v_mfma_ld_scale_b32") return true;  // half of an instruction
  static const std::regex registers_only(
      "v_(mfma|smfmac|accvgpr|swap|permlane).*");
  if (std::regex_match(name, registers_only) &&
      text.find("src_") != std::string::npos) {
    return true;
  }
  return text.find("v_pk_fmac_f16_sdwa") != std::string::npos ||
         (name.find("f8f6f4") != std::string::npos &&
          std::regex_search(text, std::regex("(cbsz|blgp):[5-7]")));
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_ASSEMBLY_TEXT_H_
