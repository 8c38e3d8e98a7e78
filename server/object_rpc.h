// ReadObject: a stored object in chunks, sent from where it lies in memory.
#ifndef INGOT_SERVER_OBJECT_RPC_H_
#define INGOT_SERVER_OBJECT_RPC_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/lookup.h"

namespace ingot::server {

// The reactor owns itself. Lookup::Object's refusals, and INVALID_ARGUMENT for
// what is no digest or an offset beyond the end.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartRead(
    Lookup& lookup, const grpc::ByteBuffer& request);

}  // namespace ingot::server

#endif  // INGOT_SERVER_OBJECT_RPC_H_
