#include "bench/client/scripts.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "bench/process.h"

namespace ingot::bench {
namespace {

// Of a script's line: name, value, unit and the most it may be, or nothing
// there, with tabs between.
void AddLine(absl::string_view line, Report& report) {
  const std::vector<std::string> cells = absl::StrSplit(line, '\t');
  double value = 0;
  double most = 0;
  if (cells.size() != 4 || !absl::SimpleAtod(cells[1], &value)) {
    Die(absl::StrCat("a script said: ", line));
  }
  std::optional<Target> target;
  if (absl::SimpleAtod(cells[3], &most)) target = AtMost(most);
  report.Add({cells[0], value, cells[2], target});
}

void RunScript(const std::string& python, const std::string& arguments,
               Report& report) {
  const std::string command = absl::StrCat(
      python, " " INGOT_SOURCE "/bench/client/figures.py ", arguments);
  FILE* out = popen(command.c_str(), "r");
  if (out == nullptr) Die(absl::StrCat("cannot start ", command));
  char line[512];
  while (fgets(line, sizeof(line), out) != nullptr) {
    AddLine(absl::StripSuffix(line, "\n"), report);
  }
  if (pclose(out) != 0) Die(absl::StrCat("failed: ", command));
}

}  // namespace

void ReportPython(const std::string& socket, const std::string& folder,
                  int runs, Report& report) {
  unsetenv("PYTHONDONTWRITEBYTECODE");
  setenv("PYTHONPYCACHEPREFIX", folder.c_str(), 1);
  setenv("INGOT_LIBRARY", INGOT_LIBRARY_FILE, 1);
  setenv("INGOT_HIP_LIBRARY", INGOT_NULL_HIP, 1);
  setenv("INGOT_ADDRESS", absl::StrCat("unix:", socket).c_str(), 1);
  setenv("PYTHONPATH", INGOT_SOURCE "/client/python", 1);
  report.Section(absl::StrCat("Python, median of ", runs));
  const std::string ours = INGOT_PYTHON_PROGRAM;
  RunScript(ours, absl::StrCat("process ", runs), report);
  const std::string current = INGOT_SOURCE "/build/torch-env/bin/python";
  for (const std::string& python : {ours, current}) {
    if (!std::filesystem::exists(python)) continue;
    RunScript(python, absl::StrCat("torch ", runs), report);
  }
}

void ReportLibrary(const std::string& folder, Report& report) {
  const std::string stripped = folder + "/libingot.so";
  const std::string command =
      absl::StrCat("strip -o ", stripped, " " INGOT_LIBRARY_FILE);
  if (system(command.c_str()) != 0) Die(absl::StrCat("failed: ", command));
  const double bytes =
      static_cast<double>(std::filesystem::file_size(stripped));
  report.Section("libingot");
  report.Add({"the library, stripped", bytes / (1 << 20), "MiB", AtMost(15)});
}

}  // namespace ingot::bench
