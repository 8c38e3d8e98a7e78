// Programs that tests and benches start, and that must not outlive them.
#ifndef INGOT_TESTS_SUPPORT_CHILD_H_
#define INGOT_TESTS_SUPPORT_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::testing {

// Runs `argv` with its output appended to `log`. It is killed when this process
// ends, however that comes about: a test that ran out of time is ended by
// SIGKILL and can clean up nothing. The caller waits for it as for any child. A
// program that is not there shows as a child that ends with status 127.
// FAILED_PRECONDITION from any thread but the first: the kernel takes the end
// of the thread that started a program for the end of its parent.
absl::StatusOr<pid_t> StartChild(const std::vector<std::string>& argv,
                                 const std::string& log);

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_CHILD_H_
