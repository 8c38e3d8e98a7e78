// Who makes a call, from what the connection says of its other end.
#ifndef INGOT_SERVER_RPC_CALLERS_H_
#define INGOT_SERVER_RPC_CALLERS_H_

#include <grpcpp/server_context.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/access.h"
#include "server/unix_listener.h"

namespace ingot::server {

// Thread-safe.
class Callers {
 public:
  // `tls`: TCP callers have certificates.
  Callers(AccessPolicy policy, bool tls);

  // A connection of the Unix socket, before gRPC is given `fd`.
  void Connected(int fd, const UnixPeer& peer);

  std::shared_ptr<const Caller> Of(
      const grpc::CallbackServerContext& context) const;
  // PERMISSION_DENIED unless the caller has the role get. Costs nothing where
  // everybody has it.
  absl::Status RequireGet(const grpc::CallbackServerContext& context) const;

 private:
  const AccessPolicy policy_;
  const bool everybody_gets_;
  const std::shared_ptr<const Caller> plain_tcp_;
  mutable std::mutex mutex_;
  // By descriptor; an entry stays until its number is used again.
  absl::flat_hash_map<int, std::shared_ptr<const Caller>> connected_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_RPC_CALLERS_H_
