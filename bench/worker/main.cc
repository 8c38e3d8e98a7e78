// A compile worker by itself: start-up, memory, and cold compiles by stage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/manifest.h"
#include "bench/problems.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "server/program_file.h"
#include "server/worker/hello.h"
#include "server/worker_process.h"

namespace ingot::bench {
namespace {

using server::WorkerProcess;

constexpr std::chrono::seconds kJobTimeout(60);
constexpr double kMiB = 1 << 20;
// Of the kernels of a manifest.
constexpr double kWorstMs = 350, kGeomeanMs = 120;

class Worker {
 public:
  Worker()
      : program_(Open()), process_(Start(*program_, folder_.path(), &start_)) {}

  double seconds_to_start() const { return start_; }
  Memory memory() const { return MemoryOf(process_->pid()); }

  // Compiles from key encoding to checked code object; ends the bench when that
  // fails.
  worker::Reply Compile(const PlanKernel& kernel) {
    worker::Request request;
    request.mutable_compile()->set_key_encoding(kernel.encoding);
    auto outcome = process_->Run(request, kJobTimeout);
    auto* reply = std::get_if<worker::Reply>(&outcome);
    if (reply == nullptr) {
      Die("the worker died: " + std::get<server::WorkerDeath>(outcome).what);
    }
    if (reply->code() != 0) Die(kernel.spec.symbol + ": " + reply->message());
    return std::move(*reply);
  }

 private:
  static std::unique_ptr<server::ProgramFile> Open() {
    auto program = server::ProgramFile::Open(ProgramFolder() + "/ingot-worker");
    if (!program.ok()) Die(std::string(program.status().message()));
    return *std::move(program);
  }

  static std::unique_ptr<WorkerProcess> Start(
      const server::ProgramFile& program, const std::string& folder,
      double* seconds) {
    server::WorkerSettings settings;
    settings.directory = folder;
    std::unique_ptr<WorkerProcess> process;
    *seconds = Seconds([&] {
      auto started = WorkerProcess::Start(program, settings, server::OwnHello(),
                                          [] { return false; });
      if (!started.ok()) Die(std::string(started.status().message()));
      process = *std::move(started);
    });
    return process;
  }

