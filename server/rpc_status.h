// absl::Status to grpc::Status: the codes are the same numbers.
#ifndef INGOT_SERVER_RPC_STATUS_H_
#define INGOT_SERVER_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "proto/status.h"

namespace ingot::server {

// Code, message and payloads (as google.rpc.Status details). A code that must
// not reach a client becomes one that may: UNKNOWN and DATA_LOSS are INTERNAL.
grpc::Status ToRpc(const absl::Status& status);

}  // namespace ingot::server

#endif  // INGOT_SERVER_RPC_STATUS_H_
