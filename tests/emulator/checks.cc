#include "tests/emulator/checks.h"

#include <utility>

#include "tests/emulator/check_alignment.h"
#include "tests/emulator/check_barriers.h"
#include "tests/emulator/check_exec.h"
#include "tests/emulator/race_global.h"
#include "tests/emulator/race_lds.h"
#include "tests/emulator/race_sync.h"
#include "tests/emulator/taint.h"

namespace ingot::emulator {
namespace {

void AddRaces(const Options& options,
              std::vector<std::unique_ptr<Watcher>>* checks) {
  SyncLog* sync = nullptr;
  if (options.check_lds_races || options.check_global_races) {
    auto log = std::make_unique<SyncLog>();
    sync = log.get();
    checks->push_back(std::move(log));
  }
  if (options.check_lds_races || options.check_waits) {
    checks->push_back(std::make_unique<LdsRaces>(
        options.check_lds_races ? sync : nullptr, options.check_waits));
  }
  if (options.check_global_races)
    checks->push_back(std::make_unique<GlobalRaces>(sync));
}

}  // namespace

std::vector<std::unique_ptr<Watcher>> MakeChecks(const Options& options) {
  std::vector<std::unique_ptr<Watcher>> checks;
  // First: what follows from an undefined address is not the bug.
  if (options.check_undefined) checks.push_back(MakeTaintCheck());
  if (options.check_barriers)
    checks.push_back(std::make_unique<BarrierCheck>());
  if (options.check_exec) checks.push_back(std::make_unique<ExecCheck>());
  if (options.check_alignment)
    checks.push_back(std::make_unique<AlignmentCheck>());
  AddRaces(options, &checks);
  return checks;
}

}  // namespace ingot::emulator