  TemporaryDirectory folder_;
  double start_ = 0;
  std::unique_ptr<server::ProgramFile> program_;
  std::unique_ptr<WorkerProcess> process_;
};

void ReportStart(Report& report, int runs) {
  report.Section("worker start, median of " + absl::StrCat(runs));
  std::vector<double> start;
  std::vector<double> resident;
  std::vector<double> anonymous;
  for (int run = 0; run < runs; ++run) {
    const Worker worker;
    start.push_back(worker.seconds_to_start() * 1e3);
    resident.push_back(worker.memory().resident / kMiB);
    anonymous.push_back(worker.memory().anonymous / kMiB);
  }
  report.Add({"exec to warm", Median(start), "ms", std::nullopt});
  report.Add({"resident when warm", Median(resident), "MiB", std::nullopt});
  report.Add(
      {"of it not shared (anonymous)", Median(anonymous), "MiB", std::nullopt});
}

void ReportCompile(Report& report, Worker& worker, const Problem& problem,
                   int compiles) {
  report.Section(absl::StrCat(problem.name,
                              ", cold in a warm worker, median of ", compiles));
  const PlanKernel kernel = FirstKernel(problem.spec);
  std::vector<double> total;
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> stages;
  size_t bytes = 0;
  worker.Compile(kernel);
  for (int i = 0; i < compiles; ++i) {
    worker::Reply reply;
    total.push_back(Seconds([&] { reply = worker.Compile(kernel); }) * 1e3);
    for (const worker::StageTime& stage : reply.stages()) {
      if (stages[stage.stage()].empty()) order.push_back(stage.stage());
      stages[stage.stage()].push_back(stage.micros() / 1e3);
    }
    bytes = reply.object().size();
  }
  report.Add({problem.name + ": compile", Median(total), "ms",
              AtMost(problem.cold_compile_ms_target)});
  for (const std::string& stage : order) {
    report.Add({problem.name + ": stage " + stage, Median(stages[stage]), "ms",
                std::nullopt});
  }
  report.Add({problem.name + ": code object", static_cast<double>(bytes),
              "bytes", std::nullopt});
}

// Every kernel of the plans of a manifest, each once, by the name of the
// variant that launches it first.
std::map<std::string, PlanKernel> KernelsOf(const std::string& manifest) {
  const auto rows = ReadManifest(manifest);
  if (!rows.ok()) Die(std::string(rows.status().message()));
  std::map<std::string, std::pair<std::string, PlanKernel>> by_key;
  for (const ManifestRow& row : *rows) {
    const absl::StatusOr<Plan> plan = MakePlan(row.spec);
    if (!plan.ok()) Die(row.id + ": " + std::string(plan.status().message()));
    for (const Variant& variant : plan->variants) {
      for (const RecipeStep& step : variant.recipe.steps) {
        const auto* launch = std::get_if<LaunchStep>(&step);
        if (launch == nullptr) continue;
        const PlanKernel& kernel = plan->kernels[launch->kernel];
        by_key.try_emplace(kernel.key, row.id + " " + variant.name, kernel);
      }
    }
  }
  std::map<std::string, PlanKernel> kernels;
  for (auto& [key, named] : by_key) {
    std::string name = named.first;
    for (int n = 2; kernels.count(name) > 0; ++n) {
      name = absl::StrCat(named.first, " #", n);
    }
    kernels.emplace(std::move(name), std::move(named.second));
  }
  return kernels;
}

// What compiles of all plans cost: medians, the worst and their mean.
void ReportManifest(Report& report, Worker& worker, const std::string& manifest,
                    int compiles) {
  const std::map<std::string, PlanKernel> kernels = KernelsOf(manifest);
  report.Section(absl::StrCat(manifest, ": ", kernels.size(),
                              " kernels, cold in a warm worker, median of ",
                              compiles));
  double worst = 0, logarithms = 0;
  for (const auto& [name, kernel] : kernels) {
    std::vector<double> total;
    for (int i = 0; i < compiles; ++i) {
      total.push_back(Seconds([&] { worker.Compile(kernel); }) * 1e3);
    }
    const double median = Median(total);
    report.Add({name, median, "ms", std::nullopt});
    worst = std::max(worst, median);
    logarithms += std::log(median);
  }
  if (kernels.empty()) return;
  report.Add({"slowest kernel", worst, "ms", AtMost(kWorstMs)});
  report.Add({"geometric mean",
              std::exp(logarithms / static_cast<double>(kernels.size())), "ms",
              AtMost(kGeomeanMs)});
}

// The protocol of bench/peers: a name in, seconds out, one line each.
void ServeProblems() {
  std::map<std::string, PlanKernel> kernels;
  for (const Problem& problem : Problems()) {
    kernels.emplace(problem.name, FirstKernel(problem.spec));
  }
  Worker worker;
  std::cout << "ingot " << INGOT_VERSION << std::endl;
  for (std::string name; std::getline(std::cin, name);) {
    const auto kernel = kernels.find(name);
    if (kernel == kernels.end()) {
      std::cout << "failed no such problem" << std::endl;
      continue;
    }
    std::cout << Seconds([&] { worker.Compile(kernel->second); }) << std::endl;
  }
}

int Main(int argc, char** argv) {
  bool json = false;
  bool serve = false;
  int runs = 5;
  int compiles = 21;
  std::vector<std::string> manifests;
  CLI::App app("Start-up, memory and cold compiles of a compile worker");
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--runs", runs, "starts")->check(CLI::PositiveNumber);
  app.add_option("--compiles", compiles, "of each problem")
      ->check(CLI::PositiveNumber);
  app.add_option("--manifest", manifests,
                 "compile every kernel of the plans of these problems instead "
                 "(tests/data/manifests)");
  app.add_flag("--problems-from-stdin", serve,
               "compile what is named, a line each; print seconds");
  CLI11_PARSE(app, argc, argv);
  if (serve) {
    ServeProblems();
    return 0;
  }
  Report report(absl::StrJoin(argv, argv + argc, " "), json);
  if (!manifests.empty()) {
    Worker worker;
    for (const std::string& manifest : manifests) {
      ReportManifest(report, worker, manifest, compiles);
    }
    report.Finish();
    return 0;
  }
  ReportStart(report, runs);
  Worker worker;
  for (const Problem& problem : Problems()) {
    ReportCompile(report, worker, problem, compiles);
  }
  report.Section("after all compiles");
  report.Add(
      {"resident", worker.memory().resident / kMiB, "MiB", std::nullopt});
  report.Finish();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
