#include "bench/service/load.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "bench/samples.h"

namespace ingot::bench {

std::shared_ptr<grpc::Channel> OwnChannel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  return grpc::CreateCustomChannel(
      "unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

RawSubject::RawSubject(const std::shared_ptr<grpc::Channel>& channel,
                       std::string method,
                       const std::vector<std::string>& requests)
    : stub_(channel), method_(std::move(method)) {
  for (const std::string& request : requests) {
    const grpc::Slice slice(request);
    requests_.emplace_back(&slice, 1);
  }
}

void RawSubject::Start(std::function<void()> done) {
  struct Flight {
    grpc::ClientContext context;
    grpc::ByteBuffer reply;
  };
  auto flight = std::make_shared<Flight>();
  const size_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
  stub_.UnaryCall(
      &flight->context, method_, grpc::StubOptions(),
      &requests_[turn % requests_.size()], &flight->reply,
      [this, flight, done = std::move(done)](const grpc::Status& status) {
        if (!status.ok()) Die(method_ + ": " + status.error_message());
        done();
      });
}

void RawSubject::Call() {
  std::promise<void> ended;
  Start([&] { ended.set_value(); });
  ended.get_future().get();
}

std::vector<double> Latencies(Subject& subject, int calls) {
  std::vector<double> micros(calls);
  for (double& sample : micros) {
    sample = Seconds([&] { subject.Call(); }) * 1e6;
  }
  return micros;
}

std::vector<double> LatenciesAtRate(const std::vector<Subject*>& subjects,
                                    double rate, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto calls = static_cast<size_t>(rate * seconds);
  std::vector<double> micros(calls);
  absl::BlockingCounter ended(static_cast<int>(calls));
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < calls; ++i) {
    const Clock::time_point due =
        start +
        std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(static_cast<double>(i) / rate));
    std::this_thread::sleep_until(due);
    subjects[i % subjects.size()]->Start([&micros, &ended, i, due] {
      micros[i] =
          std::chrono::duration<double, std::micro>(Clock::now() - due).count();
      ended.DecrementCount();
    });
  }
  ended.Wait();
  return micros;
}

namespace {

// A call that starts the next one when it ends, until told to stop.
struct Lane {
  Subject* subject;
  std::atomic<bool>* stop;
  std::atomic<int64_t>* completed;
  absl::BlockingCounter* lanes;

  void Next() {
    subject->Start([this] {
      completed->fetch_add(1, std::memory_order_relaxed);
      if (stop->load(std::memory_order_relaxed)) {
        lanes->DecrementCount();
      } else {
        Next();
      }
    });
  }
};

}  // namespace

double CallsPerSecond(const std::vector<Subject*>& subjects, int in_flight,
                      double seconds) {
  std::atomic<bool> stop = false;
  std::atomic<int64_t> completed = 0;
  absl::BlockingCounter ended(in_flight);
  std::vector<Lane> lanes;
  for (int i = 0; i < in_flight; ++i) {
    lanes.push_back({subjects[i % subjects.size()], &stop, &completed, &ended});
  }
  int64_t counted = 0;
  const double took = Seconds([&] {
    for (Lane& lane : lanes) lane.Next();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    counted = completed.load();
  });
  stop = true;
  ended.Wait();
  return static_cast<double>(counted) / took;
}

}  // namespace ingot::bench
