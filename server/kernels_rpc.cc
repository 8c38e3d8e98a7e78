#include "server/kernels_rpc.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "compiler/fingerprint.h"
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "server/batch_rpc.h"
#include "server/object_rpc.h"
#include "server/rpc_bytes.h"
#include "server/rpc_status.h"
#include "server/version.h"

namespace ingot::server {
namespace {

// A GetKernel that waits for a compile. Whoever comes first - the compile, the
// caller's deadline, its cancellation - finishes the call.
class WaitingReactor : public grpc::ServerUnaryReactor {
 public:
  // What outlives the reactor: the compile's end may come after the call's.
  struct Link {
    std::mutex mutex;
    WaitingReactor* reactor = nullptr;  // null once the call is finished

    // The reactor, for the one who may finish it.
    WaitingReactor* Take() {
      const std::lock_guard<std::mutex> lock(mutex);
      return std::exchange(reactor, nullptr);
    }
  };

  WaitingReactor(grpc::CallbackServerContext* context,
                 grpc::ByteBuffer* response)
      : context_(context), response_(response) {
    link_->reactor = this;
  }

  std::shared_ptr<Link> link() const { return link_; }
  void set_call(std::shared_ptr<LookupCall> call) { call_ = std::move(call); }

  // REQUIRES: the caller took the reactor from the link.
  void Answer(const Reply& reply) {
    if (reply.ok()) *response_ = BufferOf(*reply);
    Finish(ToRpc(reply.status()));
  }

  void OnCancel() override {
    if (call_ != nullptr) call_->Abandon();
    if (link_->Take() == nullptr) return;
    const bool late = std::chrono::system_clock::now() >= context_->deadline();
    Finish(late ? grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED,
                               "the caller's deadline passed; the compile "
                               "goes on")
                : grpc::Status(grpc::StatusCode::CANCELLED,
                               "the caller cancelled"));
  }
  void OnDone() override { delete this; }

 private:
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  const std::shared_ptr<Link> link_ = std::make_shared<Link>();
  std::shared_ptr<LookupCall> call_;
};

Trace TraceOfCall(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("traceparent");
  if (found == metadata.end()) return TraceOf("");
  return TraceOf({found->second.data(), found->second.size()});
}

grpc::ServerUnaryReactor* FinishNow(grpc::CallbackServerContext* context,
                                    const absl::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToRpc(status));
  return reactor;
}

// A stream that never starts.
class Refused : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit Refused(const absl::Status& why) { Finish(ToRpc(why)); }
  void OnDone() override { delete this; }
};

void AddOp(const OpDef& op, v1::GetCapabilitiesResponse* response) {
  v1::OpCapability* out = response->add_ops();
  out->set_name(op.name);
  absl::StatusOr<std::string> fingerprint = OpFingerprint(op.name);
  if (fingerprint.ok()) out->set_fingerprint(*std::move(fingerprint));
  for (const char* dim : op.dims) {
    out->add_dims(dim);
    if (IsTokenDim(dim)) out->add_token_dims(dim);
  }
  out->set_summary(op.summary);
}

}  // namespace

KernelsRpc::KernelsRpc(Lookup& lookup, const Callers& callers,
                       std::function<bool()> restart_pending)
    : lookup_(lookup),
      callers_(callers),
      restart_pending_(std::move(restart_pending)) {}

grpc::ServerUnaryReactor* KernelsRpc::GetKernel(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  const absl::Status allowed = callers_.RequireGet(*context);
  if (!allowed.ok()) return FinishNow(context, allowed);
  const MessageBytes bytes(*request);
  WaitingReactor* waiting = nullptr;  // made when the answer may have to wait
  Lookup::Started started = lookup_.Get(
      bytes.view(),
      [&]() -> Lookup::Origin {
        return {callers_.Of(*context), TraceOfCall(*context)};
      },
      [&]() -> Lookup::Done {
        waiting = new WaitingReactor(context, response);
        return [link = waiting->link()](const Reply& reply) {
          if (WaitingReactor* reactor = link->Take()) reactor->Answer(reply);
        };
      });
  if (!started.answer) {
    waiting->set_call(std::move(started.call));
    return waiting;
  }
  if (waiting != nullptr) {
    waiting->link()->Take()->Answer(*started.answer);
    return waiting;
  }
  if (started.answer->ok()) *response = BufferOf(**started.answer);
  return FinishNow(context, started.answer->status());
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* KernelsRpc::GetKernels(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  std::shared_ptr<const Caller> caller = callers_.Of(*context);
  const absl::Status allowed = caller->Require(Role::kGet);
  if (!allowed.ok()) return new Refused(allowed);
  return StartBatch(lookup_, {std::move(caller), TraceOfCall(*context)},
                    *request);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* KernelsRpc::ReadObject(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  const absl::Status allowed = callers_.RequireGet(*context);
  if (!allowed.ok()) return new Refused(allowed);
  return StartRead(lookup_, *request);
}

grpc::ServerUnaryReactor* KernelsRpc::GetCapabilities(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  const MessageBytes bytes(*request);
  v1::GetCapabilitiesRequest parsed;
  if (!parsed.ParseFromArray(bytes.view().data(),
                             static_cast<int>(bytes.view().size()))) {
    return FinishNow(context, absl::InvalidArgumentError(
                                  "GetCapabilitiesRequest: the message is "
                                  "malformed"));
  }
  v1::GetCapabilitiesResponse capabilities;
  capabilities.set_api_min(1);
  capabilities.set_api_max(kApiVersion);
  capabilities.set_recipe_version_max(kRecipeVersion);
  capabilities.set_version(kVersion);
  for (const OpDef* op : AllOps()) AddOp(*op, &capabilities);
  capabilities.add_targets("gfx950");
  capabilities.set_max_request_bytes(kMaxRequestBytes);
  capabilities.set_max_inline_object_bytes(kMaxInlineObject);
  capabilities.set_max_batch(kMaxBatch);
  capabilities.set_restart_pending(restart_pending_());
  *response = BufferOf(capabilities.SerializeAsString());
  return FinishNow(context, absl::OkStatus());
}

}  // namespace ingot::server
