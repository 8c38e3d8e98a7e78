#include "bench/service/hits.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/service/daemon.h"
#include "bench/service/load.h"
#include "bench/service/warm_set.h"

namespace ingot::bench {
namespace {

constexpr int kKernels = 64;
constexpr size_t kObjectBytes = 64 << 10;
// Subjects take turns in blocks this long, so that whatever else the machine
// does falls on all of them.
constexpr int kBlock = 100;
constexpr int kInFlight = 32;
constexpr int kConnections = 2;
constexpr int kBatch = 1000;

// Two daemons over the same 64 KiB object, one of which keeps nothing in
// memory, and the echo.
struct Services {
  TemporaryDirectory folder;
  std::unique_ptr<Daemon> memory;
  std::unique_ptr<Daemon> store;
  std::unique_ptr<Process> echo;

  std::string FolderOf(const std::string& name) const {
    return folder.path() + "/" + name;
  }
  std::string EchoSocket() const { return folder.path() + "/echo.sock"; }
  std::string SigningKey() const { return folder.path() + "/signing.pem"; }
};

// The n of the kernels, few enough to compile in seconds and too many for the
// memory of a daemon with 1 MiB when each has 64 KiB.
std::vector<v1::GetKernelRequest> Requests(bool omit_bytes) {
  std::vector<v1::GetKernelRequest> requests;
  for (int i = 0; i < kKernels; ++i) {
    requests.push_back(RmsnormRequest(4096 + 64 * i, omit_bytes));
  }
  return requests;
}

// As on a node that takes nothing on trust and is watched: signatures made and
// required, metrics served, the log written. Callers on a Unix socket are
// always known by their credentials.
std::vector<std::string> WatchedAnd(const Services& services,
                                    const std::vector<std::string>& flags) {
  std::vector<std::string> all = {"--signing-key",      services.SigningKey(),
                                  "--signature-policy", "require",
                                  "--metrics",          "127.0.0.1:0"};
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

void MakeSigningKey(const Services& services) {
  Process keygen(
      {ProgramFolder() + "/ingotctl", "keygen", services.SigningKey()},
      services.FolderOf("keygen.log"));
  while (keygen.running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Compiles once, enlarges the objects, and gives each daemon a copy of the
// store.
void StartServices(Services& services) {
  MakeSigningKey(services);
  {
    Daemon compiling(services.FolderOf("memory"), WatchedAnd(services, {}));
    std::vector<v1::Kernel> kernels;
    for (const v1::GetKernelRequest& request : Requests(false)) {
      kernels.push_back(GetKernel(compiling.socket(), request).kernels(0));
    }
    compiling.Stop();
    ResizeObjects(services.FolderOf("memory"), services.SigningKey(), kernels,
                  kObjectBytes);
  }
  std::filesystem::copy(services.FolderOf("memory"), services.FolderOf("store"),
                        std::filesystem::copy_options::recursive);
  services.memory = std::make_unique<Daemon>(services.FolderOf("memory"),
                                             WatchedAnd(services, {}));
  services.store = std::make_unique<Daemon>(
      services.FolderOf("store"),
      WatchedAnd(services,
                 {"--memory-cache-mib", "1", "--reply-cache-mib", "0"}));
  services.echo = std::make_unique<Process>(StartEcho(services.EchoSocket()));
  for (const v1::GetKernelRequest& request : Requests(false)) {
    GetKernel(services.memory->socket(), request);
  }
}

struct Contender {
  std::string name;
  std::unique_ptr<Subject> subject;
  std::optional<Target> p50;  // of the echo's, as the next
  std::optional<Target> p99;
  std::vector<double> p50s, p99s, p50_ratios, p99_ratios;  // a run each
};

std::vector<Contender> Contenders(const Services& services) {
  const auto memory = OwnChannel(services.memory->socket());
  const auto store = OwnChannel(services.store->socket());
  const std::vector<v1::GetKernelRequest> records = Requests(true);
  const std::vector<v1::GetKernelRequest> bytes = Requests(false);
  std::vector<Contender> contenders(5);
  contenders[0] = {"empty echo",
                   EchoSubject(OwnChannel(services.EchoSocket()))};
  contenders[1] = {"memory hit without bytes",
                   HitSubject(memory, records, v1::SOURCE_MEMORY, 0),
                   AtMost(1.3), AtMost(1.3)};
  contenders[2] = {"memory hit with 64 KiB",
                   HitSubject(memory, bytes, v1::SOURCE_MEMORY, kObjectBytes)};
  contenders[3] = {"RocksDB hit without bytes",
                   HitSubject(store, records, v1::SOURCE_STORE, 0)};
  contenders[4] = {"RocksDB hit with 64 KiB",
                   HitSubject(store, bytes, v1::SOURCE_STORE, kObjectBytes),
                   AtMost(2.5)};
  return contenders;
}

void MeasureRun(std::vector<Contender>& contenders, int calls) {
  std::vector<std::vector<double>> samples(contenders.size());
  std::vector<size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), 0);
  // In an order of its own each time: nobody always follows the heaviest.
  std::mt19937 random;
  for (int block = 0; block < calls / kBlock; ++block) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      const std::vector<double> micros =
          Latencies(*contenders[i].subject, kBlock);
      samples[i].insert(samples[i].end(), micros.begin(), micros.end());
    }
  }
  const double echo_p50 = Percentile(samples[0], 0.50);
  const double echo_p99 = Percentile(samples[0], 0.99);
  for (size_t i = 0; i < contenders.size(); ++i) {
    const double p50 = Percentile(samples[i], 0.50);
    const double p99 = Percentile(samples[i], 0.99);
    contenders[i].p50s.push_back(p50);
    contenders[i].p99s.push_back(p99);
    contenders[i].p50_ratios.push_back(p50 / echo_p50);
    contenders[i].p99_ratios.push_back(p99 / echo_p99);
  }
}

void ReportLatency(Report& report, const Services& services,
                   const HitOptions& options) {
  report.Section(
      absl::StrCat("latency, one call at a time, interleaved, median of ",
                   options.runs, " runs of ", options.calls));
  std::vector<Contender> contenders = Contenders(services);
  for (Contender& contender : contenders) {
    Latencies(*contender.subject, kBlock);  // connections, caches
  }
  for (int run = 0; run < options.runs; ++run) {
    MeasureRun(contenders, options.calls);
  }
  for (size_t i = 0; i < contenders.size(); ++i) {
    const Contender& contender = contenders[i];
    report.Add(
        {contender.name + ", p50", Median(contender.p50s), "us", std::nullopt});
    report.Add(
        {contender.name + ", p99", Median(contender.p99s), "us", std::nullopt});
    if (i == 0) continue;
    report.Add({contender.name + ", p50", Median(contender.p50_ratios),
                "x echo", contender.p50});
    report.Add({contender.name + ", p99", Median(contender.p99_ratios),
                "x echo", contender.p99});
  }
}

double Rate(const std::vector<std::unique_ptr<Subject>>& subjects,
            double seconds) {
  std::vector<Subject*> pointers;
  for (const auto& subject : subjects) pointers.push_back(subject.get());
  return CallsPerSecond(pointers, kInFlight, seconds);
}

std::vector<std::string> Serialised(
    const std::vector<v1::GetKernelRequest>& requests) {
  std::vector<std::string> bytes;
  for (const v1::GetKernelRequest& request : requests) {
    bytes.push_back(request.SerializeAsString());
  }
  return bytes;
}

// The same subject on connections of their own.
std::vector<std::unique_ptr<Subject>> Connections(
    const std::string& socket, const std::string& method,
    const std::vector<std::string>& requests) {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (int i = 0; i < kConnections; ++i) {
    subjects.push_back(
        std::make_unique<RawSubject>(OwnChannel(socket), method, requests));
  }
  return subjects;
}

using Subjects = std::vector<std::unique_ptr<Subject>>;

double PacedP99(const Subjects& subjects, double rate, double seconds) {
  std::vector<Subject*> pointers;
  for (const auto& subject : subjects) pointers.push_back(subject.get());
  return Percentile(LatenciesAtRate(pointers, rate, seconds), 0.99);
}

// Both at half of what the daemon can do.
void ReportPaced(Report& report, const Subjects& echoes, const Subjects& hits,
                 double rate, const HitOptions& options) {
  std::vector<double> echo_p99s;
  std::vector<double> hit_p99s;
  std::vector<double> ratios;
  for (int run = 0; run < options.runs; ++run) {
    echo_p99s.push_back(PacedP99(echoes, rate, options.seconds));
    hit_p99s.push_back(PacedP99(hits, rate, options.seconds));
    ratios.push_back(hit_p99s.back() / echo_p99s.back());
  }
  report.Add({"half of that rate: empty echo, p99", Median(echo_p99s), "us",
              std::nullopt});
  report.Add({"half of that rate: memory hits, p99", Median(hit_p99s), "us",
              std::nullopt});
  report.Add({"half of that rate: memory hits, p99", Median(ratios), "x echo",
              AtMost(3)});
}

void ReportRate(Report& report, const Services& services,
                const HitOptions& options) {
  report.Section(absl::StrCat("calls a second, ", kInFlight, " in flight on ",
                              kConnections,
                              " connections, generator and daemon on the same "
                              "cores, median of ",
                              options.runs));
  const auto echoes =
      Connections(services.EchoSocket(), "/ingot.bench.Echo/Call", {""});
  const auto hits =
      Connections(services.memory->socket(), "/ingot.v1.Kernels/GetKernel",
                  Serialised(Requests(true)));
  std::vector<double> echo_rates;
  std::vector<double> hit_rates;
  std::vector<double> ratios;
  for (int run = 0; run < options.runs; ++run) {
    echo_rates.push_back(Rate(echoes, options.seconds));
    hit_rates.push_back(Rate(hits, options.seconds));
    ratios.push_back(hit_rates.back() / echo_rates.back());
  }
  report.Add({"empty echo", Median(echo_rates), "1/s", std::nullopt});
  report.Add(
      {"memory hits without bytes", Median(hit_rates), "1/s", std::nullopt});
  report.Add(
      {"memory hits without bytes", Median(ratios), "x echo", AtLeast(0.6)});
  ReportPaced(report, echoes, hits, Median(hit_rates) / 2, options);
}

v1::GetKernelsRequest Batch() {
  const std::vector<v1::GetKernelRequest> requests = Requests(true);
  v1::GetKernelsRequest batch;
  for (int i = 0; i < kBatch; ++i) {
    *batch.add_requests() = requests[i % kKernels];
  }
  return batch;
}

// Answers of one GetKernels call over `stub`; ends the bench when one fails.
int StreamOnce(v1::Kernels::Stub& stub, const v1::GetKernelsRequest& batch) {
  grpc::ClientContext context;
  const auto stream = stub.GetKernels(&context, batch);
  v1::GetKernelsResponse response;
  int answers = 0;
  while (stream->Read(&response)) {
    for (const v1::IndexedResult& result : response.results()) {
      if (result.code() != 0) Die("GetKernels: " + result.message());
      ++answers;
    }
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) Die("GetKernels: " + status.error_message());
  if (answers != batch.requests_size()) Die("GetKernels: answers are missing");
  return answers;
}

void ReportStream(Report& report, const Services& services,
                  const HitOptions& options) {
  report.Section(absl::StrCat("GetKernels, ", kBatch, " lookups of ", kKernels,
                              " kernels a call, without bytes, median of ",
                              options.runs));
  const std::unique_ptr<v1::Kernels::Stub> stub =
      v1::Kernels::NewStub(OwnChannel(services.memory->socket()));
  const v1::GetKernelsRequest batch = Batch();
  StreamOnce(*stub, batch);
  std::vector<double> rates;
  for (int run = 0; run < options.runs; ++run) {
    int64_t answers = 0;
    double seconds = 0;
    while (seconds < options.seconds) {
      seconds += Seconds([&] { answers += StreamOnce(*stub, batch); });
    }
    rates.push_back(static_cast<double>(answers) / seconds);
  }
  report.Add({"lookups in one stream", Median(rates), "1/s", AtLeast(35000)});
}

}  // namespace

void ReportHits(Report& report, const HitOptions& options) {
  Services services;
  StartServices(services);
  ReportLatency(report, services, options);
  ReportRate(report, services, options);
  ReportStream(report, services, options);
}

}  // namespace ingot::bench
