// What a worker may still do once it is warm: compute, answer on its socket,
// and nothing to the machine it runs on. A compile needs no file and no
// network, so a compiler that goes wrong, or is led astray, gets neither.
#ifndef INGOT_SERVER_WORKER_SANDBOX_H_
#define INGOT_SERVER_WORKER_SANDBOX_H_

#include <string>
#include <vector>

#include "proto/status.h"

namespace ingot::server {

enum class SandboxMode {
  kOff,
  kBestEffort,  // what the kernel allows
  kRequired,    // all of it, or no worker
};

// "off", "best_effort", "required"; INVALID_ARGUMENT else.
absl::StatusOr<SandboxMode> ParseSandboxMode(absl::string_view text);

struct Sandbox {
  // The layers that hold, in order: "no_new_privileges", "files" (Landlock:
  // nothing may be written, /proc alone be read), "system_calls" (seccomp: no
  // sockets, no exec, no other process, no code pages).
  std::vector<std::string> layers;
  // Why a layer is missing; empty when none is.
  std::string missing;
};

// Confines the calling process for good. It must have one thread. FAILED_
// PRECONDITION under kRequired when a layer is missing. `writable`: a folder
// that may be written all the same, for test builds; empty: none.
absl::StatusOr<Sandbox> EnterSandbox(SandboxMode mode,
                                     const std::string& writable);

}  // namespace ingot::server

#endif  // INGOT_SERVER_WORKER_SANDBOX_H_
