// A profile for people and for programs.
#ifndef TESTS_EMULATOR_PROFILE_PRINT_H_
#define TESTS_EMULATOR_PROFILE_PRINT_H_

#include <string>
#include <vector>

#include "tests/emulator/profile/profile.h"

namespace ingot::profile {

// Tables; of each list of instructions the first `top` lines.
std::string ToText(const Profile& profile, size_t top);

// One object, documented in README.md; lists are cut off as above.
std::string ToJson(const std::vector<Profile>& profiles, size_t top);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_PRINT_H_
