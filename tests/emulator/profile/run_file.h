// Profiles a kernel of a code object in a file.
#ifndef TESTS_EMULATOR_PROFILE_RUN_FILE_H_
#define TESTS_EMULATOR_PROFILE_RUN_FILE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/status.h"
#include "tests/emulator/profile/profile.h"

namespace ingot::profile {

struct FileRequest {
  std::string path;
  std::string kernel;                  // empty: the only one
  std::string grid;                    // "X", "X,Y" or "X,Y,Z"; workgroups
  std::string block;                   // work-items
  uint32_t lds = 0;                    // dynamic, bytes
  std::vector<std::string> arguments;  // as kArgumentForms
  std::string arguments_file;          // as ParseArgumentsJson; replaces them
  uint64_t most_groups = 0;            // 0: all
};

// DATA_LOSS when the file is not a code object for gfx950; INVALID_ARGUMENT for
// the request; ABORTED with the device's report when the kernel faults.
absl::StatusOr<Profile> ProfileFile(const FileRequest& request);

// What a run that was not ok means, in the terms above.
absl::Status StatusOf(const emulator::RunResult& result);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_RUN_FILE_H_
