// The service ingot.v1.Admin. What may take long is done on a thread of its
// own, one request after another; look-ups and Stats never wait for it.
#ifndef INGOT_SERVER_ADMIN_RPC_H_
#define INGOT_SERVER_ADMIN_RPC_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "ingot/v1/admin.grpc.pb.h"
#include "server/admin.h"
#include "server/retry_info.h"
#include "server/rpc_bytes.h"
#include "server/rpc_callers.h"
#include "server/rpc_status.h"
#include "server/task_line.h"

namespace ingot::server {

// `Service` with each of `Methods` taking raw buffers.
template <typename Service, template <typename> typename... Methods>
struct WithRawMethods {
  using Type = Service;
};
template <typename Service, template <typename> typename First,
          template <typename> typename... Rest>
struct WithRawMethods<Service, First, Rest...> {
  using Type = First<typename WithRawMethods<Service, Rest...>::Type>;
};

using RawAdmin =
    WithRawMethods<v1::Admin::Service, v1::Admin::WithRawCallbackMethod_Stats,
                   v1::Admin::WithRawCallbackMethod_List,
                   v1::Admin::WithRawCallbackMethod_Describe,
                   v1::Admin::WithRawCallbackMethod_Inspect,
                   v1::Admin::WithRawCallbackMethod_Delete,
                   v1::Admin::WithRawCallbackMethod_Verify,
                   v1::Admin::WithRawCallbackMethod_Pin,
                   v1::Admin::WithRawCallbackMethod_Collect,
                   v1::Admin::WithRawCallbackMethod_Export,
                   v1::Admin::WithRawCallbackMethod_Import,
                   v1::Admin::WithRawCallbackMethod_Disable,
                   v1::Admin::WithRawCallbackMethod_Enable,
                   v1::Admin::WithRawCallbackMethod_ListDisabled,
                   v1::Admin::WithRawCallbackMethod_Tune,
                   v1::Admin::WithRawCallbackMethod_ListTuning,
                   v1::Admin::WithRawCallbackMethod_DeleteTuning,
                   v1::Admin::WithRawCallbackMethod_Explain,
                   v1::Admin::WithRawCallbackMethod_ListCandidates,
                   v1::Admin::WithRawCallbackMethod_ListRepros,
                   v1::Admin::WithRawCallbackMethod_GetRepro,
                   v1::Admin::WithRawCallbackMethod_ListSpecs,
                   v1::Admin::WithRawCallbackMethod_ListRecorded,
                   v1::Admin::WithRawCallbackMethod_ResetRecorded>::Type;

// A method group has a source file of its own: admin_rpc.cc, admin_*_rpc.cc.
class AdminRpc : public RawAdmin {
 public:
  using Reactor = grpc::ServerUnaryReactor;
  using Context = grpc::CallbackServerContext;
  using Buffer = grpc::ByteBuffer;

  // Both must outlive the service.
  AdminRpc(Admin& admin, const Callers& callers)
      : admin_(admin), callers_(callers) {}

  Reactor* Stats(Context*, const Buffer*, Buffer*) override;
  Reactor* List(Context*, const Buffer*, Buffer*) override;
  Reactor* Describe(Context*, const Buffer*, Buffer*) override;
  Reactor* Inspect(Context*, const Buffer*, Buffer*) override;
  Reactor* Delete(Context*, const Buffer*, Buffer*) override;
  Reactor* Verify(Context*, const Buffer*, Buffer*) override;
  Reactor* Pin(Context*, const Buffer*, Buffer*) override;
  Reactor* Collect(Context*, const Buffer*, Buffer*) override;
  grpc::ServerWriteReactor<Buffer>* Export(Context*, const Buffer*) override;
  Reactor* Import(Context*, const Buffer*, Buffer*) override;
  Reactor* Disable(Context*, const Buffer*, Buffer*) override;
  Reactor* Enable(Context*, const Buffer*, Buffer*) override;
  Reactor* ListDisabled(Context*, const Buffer*, Buffer*) override;
  Reactor* Tune(Context*, const Buffer*, Buffer*) override;
  Reactor* ListTuning(Context*, const Buffer*, Buffer*) override;
  Reactor* DeleteTuning(Context*, const Buffer*, Buffer*) override;
  Reactor* Explain(Context*, const Buffer*, Buffer*) override;
  Reactor* ListCandidates(Context*, const Buffer*, Buffer*) override;
  Reactor* ListRepros(Context*, const Buffer*, Buffer*) override;
  Reactor* GetRepro(Context*, const Buffer*, Buffer*) override;
  Reactor* ListSpecs(Context*, const Buffer*, Buffer*) override;
  Reactor* ListRecorded(Context*, const Buffer*, Buffer*) override;
  Reactor* ResetRecorded(Context*, const Buffer*, Buffer*) override;

 private:
  // kNow: on the thread of the call. kOnThread: reads much of the store.
  // kOnSlowThread: takes as long as it is told to.
  enum class When { kNow, kOnThread, kOnSlowThread };

  // Requests that may wait for a thread.
  static constexpr size_t kMaxTasks = 64;

  class CallReactor : public Reactor {
   public:
    std::shared_ptr<std::atomic<bool>> cancelled() const { return cancelled_; }
    void OnCancel() override { cancelled_->store(true); }
    void OnDone() override { delete this; }

   private:
    const std::shared_ptr<std::atomic<bool>> cancelled_ =
        std::make_shared<std::atomic<bool>>(false);
  };

  // Parses the request of a caller who has `role` now; `method` answers it now
  // or on a thread. It takes the request, or the request and an AdminCall, and
  // returns StatusOr of a response.
  template <Role role, When when, typename Request, typename Method>
  Reactor* Run(const Context& context, const Buffer& request, Buffer* response,
               Method method);

  ingot::server::Admin& admin_;
  const Callers& callers_;
  TaskLine scans_{kMaxTasks};
  TaskLine slow_{kMaxTasks};
  TaskLine exports_{kMaxTasks};  // one message of one export after another
};

template <Role role, AdminRpc::When when, typename Request, typename Method>
grpc::ServerUnaryReactor* AdminRpc::Run(const Context& context,
                                        const Buffer& request, Buffer* response,
                                        Method method) {
  auto* const reactor = new CallReactor;
  AdminCall call{callers_.Of(context),
                 [flag = reactor->cancelled()] { return flag->load(); }};
  const absl::Status allowed = call.caller->Require(role);
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
  const auto task = [method, parsed, reactor, response,
                     call = std::move(call)] {
    const auto answer = [&] {
      if constexpr (std::is_invocable_v<Method, const Request&>) {
        return method(*parsed);
      } else {
        return method(*parsed, call);
      }
    }();
    if (answer.ok()) *response = BufferOf(answer->SerializeAsString());
    reactor->Finish(ToRpc(answer.status()));
  };
  if (when == When::kNow) {
    task();
    return reactor;
  }
  TaskLine& line = when == When::kOnThread ? scans_ : slow_;
  if (!line.Push(task)) {
    reactor->Finish(
        ToRpc(WithRetryInfo(absl::ResourceExhaustedError(absl::StrCat(
                                "admin requests: found ", line.capacity(),
                                " waiting, allowed ", line.capacity())),
                            std::chrono::seconds(1))));
  }
  return reactor;
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_ADMIN_RPC_H_
