// How many CPUs and how much memory this process may use: of its cgroup and
// affinity mask, not of the host.
#ifndef INGOT_SERVER_CPU_BUDGET_H_
#define INGOT_SERVER_CPU_BUDGET_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::server {

struct Budget {
  int cpus = 1;              // at least 1
  int64_t memory_bytes = 0;  // 0: not known
};

// CPUs that a quota allows, rounded up: cgroup v2's "max 100000" or
// "150000 100000". 0: no limit or not understood.
int CpusOfCpuMax(absl::string_view cpu_max);
// The same for cgroup v1's two files ("-1": no limit).
int CpusOfQuota(absl::string_view quota_us, absl::string_view period_us);
// Bytes of a memory.max or memory.limit_in_bytes; 0: no limit.
int64_t BytesOfLimit(absl::string_view limit);
// The path of this process in a hierarchy, from /proc/self/cgroup. `controller`
// is empty for v2. Empty when there is none.
std::string CgroupPath(absl::string_view proc_self_cgroup,
                       absl::string_view controller);

// Of this process. `root` is put before every path, for tests; `affinity_cpus`
// and `machine_bytes` are what the machine itself offers.
Budget ReadBudget(const std::string& root, int affinity_cpus,
                  int64_t machine_bytes);
Budget BudgetOfProcess();

// Workers to run: `wanted`, or when it is 0 one a CPU; as many as
// `memory_budget` holds at `worker_bytes` each (either 0: any); at least one.
int WorkerCount(int wanted, const Budget& budget, int64_t memory_budget,
                int64_t worker_bytes);

}  // namespace ingot::server

#endif  // INGOT_SERVER_CPU_BUDGET_H_
