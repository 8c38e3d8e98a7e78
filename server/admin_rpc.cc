#include "server/admin_rpc.h"

#include <chrono>
#include <string>
#include <utility>

#include "server/retry_info.h"
#include "server/rpc_bytes.h"
#include "server/rpc_status.h"

namespace ingot::server {
namespace {

// Requests that may wait for the one thread.
constexpr size_t kMaxTasks = 64;

class AdminReactor : public grpc::ServerUnaryReactor {
 public:
  void OnDone() override { delete this; }
};

}  // namespace

AdminRpc::AdminRpc(ingot::server::Admin& admin, const Callers& callers)
    : admin_(admin), callers_(callers), thread_([this] { Loop(); }) {}

AdminRpc::~AdminRpc() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void AdminRpc::Loop() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

template <Role role, AdminRpc::When when, typename Request, typename Method>
grpc::ServerUnaryReactor* AdminRpc::Run(
    const grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
    grpc::ByteBuffer* response, Method method) {
  auto* const reactor = new AdminReactor;
  const absl::Status allowed = callers_.Of(context)->Require(role);
  if (!allowed.ok()) {
    reactor->Finish(ToRpc(allowed));
    return reactor;
  }
  const MessageBytes bytes(request);
  auto parsed = std::make_shared<Request>();
  if (!parsed->ParseFromArray(bytes.view().data(),
                              static_cast<int>(bytes.view().size()))) {
    reactor->Finish(ToRpc(absl::InvalidArgumentError(absl::StrCat(
        Request::descriptor()->name(), ": the message is malformed"))));
    return reactor;
  }
  const auto task = [method, parsed, reactor, response] {
    const auto answer = method(*parsed);
    if (answer.ok()) *response = BufferOf(answer->SerializeAsString());
    reactor->Finish(ToRpc(answer.status()));
  };
  if (when == When::kNow) {
    task();
    return reactor;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (tasks_.size() >= kMaxTasks) {
    reactor->Finish(
        ToRpc(WithRetryInfo(absl::ResourceExhaustedError(absl::StrCat(
                                "admin requests: found ", tasks_.size(),
                                " waiting, allowed ", kMaxTasks)),
                            std::chrono::seconds(1))));
    return reactor;
  }
  tasks_.push_back(task);
  changed_.notify_one();
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpc::Stats(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) {
  return Run<Role::kGet, When::kNow, v1::StatsRequest>(
      *context, *request, response,
      [this](const v1::StatsRequest& parsed) { return admin_.Stats(parsed); });
}

grpc::ServerUnaryReactor* AdminRpc::List(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::ListRequest>(
      *context, *request, response,
      [this](const v1::ListRequest& parsed) { return admin_.List(parsed); });
}

grpc::ServerUnaryReactor* AdminRpc::Describe(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return Run<Role::kGet, When::kNow, v1::DescribeRequest>(
      *context, *request, response, [this](const v1::DescribeRequest& parsed) {
        return admin_.Describe(parsed);
      });
}

grpc::ServerUnaryReactor* AdminRpc::Inspect(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::InspectRequest>(
      *context, *request, response, [this](const v1::InspectRequest& parsed) {
        return admin_.Inspect(parsed);
      });
}

grpc::ServerUnaryReactor* AdminRpc::Delete(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::DeleteRequest>(
      *context, *request, response, [this](const v1::DeleteRequest& parsed) {
        return admin_.Delete(parsed);
      });
}

grpc::ServerUnaryReactor* AdminRpc::Verify(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::VerifyRequest>(
      *context, *request, response, [this](const v1::VerifyRequest& parsed) {
        return admin_.Verify(parsed);
      });
}

grpc::ServerUnaryReactor* AdminRpc::Pin(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::PinRequest>(
      *context, *request, response,
      [this](const v1::PinRequest& parsed) { return admin_.Pin(parsed); });
}

grpc::ServerUnaryReactor* AdminRpc::Collect(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::CollectRequest>(
      *context, *request, response, [this](const v1::CollectRequest& parsed) {
        return admin_.Collect(parsed);
      });
}

}  // namespace ingot::server
