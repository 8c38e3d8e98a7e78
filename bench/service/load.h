// Calls made over and over against a server on a Unix socket: one at a time for
// latency, many in flight for rate. The same generator drives every service, so
// that a figure can be held against the empty echo's.
#ifndef INGOT_BENCH_SERVICE_LOAD_H_
#define INGOT_BENCH_SERVICE_LOAD_H_

#include <google/protobuf/arena.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/process.h"

namespace ingot::bench {

// A connection that is shared with no other channel of this process.
std::shared_ptr<grpc::Channel> OwnChannel(const std::string& socket);

// A method with its requests, sent in turn, called with fresh responses.
// Failures end the bench. Thread-safe when its channel is.
class Subject {
 public:
  virtual ~Subject() = default;
  // One call, in the calling thread.
  virtual void Call() = 0;
  // Starts a call; `done` runs in a thread of gRPC.
  virtual void Start(std::function<void()> done) = 0;
};

template <class Request, class Response>
class MethodSubject : public Subject {
 public:
  using Blocking = std::function<grpc::Status(grpc::ClientContext*,
                                              const Request&, Response*)>;
  using Callback =
      std::function<void(grpc::ClientContext*, const Request*, Response*,
                         std::function<void(grpc::Status)>)>;
  // `check` looks at each response of Call, outside the rate runs: a bench that
  // measures errors measures nothing.
  using Check = std::function<void(const Response&)>;

  MethodSubject(std::string name, std::vector<Request> requests,
                Blocking blocking, Callback callback, Check check)
      : name_(std::move(name)),
        requests_(std::move(requests)),
        blocking_(std::move(blocking)),
        callback_(std::move(callback)),
        check_(std::move(check)) {}

  void Call() override {
    grpc::ClientContext context;
    google::protobuf::Arena arena;
    auto* response = google::protobuf::Arena::CreateMessage<Response>(&arena);
    Expect(blocking_(&context, Next(), response));
    check_(*response);
  }

  void Start(std::function<void()> done) override {
    struct Flight {
      grpc::ClientContext context;
      Response response;
    };
    auto flight = std::make_shared<Flight>();
    callback_(&flight->context, &Next(), &flight->response,
              [this, flight, done = std::move(done)](grpc::Status status) {
                Expect(status);
                done();
              });
  }

 private:
  const Request& Next() {
    return requests_[turn_.fetch_add(1, std::memory_order_relaxed) %
                     requests_.size()];
  }

  void Expect(const grpc::Status& status) const {
    if (!status.ok()) Die(name_ + ": " + status.error_message());
  }

  std::string name_;
  std::vector<Request> requests_;
  std::atomic<size_t> turn_ = 0;
  Blocking blocking_;
  Callback callback_;
  Check check_;
};

// A unary method by name with serialised requests, sent in turn; replies are
// counted, not parsed, so that the generator weighs the same on every service.
class RawSubject : public Subject {
 public:
  RawSubject(const std::shared_ptr<grpc::Channel>& channel, std::string method,
             const std::vector<std::string>& requests);

  void Call() override;
  void Start(std::function<void()> done) override;

 private:
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub_;
  std::string method_;
  std::vector<grpc::ByteBuffer> requests_;
  std::atomic<size_t> turn_ = 0;
};

// Microseconds of each of `calls` calls, one after another.
std::vector<double> Latencies(Subject& subject, int calls);

// Microseconds of calls that begin `rate` times a second, whether or not those
// before have ended, for `seconds`; each from when it should have begun.
std::vector<double> LatenciesAtRate(const std::vector<Subject*>& subjects,
                                    double rate, double seconds);

// Completed calls a second with `in_flight` calls under way, spread over
// `subjects` (a connection each), for `seconds`.
double CallsPerSecond(const std::vector<Subject*>& subjects, int in_flight,
                      double seconds);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SERVICE_LOAD_H_
