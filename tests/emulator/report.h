// Words for what stopped a kernel.
#ifndef TESTS_EMULATOR_REPORT_H_
#define TESTS_EMULATOR_REPORT_H_

#include <string>

#include "tests/emulator/wave.h"

namespace ingot::emulator {

// Kernel, instruction, workgroup, wave, lane and address of a wave's fault.
std::string FaultReport(const Wave& wave);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_REPORT_H_
