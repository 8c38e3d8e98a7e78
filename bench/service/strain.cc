#include "bench/service/strain.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/service/daemon.h"
#include "bench/service/load.h"
#include "bench/service/warm_set.h"
#include "client/src/channel.h"
#include "ingot/v1/admin.grpc.pb.h"

namespace ingot::bench {
namespace {

constexpr int kCallers = 64;
constexpr int kWarm = 64;
// Problems below are warm, from here on each is asked for once.
constexpr int64_t kFirstCold = 20000;
// One client may fill three quarters of the queue; a few more calls than that,
// and the workers', keep it full.
constexpr int kQueue = 64;
constexpr int kQueuedOfOne = 48;
constexpr int kFillers = 60;
constexpr std::chrono::milliseconds kPoll(5);

v1::StatsResponse StatsOf(const Daemon& daemon) {
  const auto stub = v1::Admin::NewStub(OwnChannel(daemon.socket()));
  grpc::ClientContext context;
  v1::StatsResponse stats;
  const grpc::Status status = stub->Stats(&context, {}, &stats);
  if (!status.ok()) Die("Stats: " + status.error_message());
  return stats;
}

double CounterOf(const Daemon& daemon, const std::string& name) {
  const v1::StatsResponse stats = StatsOf(daemon);
  for (const v1::Counter& counter : stats.counters()) {
    if (counter.name() == name) return counter.value();
  }
  return 0;
}

void AwaitQueued(const Daemon& daemon, uint64_t queued) {
  for (int i = 0; i < 4000; ++i) {
    if (StatsOf(daemon).queued() >= queued) return;
    std::this_thread::sleep_for(kPoll);
  }
  Die(absl::StrCat("the queue does not come to ", queued));
}

// GetKernel through libingot's own transport: the code that it ended in.
int Ask(const std::string& socket, const v1::GetKernelRequest& request) {
  client::ChannelOptions options;
  if (!ParseAddress("unix:" + socket, &options.address).ok()) Die(socket);
  client::Channel channel(options);
  const std::string bytes = request.SerializeAsString();
  client::Call call;
  call.method = "/ingot.v1.Kernels/GetKernel";
  call.request = reinterpret_cast<const uint8_t*>(bytes.data());
  call.request_size = bytes.size();
  call.deadline = client::Deadline::After(120000);
  call.on_message = [](const uint8_t*, size_t) { return client::Status(); };
  return channel.Invoke(call).code;
}

// Callers, each of which asks once; joined at the end.
class Crowd {
 public:
  using Ended = std::chrono::steady_clock::time_point;

  Crowd(const std::string& socket,
        const std::function<v1::GetKernelRequest(int)>& request)
      : ended_(kCallers), codes_(kCallers) {
    for (int i = 0; i < kCallers; ++i) {
      threads_.emplace_back([this, socket, i, message = request(i)] {
        together_.arrive_and_wait();
        codes_[static_cast<size_t>(i)] = Ask(socket, message);
        ended_[static_cast<size_t>(i)] = std::chrono::steady_clock::now();
      });
    }
  }

  // When the last of them was answered.
  Ended Wait() {
    for (std::thread& thread : threads_) thread.join();
    return *std::max_element(ended_.begin(), ended_.end());
  }
  int Count(int code) const {
    return static_cast<int>(std::count(codes_.begin(), codes_.end(), code));
  }

