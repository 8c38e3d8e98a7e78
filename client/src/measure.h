// Timing launches on the device, and reading what they wrote: what an autotuner
// needs besides launching.
#ifndef INGOT_CLIENT_SRC_MEASURE_H_
#define INGOT_CLIENT_SRC_MEASURE_H_

#include <cstdint>

#include "client/include/ingot/ingot.h"
#include "client/src/hip_api.h"
#include "client/src/prepared.h"

namespace ingot::client {

// ingot_measure; `args` are at least one and checked, `options` filled in but
// for `launches`.
Status Measure(const Prepared& prepared, HipStream stream,
               const ingot_launch_args* const* args, uint32_t args_count,
               const ingot_measure_options& options,
               ingot_measurement* measurement);

// ingot_read_operand.
Status ReadOperand(const Prepared& prepared, const ingot_launch_args& args,
                   uint32_t index, void* to, uint64_t* bytes);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_MEASURE_H_
