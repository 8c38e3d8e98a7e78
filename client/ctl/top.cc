// ingotctl top: what the daemon does now.
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <map>

#include "client/ctl/command.h"
#include "client/ctl/interrupt.h"
#include "client/ctl/text_table.h"
#include "client/src/json_writer.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct TopFlags {
  double interval_s = 2;
  uint64_t iterations = 0;  // 0: until interrupted
};

double MonotonicSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// A look at the daemon's counters.
struct Sample {
  double at = 0;
  v1::StatsResponse stats;

  // Of all series of `name` whose labels contain `label`.
  double Sum(const std::string& name, const std::string& label = "") const {
    double sum = 0;
    for (const v1::Counter& counter : stats.counters()) {
      const std::string& series = counter.name();
      if (series.substr(0, series.find('{')) == name &&
          series.find(label) != std::string::npos) {
        sum += counter.value();
      }
    }
    return sum;
  }
};

// What is shown, by name: rates between two samples, and what is now.
using Figures = std::vector<std::pair<const char*, double>>;

Figures FiguresOf(const Sample& before, const Sample& now) {
  const double seconds = now.at - before.at;
  const auto delta = [&](const char* name, const char* label = "") {
    return now.Sum(name, label) - before.Sum(name, label);
  };
  const double memory = delta("ingot_requests_total", "result=\"hit_memory\"");
  const double store = delta("ingot_requests_total", "result=\"hit_store\"");
  const double requests = delta("ingot_requests_total");
  const double refused = delta("ingot_requests_refused_total");
  return {{"requests_per_s", requests / seconds},
          {"hit_ratio", requests == 0 ? 0 : (memory + store) / requests},
          {"compiles_per_s", delta("ingot_compiles_total") / seconds},
          {"refused_per_s", refused / seconds},
          {"queued", now.stats.queued()},
          {"workers", now.stats.workers()},
          {"workers_busy", now.stats.workers_busy()},
          {"worker_deaths", delta("ingot_worker_deaths_total")},
          {"entries", static_cast<double>(now.stats.entries())},
          {"store_bytes", static_cast<double>(now.stats.store_bytes())},
          {"memory_bytes", static_cast<double>(now.stats.memory_bytes())},
          {"resident_bytes", static_cast<double>(now.stats.daemon_rss_bytes())},
          {"evictions_per_s", delta("ingot_store_evictions_total") / seconds},
          {"read_only", now.Sum("ingot_store_read_only")},
          {"disabled", now.Sum("ingot_disabled")}};
}

std::string Number(double value) {
  char text[32];
  snprintf(text, sizeof(text), "%.*f", value < 100 ? 1 : 0, value);
  return text;
}

std::string Shown(const std::string& name, double value) {
  const auto ends_with = [&](const char* end) {
    const std::string suffix(end);
    return name.size() >= suffix.size() &&
           name.compare(name.size() - suffix.size(), suffix.size(), suffix) ==
               0;
  };
  if (ends_with("_bytes")) return FormatBytes(value);
  if (ends_with("_per_s")) return Number(value);
  if (ends_with("ratio")) return Number(value * 100) + " %";
  return std::to_string(static_cast<long long>(value));
}

void PrintJson(const Figures& figures) {
  client::JsonWriter json;
  json.OpenObject(nullptr);
  for (const auto& [name, value] : figures) json.Number(name, value);
  json.CloseObject();
  puts(json.text().c_str());
}

// One line each, under a heading now and then.
void PrintLine(const Figures& figures, uint64_t line) {
  constexpr uint64_t kHeadings = 20;
  std::string heading;
  std::string text;
  for (const auto& [name, value] : figures) {
    const std::string cell = Shown(name, value);
    const size_t width = std::max(cell.size(), std::string(name).size()) + 2;
    heading += name + std::string(width - std::string(name).size(), ' ');
    text += cell + std::string(width - cell.size(), ' ');
  }
  if (line % kHeadings == 0) printf("%s\n", heading.c_str());
  printf("%s\n", text.c_str());
}

void PrintScreen(const Sample& sample, const Figures& figures,
                 const std::string& address) {
  printf("\033[H\033[2Jingotd %s at %s, up %s\n\n",
         sample.stats.version().c_str(), address.c_str(),
         FormatMicroseconds(static_cast<double>(sample.stats.uptime_ms()) * 1e3)
             .c_str());
  std::vector<std::vector<std::string>> rows = {{"FIGURE", "NOW"}};
  for (const auto& [name, value] : figures) {
    rows.push_back({name, Shown(name, value)});
  }
  fputs(FormatTable(rows).c_str(), stdout);
}

Status RunTop(const TopFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  CatchInterrupts();
  const auto look = [&](Sample* sample) {
    sample->at = MonotonicSeconds();
    return daemon->Call("Admin/Stats", v1::StatsRequest(), &sample->stats);
  };
  const bool screen = isatty(STDOUT_FILENO) != 0 && !globals.json();
  Sample before;
  INGOT_CLIENT_RETURN_IF_ERROR(look(&before));
  for (uint64_t n = 0; flags.iterations == 0 || n < flags.iterations; ++n) {
    if (!WaitSeconds(flags.interval_s)) return Status();
    Sample now;
    INGOT_CLIENT_RETURN_IF_ERROR(look(&now));
    const Figures figures = FiguresOf(before, now);
    if (globals.json()) {
      PrintJson(figures);
    } else if (screen) {
      PrintScreen(now, figures, daemon->address());
    } else {
      PrintLine(figures, n);
    }
    fflush(stdout);
    before = std::move(now);
  }
  return Status();
}

}  // namespace

void AddTop(const Registry& registry) {
  CLI::App* top = registry.app->add_subcommand(
      "top", "rates, hits, queue, workers and store as they change");
  auto flags = std::make_shared<TopFlags>();
  top->add_option("--interval", flags->interval_s, "seconds between looks")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  top->add_option("--iterations", flags->iterations,
                  "looks to take; 0: until interrupted")
      ->capture_default_str();
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  top->callback([=] { *run = [=] { return RunTop(*flags, *globals); }; });
}

}  // namespace ingot::ctl
