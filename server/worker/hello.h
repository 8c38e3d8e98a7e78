// What daemon and worker must agree on before a worker gets work.
#ifndef INGOT_SERVER_WORKER_HELLO_H_
#define INGOT_SERVER_WORKER_HELLO_H_

#include <cstdint>

#include "server/worker/worker.pb.h"

namespace ingot::server {

// The protocol of worker.proto; never reuse a number.
inline constexpr uint32_t kWorkerProtocol = 1;

// This build's protocol, compiler and fingerprints: what a worker says of
// itself, and what the daemon expects to hear.
worker::Hello OwnHello();

}  // namespace ingot::server

#endif  // INGOT_SERVER_WORKER_HELLO_H_
