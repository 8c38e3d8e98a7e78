// Figures of Python processes, and of the library's file.
#ifndef INGOT_BENCH_CLIENT_SCRIPTS_H_
#define INGOT_BENCH_CLIENT_SCRIPTS_H_

#include <string>

#include "bench/report.h"

namespace ingot::bench {

// Import, memory, and operators of each PyTorch that is there: the
// distribution's and that of `./dev test --torch`. `folder` is for what Python
// compiles.
void ReportPython(const std::string& socket, const std::string& folder,
                  int runs, Report& report);

// MiB of libingot without symbols.
void ReportLibrary(const std::string& folder, Report& report);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_CLIENT_SCRIPTS_H_
