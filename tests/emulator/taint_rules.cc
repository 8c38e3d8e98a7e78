#include "tests/emulator/taint_rules.h"

#include <algorithm>

namespace ingot::emulator::taint {

void Each(Rules* rules, std::string_view names, const Rule& rule) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (end > 0) rules->emplace(names.substr(0, end), rule);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

const Rule* RuleOf(const OpInfo& op) {
  static const Rules* const all = [] {
    auto* rules = new Rules;
    AddVectorRules(rules);
    AddConversionRules(rules);
    AddScalarRules(rules);
    AddMemoryRules(rules);
    return rules;
  }();
  if (op.cls == OpClass::kMfma) {
    static constexpr Rule kMatrixRule{How::kMatrix};
    return &kMatrixRule;
  }
  std::string_view name = op.name;
  // Memory instructions differ by their space; what they do to data does not.
  for (const std::string_view prefix :
       {"global_", "flat_", "scratch_", "buffer_", "tbuffer_"}) {
    if (name.substr(0, prefix.size()) == prefix)
      name.remove_prefix(prefix.size());
  }
  if (name.size() > 4 && name.substr(name.size() - 4) == " lds")
    name.remove_suffix(4);
  const auto it = all->find(name);
  return it == all->end() ? nullptr : &it->second;
}

}  // namespace ingot::emulator::taint
