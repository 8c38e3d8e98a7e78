// The service ingot.v1.Admin. What may take long is done on a thread of its
// own, one request after another; look-ups and Stats never wait for it.
#ifndef INGOT_SERVER_ADMIN_RPC_H_
#define INGOT_SERVER_ADMIN_RPC_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "ingot/v1/admin.grpc.pb.h"
#include "server/admin.h"
#include "server/rpc_callers.h"

namespace ingot::server {

class AdminRpc
    : public v1::Admin::WithRawCallbackMethod_Stats<
          v1::Admin::WithRawCallbackMethod_List<
              v1::Admin::WithRawCallbackMethod_Describe<
                  v1::Admin::WithRawCallbackMethod_Inspect<
                      v1::Admin::WithRawCallbackMethod_Delete<
                          v1::Admin::WithRawCallbackMethod_Verify<
                              v1::Admin::WithRawCallbackMethod_Pin<
                                  v1::Admin::WithRawCallbackMethod_Collect<
                                      v1::Admin::Service>>>>>>>> {
 public:
  // Both must outlive the service.
  AdminRpc(Admin& admin, const Callers& callers);
  ~AdminRpc() override;

  grpc::ServerUnaryReactor* Stats(grpc::CallbackServerContext*,
                                  const grpc::ByteBuffer*,
                                  grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext*,
                                 const grpc::ByteBuffer*,
                                 grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext*,
                                     const grpc::ByteBuffer*,
                                     grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* Inspect(grpc::CallbackServerContext*,
                                    const grpc::ByteBuffer*,
                                    grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* Delete(grpc::CallbackServerContext*,
                                   const grpc::ByteBuffer*,
                                   grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* Verify(grpc::CallbackServerContext*,
                                   const grpc::ByteBuffer*,
                                   grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* Pin(grpc::CallbackServerContext*,
                                const grpc::ByteBuffer*,
                                grpc::ByteBuffer*) override;
  grpc::ServerUnaryReactor* Collect(grpc::CallbackServerContext*,
                                    const grpc::ByteBuffer*,
                                    grpc::ByteBuffer*) override;

 private:
  enum class When { kNow, kOnThread };

  // Parses the request of a caller who has `role` now; `method` (Request ->
  // StatusOr of a response) answers it now or on the thread.
  template <Role role, When when, typename Request, typename Method>
  grpc::ServerUnaryReactor* Run(const grpc::CallbackServerContext& context,
                                const grpc::ByteBuffer& request,
                                grpc::ByteBuffer* response, Method method);
  void Loop();

  ingot::server::Admin& admin_;
  const Callers& callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_ADMIN_RPC_H_
