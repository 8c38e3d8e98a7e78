#include "server/worker/resident.h"

#include <unistd.h>

#include <cstdio>

namespace ingot {

uint64_t ResidentBytes() {
  unsigned long total = 0;
  unsigned long resident = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "re");
  if (statm == nullptr) return 0;
  if (std::fscanf(statm, "%lu %lu", &total, &resident) != 2) resident = 0;
  std::fclose(statm);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace ingot
