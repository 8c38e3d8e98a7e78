// The real gRPC server with a Kernels service that does what a request's id
// orders, for holding the client's transport against.
#ifndef INGOT_TESTS_CONFORMANCE_REFERENCE_SERVER_H_
#define INGOT_TESTS_CONFORMANCE_REFERENCE_SERVER_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "grpcpp/grpcpp.h"
#include "ingot/v1/kernels.grpc.pb.h"

namespace ingot::testing {

// Orders, in GetKernelRequest.request_id:
//   ""            answers with what `seen` holds
//   "code N TEXT" that status
//   "sleep MS"    answers that much later, or when cancelled
//   "bytes N"     an answer with one object of N bytes
//   "fail N K"    status N with a RetryInfo of 30 ms, K times; then OK
// GetKernels streams one message for each request, and sleeps or fails where
// one orders it. ReadObject streams chunks of 1 MiB up to offset 64 MiB.
class ReferenceService final : public v1::Kernels::Service {
 public:
  struct Seen {
    std::atomic<int> calls = 0;
    std::atomic<int64_t> request_bytes = 0;
    std::atomic<int64_t> deadline_ms = 0;  // left when the last call came
    std::mutex mutex;
    std::string authority;
    std::string peer;
  };

  grpc::Status GetKernel(grpc::ServerContext* context,
                         const v1::GetKernelRequest* request,
                         v1::GetKernelResponse* response) override;
  grpc::Status GetKernels(
      grpc::ServerContext* context, const v1::GetKernelsRequest* request,
      grpc::ServerWriter<v1::GetKernelsResponse>* writer) override;
  grpc::Status ReadObject(grpc::ServerContext* context,
                          const v1::ReadObjectRequest* request,
                          grpc::ServerWriter<v1::ObjectChunk>* writer) override;

  Seen& seen() { return seen_; }

 private:
  grpc::Status Obey(grpc::ServerContext* context, const std::string& order,
                    v1::GetKernelResponse* response);

  Seen seen_;
  std::atomic<int> failures_ = 0;
};

class ReferenceServer {
 public:
  // Listens on "unix:PATH" or "127.0.0.1:0".
  explicit ReferenceServer(const std::string& address,
                           int max_connection_age_ms = 0);
  ~ReferenceServer();

  // What clients are told.
  const std::string& address() const { return address_; }
  ReferenceService::Seen& seen() { return service_.seen(); }

  // Ends every call and connection at once.
  void Stop();

 private:
  ReferenceService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

inline constexpr int64_t kReferenceObjectBytes = int64_t{64} << 20;

}  // namespace ingot::testing

#endif  // INGOT_TESTS_CONFORMANCE_REFERENCE_SERVER_H_
