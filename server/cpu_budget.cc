#include "server/cpu_budget.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ingot::server {
namespace {

// cgroup v1 writes "no limit" as the largest page-aligned number.
constexpr int64_t kNoLimitV1 = int64_t{1} << 60;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int64_t Smaller(int64_t a, int64_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  return std::min(a, b);
}

// Applies `limit_of` to the file in the cgroup and in each of its parents: the
// tightest counts. A container often sees its own group as the root.
template <typename LimitOf>
int64_t TightestLimit(const std::string& mount, std::string path,
                      const LimitOf& limit_of) {
  int64_t limit = 0;
  for (;;) {
    limit = Smaller(limit, limit_of(absl::StrCat(mount, path)));
    if (path.empty() || path == "/") return limit;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

int CpusOfQuota(absl::string_view quota_us, absl::string_view period_us) {
  int64_t quota = 0;
  int64_t period = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(quota_us), &quota) ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(period_us), &period) ||
      quota <= 0 || period <= 0) {
    return 0;
  }
  return static_cast<int>(std::min<int64_t>((quota - 1) / period + 1, 1 << 20));
}

int CpusOfCpuMax(absl::string_view cpu_max) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::StripAsciiWhitespace(cpu_max), ' ');
  return parts.size() == 2 ? CpusOfQuota(parts[0], parts[1]) : 0;
}

int64_t BytesOfLimit(absl::string_view limit) {
  int64_t bytes = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(limit), &bytes) ||
      bytes <= 0 || bytes >= kNoLimitV1) {
    return 0;
  }
  return bytes;
}

std::string CgroupPath(absl::string_view proc_self_cgroup,
                       absl::string_view controller) {
  for (const absl::string_view line : absl::StrSplit(proc_self_cgroup, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<absl::string_view> controllers =
        absl::StrSplit(parts[1], ',');
    if (std::find(controllers.begin(), controllers.end(), controller) !=
        controllers.end()) {
      return std::string(parts[2]);
    }
  }
  return "";
}

Budget ReadBudget(const std::string& root, int affinity_cpus,
                  int64_t machine_bytes) {
  const std::string self = ReadFile(absl::StrCat(root, "/proc/self/cgroup"));
  const std::string mount = absl::StrCat(root, "/sys/fs/cgroup");
  const std::string v2 = CgroupPath(self, "");
  int64_t cpus = TightestLimit(mount, v2, [](const std::string& dir) {
    return int64_t{CpusOfCpuMax(ReadFile(dir + "/cpu.max"))};
  });
  int64_t bytes = TightestLimit(mount, v2, [](const std::string& dir) {
    return BytesOfLimit(ReadFile(dir + "/memory.max"));
  });
  cpus = Smaller(
      cpus,
      TightestLimit(
          mount + "/cpu", CgroupPath(self, "cpu"), [](const std::string& dir) {
            return int64_t{CpusOfQuota(ReadFile(dir + "/cpu.cfs_quota_us"),
                                       ReadFile(dir + "/cpu.cfs_period_us"))};
          }));
  bytes = Smaller(bytes,
                  TightestLimit(mount + "/memory", CgroupPath(self, "memory"),
                                [](const std::string& dir) {
                                  return BytesOfLimit(
                                      ReadFile(dir + "/memory.limit_in_bytes"));
                                }));
  Budget budget;
  budget.cpus =
      static_cast<int>(std::max<int64_t>(1, Smaller(cpus, affinity_cpus)));
  budget.memory_bytes = Smaller(bytes, machine_bytes);
  return budget;
}

Budget BudgetOfProcess() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cpus =
      sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const int64_t bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return ReadBudget("", cpus, bytes);
}

int WorkerCount(int wanted, const Budget& budget, int64_t memory_budget,
                int64_t worker_bytes) {
  int64_t count = wanted > 0 ? wanted : budget.cpus;
  if (memory_budget > 0 && worker_bytes > 0) {
    count = std::min(count, memory_budget / worker_bytes);
  }
  return static_cast<int>(std::max<int64_t>(count, 1));
}

}  // namespace ingot::server
