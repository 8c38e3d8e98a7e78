#include "bench/report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace ingot::bench {
namespace {

std::string ProcessorModel() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

std::string Number(double value) {
  if (value >= 1000) return absl::StrFormat("%.0f", value);
  if (value >= 10) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.2f", value);
}

std::string Verdict(const Figure& figure) {
  if (!figure.target.has_value()) return "";
  const char* sense =
      figure.target->sense == Target::kAtMost ? "at most" : "at least";
  return absl::StrCat(sense, " ", Number(figure.target->value), ": ",
                      Meets(figure) ? "met" : "MISSED");
}

std::string Quoted(const std::string& text) {
  return absl::StrCat(
      "\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string Json(const Figure& figure) {
  std::string json =
      absl::StrCat("{\"name\":", Quoted(figure.name),
                   ",\"value\":", absl::StrFormat("%.6g", figure.value),
                   ",\"unit\":", Quoted(figure.unit));
  if (figure.target.has_value()) {
    absl::StrAppend(
        &json, ",\"target\":{\"",
        figure.target->sense == Target::kAtMost ? "at_most" : "at_least",
        "\":", absl::StrFormat("%.6g", figure.target->value),
        "},\"met\":", Meets(figure) ? "true" : "false");
  }
  return json + "}";
}

}  // namespace

bool Meets(const Figure& figure) {
  if (!figure.target.has_value()) return true;
  return figure.target->sense == Target::kAtMost
             ? figure.value <= figure.target->value
             : figure.value >= figure.target->value;
}

std::string MachineName() {
  utsname system;
  uname(&system);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1 << 30);
  return absl::StrFormat("%d x %s, %.0f GiB, %s %s", cores, ProcessorModel(),
                         gib, system.sysname, system.release);
}

Report::Report(std::string command, bool json)
    : command_(std::move(command)), json_(json), machine_(MachineName()) {
  if (!json_) std::printf("%s\non %s\n", command_.c_str(), machine_.c_str());
}

void Report::Section(const std::string& title) {
  if (json_) return;
  std::printf("\n%s\n", title.c_str());
  std::fflush(stdout);
}

void Report::Add(Figure figure) {
  if (!json_) {
    std::printf("  %-50s %10s %-8s %s\n", figure.name.c_str(),
                Number(figure.value).c_str(), figure.unit.c_str(),
                Verdict(figure).c_str());
    std::fflush(stdout);
  }
  figures_.push_back(std::move(figure));
}

void Report::Finish() const {
  if (json_) {
    std::string json =
        absl::StrCat("{\"command\":", Quoted(command_),
                     ",\"machine\":", Quoted(machine_), ",\"figures\":[");
    for (size_t i = 0; i < figures_.size(); ++i) {
      absl::StrAppend(&json, i == 0 ? "\n" : ",\n", Json(figures_[i]));
    }
    std::printf("%s]}\n", json.c_str());
    return;
  }
  int targets = 0;
  int met = 0;
  for (const Figure& figure : figures_) {
    if (!figure.target.has_value()) continue;
    ++targets;
    if (Meets(figure)) ++met;
  }
  std::printf("\n%d of %d targets met\n", met, targets);
}

}  // namespace ingot::bench
