// GetKernels: many lookups in one call, many answers in a message.
#ifndef INGOT_SERVER_BATCH_RPC_H_
#define INGOT_SERVER_BATCH_RPC_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "server/lookup.h"

namespace ingot::server {

// The reactor owns itself. A refused lookup is a result with its code; the call
// fails only for a message that is none.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartBatch(
    Lookup& lookup, Lookup::Origin origin, const grpc::ByteBuffer& request);

}  // namespace ingot::server

#endif  // INGOT_SERVER_BATCH_RPC_H_
