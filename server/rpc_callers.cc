#include "server/rpc_callers.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ingot::server {
namespace {

std::shared_ptr<const Caller> FromCertificate(const AccessPolicy& policy,
                                              const grpc::AuthContext& auth,
                                              absl::string_view peer) {
  std::vector<std::string> names;
  for (const char* property :
       {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : auth.FindPropertyValues(property)) {
      names.emplace_back(name.data(), name.size());
    }
  }
  auto caller = std::make_shared<Caller>();
  caller->name = absl::StrCat("certificate ", names.empty() ? "?" : names[0],
                              " at ", peer);
  caller->roles = policy.OfCertificate(names);
  return caller;
}

}  // namespace

Callers::Callers(AccessPolicy policy, bool tls)
    : policy_(std::move(policy)),
      everybody_gets_(!tls && policy_.Everybody(Role::kGet)),
      plain_tcp_(std::make_shared<const Caller>(
          Caller{"a TCP connection without TLS", policy_.OfPlainTcp()})) {}

void Callers::Connected(int fd, const UnixPeer& peer) {
  auto caller = std::make_shared<const Caller>(
      Caller{absl::StrCat("user ", peer.uid, ", process ", peer.pid),
             policy_.OfUnix(peer.uid, peer.gid)});
  const std::lock_guard<std::mutex> lock(mutex_);
  connected_[fd] = std::move(caller);
}

absl::Status Callers::RequireGet(
    const grpc::CallbackServerContext& context) const {
  if (everybody_gets_) return absl::OkStatus();
  return Of(context)->Require(Role::kGet);
}

std::shared_ptr<const Caller> Callers::Of(
    const grpc::CallbackServerContext& context) const {
  const std::string peer = context.peer();
  absl::string_view number = peer;
  int fd = -1;
  if (absl::ConsumePrefix(&number, "fd:") && absl::SimpleAtoi(number, &fd)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = connected_.find(fd);
    if (found != connected_.end()) return found->second;
  }
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth != nullptr && auth->IsPeerAuthenticated()) {
    return FromCertificate(policy_, *auth, peer);
  }
  return plain_tcp_;
}

}  // namespace ingot::server
