#include "bench/service/warm_set.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/problems.h"
#include "bench/service/daemon.h"
#include "bench/service/echo.grpc.pb.h"
#include "cache/digest.h"
#include "cache/rocksdb_store.h"
#include "server/counters.h"
#include "server/trust.h"
#include "server/validity.h"
#include "server/wire.h"

namespace ingot::bench {

v1::GetKernelRequest RmsnormRequest(int64_t n, bool omit_bytes) {
  v1::GetKernelRequest request;
  request.set_api_version(1);
  server::SpecToWire(RmsnormSpec(n), request.mutable_spec());
  request.set_omit_bytes(omit_bytes);
  return request;
}

v1::GetKernelResponse GetKernel(const std::string& socket,
                                const v1::GetKernelRequest& request) {
  const std::unique_ptr<v1::Kernels::Stub> stub =
      v1::Kernels::NewStub(OwnChannel(socket));
  grpc::ClientContext context;
  v1::GetKernelResponse response;
  const grpc::Status status = stub->GetKernel(&context, request, &response);
  if (!status.ok()) Die("GetKernel: " + status.error_message());
  return response;
}

std::unique_ptr<Subject> HitSubject(
    const std::shared_ptr<grpc::Channel>& channel,
    std::vector<v1::GetKernelRequest> requests, v1::Source source,
    size_t object_bytes) {
  using Hit = MethodSubject<v1::GetKernelRequest, v1::GetKernelResponse>;
  std::shared_ptr<v1::Kernels::Stub> stub = v1::Kernels::NewStub(channel);
  return std::make_unique<Hit>(
      "GetKernel", std::move(requests),
      [stub](grpc::ClientContext* context, const v1::GetKernelRequest& message,
             v1::GetKernelResponse* response) {
        return stub->GetKernel(context, message, response);
      },
      [stub](grpc::ClientContext* context, const v1::GetKernelRequest* message,
             v1::GetKernelResponse* response,
             std::function<void(grpc::Status)> done) {
        stub->async()->GetKernel(context, message, response, std::move(done));
      },
      [source, object_bytes](const v1::GetKernelResponse& response) {
        if (response.kernels_size() == 0) Die("GetKernel: no kernel");
        const v1::Kernel& kernel = response.kernels(0);
        if (kernel.source() != source) {
          Die(absl::StrCat("GetKernel: answered from ",
                           v1::Source_Name(kernel.source()), ", not ",
                           v1::Source_Name(source)));
        }
        if (kernel.object().size() != object_bytes) {
          Die(absl::StrCat("GetKernel: ", kernel.object().size(),
                           " bytes of code object, not ", object_bytes));
        }
      });
}

std::unique_ptr<Subject> EchoSubject(
    const std::shared_ptr<grpc::Channel>& channel) {
  using Empty = MethodSubject<EchoMessage, EchoMessage>;
  std::shared_ptr<Echo::Stub> stub = Echo::NewStub(channel);
  return std::make_unique<Empty>(
      "Echo", std::vector<EchoMessage>(1),
      [stub](grpc::ClientContext* context, const EchoMessage& message,
             EchoMessage* response) {
        return stub->Call(context, message, response);
      },
      [stub](grpc::ClientContext* context, const EchoMessage* message,
             EchoMessage* response, std::function<void(grpc::Status)> done) {
        stub->async()->Call(context, message, response, std::move(done));
      },
      [](const EchoMessage&) {});
}

namespace {

cache::Publication Resized(const v1::Kernel& kernel, size_t bytes,
                           const server::Trust& trust) {
  std::string object = kernel.object();
  if (object.size() > bytes) Die("the object is larger than it should become");
  object.resize(bytes);
  const std::string digest = cache::Sha256(object);
  const auto record =
      server::MakeRecord(kernel.record().key(), kernel.record().key_encoding(),
                         digest, object, kernel.record().created_unix_ms());
  if (!record.ok()) Die(std::string(record.status().message()));
  std::string signed_record = record->SerializeAsString();
  trust.SignRecord(&signed_record);
  return {kernel.record().key(), signed_record, digest, object};
}

}  // namespace

void ResizeObjects(const std::string& folder, const std::string& signing_key,
                   const std::vector<v1::Kernel>& kernels, size_t bytes) {
  server::Counters counters;
  const auto trust = server::Trust::Open(
      {server::SignaturePolicy::kRequire, signing_key, ""}, counters);
  if (!trust.ok()) Die(std::string(trust.status().message()));
  cache::RocksOptions options;
  options.directory = StoreFolder(folder);
  const auto store = cache::OpenRocksStore(std::move(options));
  if (!store.ok()) Die(std::string(store.status().message()));
  for (const v1::Kernel& kernel : kernels) {
    const absl::Status published =
        (*store)->Publish(Resized(kernel, bytes, **trust));
    if (!published.ok()) Die(std::string(published.message()));
  }
}

}  // namespace ingot::bench
