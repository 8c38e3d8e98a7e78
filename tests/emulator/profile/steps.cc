#include "tests/emulator/profile/steps.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace ingot::profile {
namespace {

Step StepOf(const Executed& e) {
  Step step;
  step.cls = e.facts.cls;
  step.unit_clocks = e.facts.clocks;
  step.slots = e.facts.slots;
  const double count = static_cast<double>(e.count);
  const MemoryUse& m = e.memory;
  step.lds_clocks = static_cast<double>(m.lds_clocks) / count;
  step.vmem_clocks = static_cast<double>(m.vmem_clocks) / count;
  step.l2_bytes =
      static_cast<double>(m.first_lines * kCacheLineBytes + m.global.written) /
      count;
  step.counts_vm = step.cls == Class::kVmem || step.cls == Class::kLdsDma;
  step.counts_lgkm = step.cls == Class::kLds || step.cls == Class::kSmem;
  step.waits = WaitsOf(*e.inst);
  if (std::string_view(e.inst->op->name) == "s_setprio") {
    step.priority = e.inst->imm & 3;
  }
  return step;
}

MatrixWidth WidthOf(const Recording& recording) {
  double clocks[3] = {};
  for (const auto& [offset, e] : recording.program) {
    if (e.facts.cls != Class::kMfma) continue;
    const int bits = e.facts.matrix_bits;
    const MatrixWidth width = bits > 8    ? MatrixWidth::k16
                              : bits == 8 ? MatrixWidth::k8
                                          : MatrixWidth::kSmall;
    clocks[static_cast<int>(width)] +=
        static_cast<double>(e.count) * e.facts.clocks;
  }
  return static_cast<MatrixWidth>(std::max_element(clocks, clocks + 3) -
                                  clocks);
}

}  // namespace

double Trace::L2Bytes() const {
  double bytes = 0;
  for (const std::vector<uint32_t>& wave : waves) {
    for (const uint32_t step : wave) bytes += steps[step].l2_bytes;
  }
  return bytes;
}

Trace TraceOf(const Recording& recording) {
  Trace trace;
  trace.width = WidthOf(recording);
  std::unordered_map<uint32_t, uint32_t> index;
  for (const std::vector<uint32_t>& wave : recording.trace) {
    std::vector<uint32_t>& to = trace.waves.emplace_back();
    to.reserve(wave.size());
    for (const uint32_t offset : wave) {
      const auto [found, added] =
          index.emplace(offset, static_cast<uint32_t>(trace.steps.size()));
      if (added) trace.steps.push_back(StepOf(recording.program.at(offset)));
      to.push_back(found->second);
    }
  }
  return trace;
}

}  // namespace ingot::profile
