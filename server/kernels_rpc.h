// The service ingot.v1.Kernels. All methods take raw buffers, so that a message
// that is none gets INVALID_ARGUMENT and a kept reply is sent as it lies.
#ifndef INGOT_SERVER_KERNELS_RPC_H_
#define INGOT_SERVER_KERNELS_RPC_H_

#include <functional>

#include "ingot/v1/kernels.grpc.pb.h"
#include "server/lookup.h"
#include "server/rpc_callers.h"

namespace ingot::server {

inline constexpr size_t kMaxRequestBytes = size_t{4} << 20;
inline constexpr size_t kMaxBatch = 65536;
inline constexpr size_t kChunkBytes = size_t{1} << 20;

class KernelsRpc
    : public v1::Kernels::WithRawCallbackMethod_GetKernel<
          v1::Kernels::WithRawCallbackMethod_GetKernels<
              v1::Kernels::WithRawCallbackMethod_ReadObject<
                  v1::Kernels::WithRawCallbackMethod_GetCapabilities<
                      v1::Kernels::Service>>>> {
 public:
  // All must outlive the service. `restart_pending`: the program on disk is no
  // longer the one that runs.
  KernelsRpc(Lookup& lookup, const Callers& callers,
             std::function<bool()> restart_pending);

  grpc::ServerUnaryReactor* GetKernel(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* GetKernels(
      grpc::CallbackServerContext* context,
      const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadObject(
      grpc::CallbackServerContext* context,
      const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* GetCapabilities(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override;

 private:
  Lookup& lookup_;
  const Callers& callers_;
  const std::function<bool()> restart_pending_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_KERNELS_RPC_H_