 private:
  std::latch together_{kCallers};
  std::vector<Ended> ended_;
  std::vector<int> codes_;
  std::vector<std::thread> threads_;
};

std::vector<v1::GetKernelRequest> WarmRequests() {
  std::vector<v1::GetKernelRequest> requests;
  for (int i = 0; i < kWarm; ++i) {
    requests.push_back(RmsnormRequest(64 * (i + 1), true));
  }
  return requests;
}

void ReportHerd(Report& report, const StrainOptions& options) {
  const TemporaryDirectory folder;
  const Daemon daemon(folder.path());
  std::vector<double> compiles;
  for (int run = 0; run < options.runs; ++run) {
    const double before = CounterOf(daemon, "ingot_compiles_total");
    Crowd crowd(daemon.socket(),
                [run](int) { return RmsnormRequest(kFirstCold + run, false); });
    crowd.Wait();
    if (crowd.Count(0) != kCallers) Die("herd: a call failed");
    compiles.push_back(CounterOf(daemon, "ingot_compiles_total") - before);
  }
  report.Add({absl::StrCat("compiles for a herd of ", kCallers, ", most"),
              *std::max_element(compiles.begin(), compiles.end()), "",
              AtMost(1)});
}

// Threads that keep the compile queue full of kernels that nobody has.
class Fillers {
 public:
  Fillers(const std::string& socket, std::atomic<int64_t>* next) {
    for (int i = 0; i < kFillers; ++i) {
      threads_.emplace_back([this, socket, next] {
        while (!stop_.load()) {
          // Refused means that it is full.
          if (Ask(socket, RmsnormRequest(next->fetch_add(1), true)) != 0) {
            std::this_thread::sleep_for(kPoll);
          }
        }
      });
    }
  }
  ~Fillers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

void ReportFullQueue(Report& report, const StrainOptions& options) {
  const TemporaryDirectory folder;
  const Daemon daemon(folder.path(),
                      {absl::StrCat("--queue-capacity=", kQueue)});
  for (const v1::GetKernelRequest& request : WarmRequests()) {
    GetKernel(daemon.socket(), request);
  }
  const std::unique_ptr<Subject> hits = HitSubject(
      OwnChannel(daemon.socket()), WarmRequests(), v1::SOURCE_MEMORY, 0);
  Latencies(*hits, kWarm);
  std::atomic<int64_t> next = kFirstCold;
  std::vector<double> ratios;
  std::vector<double> quiet;
  std::vector<double> full;
  for (int run = 0; run < options.runs; ++run) {
    quiet.push_back(Percentile(Latencies(*hits, options.calls), 0.99));
    const Fillers fillers(daemon.socket(), &next);
    AwaitQueued(daemon, kQueuedOfOne);
    full.push_back(Percentile(Latencies(*hits, options.calls), 0.99));
    ratios.push_back(full.back() / quiet.back());
  }
  report.Add(
      {"hit, p99, nothing else to do", Median(quiet), "us", std::nullopt});
  report.Add(
      {"hit, p99, compile queue full", Median(full), "us", std::nullopt});
  report.Add(
      {"hit, p99, compile queue full", Median(ratios), "x quiet", AtMost(2)});
}

// Seconds from `end`, when 64 calls wait for a compile, until the last of them
// has its answer.
double SecondsToAnswer(const TemporaryDirectory& folder, int64_t first,
                       const std::function<void(Daemon*)>& end) {
  Daemon daemon(folder.path());
  Crowd crowd(daemon.socket(),
              [first](int i) { return RmsnormRequest(first + i, false); });
  AwaitQueued(daemon, kCallers / 4);
  const auto ended = std::chrono::steady_clock::now();
  end(&daemon);
  return std::chrono::duration<double>(crowd.Wait() - ended).count();
}

void ReportEnds(Report& report, const StrainOptions& options) {
  const TemporaryDirectory folder;
  std::vector<double> answered;
  std::vector<double> drained;
  int64_t next = kFirstCold;
  for (int run = 0; run < options.runs; ++run) {
    answered.push_back(SecondsToAnswer(
        folder, next, [](Daemon* daemon) { kill(daemon->pid(), SIGKILL); }));
    next += kCallers;
    SecondsToAnswer(folder, next, [&](Daemon* daemon) {
      drained.push_back(Seconds([&] { daemon->Stop(); }));
    });
    next += kCallers;
  }
  report.Add({absl::StrCat("SIGKILL with ", kCallers,
                           " calls open: all answered, longest"),
              *std::max_element(answered.begin(), answered.end()), "s",
              AtMost(1)});
  report.Add(
      {absl::StrCat("SIGTERM with ", kCallers, " calls open: drained, longest"),
       *std::max_element(drained.begin(), drained.end()), "s", AtMost(10)});
}

}  // namespace

void ReportStrain(Report& report, const StrainOptions& options) {
  report.Section(absl::StrCat("under strain, ", options.runs, " runs"));
  ReportHerd(report, options);
  ReportFullQueue(report, options);
  ReportEnds(report, options);
}

}  // namespace ingot::bench
