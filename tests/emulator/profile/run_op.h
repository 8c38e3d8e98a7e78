// Profiles the kernels that an op's plan launches, compiled in this process.
#ifndef TESTS_EMULATOR_PROFILE_RUN_OP_H_
#define TESTS_EMULATOR_PROFILE_RUN_OP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/spec.h"
#include "proto/status.h"
#include "tests/emulator/profile/profile.h"

namespace ingot::profile {

struct OpRequest {
  Spec spec;
  std::map<std::string, int64_t> dims;  // one for each dim of the op
  uint64_t most_groups = 0;             // of each launch; 0: all
  bool one_xcd = false;                 // as ProfileRequest's
  // Whether operands are filled with random numbers, which large ones take long
  // for and counts do not depend on.
  bool fill = true;
  // Rows of the groups: equal shares, or by turns 0.62, 1 and 1.38 of that.
  bool skewed = false;
};

struct OpProfile {
  std::string variant;
  std::vector<Profile> launches;
};

// Operands are random numbers if asked for, scalars their defaults.
// INVALID_ARGUMENT for dims that are missing; else what planning and compiling
// say; ABORTED with the device's report when a kernel faults.
absl::StatusOr<OpProfile> ProfileOp(const OpRequest& request);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_RUN_OP_H_
