#include "client/ctl/command.h"

#include <cstdlib>

namespace ingot::ctl {
namespace {

std::string ResolveAddress(const Globals& globals) {
  if (!globals.address.empty()) return globals.address;
  const char* environment = getenv("INGOT_ADDRESS");
  if (environment != nullptr && *environment != '\0') return environment;
  return client::DefaultAddress();
}

}  // namespace

ExitCode ExitCodeOf(const Status& status) {
  switch (status.code) {
    case INGOT_OK:
      return kExitOk;
    case INGOT_INVALID_ARGUMENT:
    case INGOT_UNIMPLEMENTED:
      return kExitUsage;
    case INGOT_UNAVAILABLE:
      return kExitNoDaemon;
    case INGOT_DEADLINE_EXCEEDED:
      return kExitDeadline;
    case INGOT_NOT_FOUND:
      return kExitNotFound;
    default:
      return kExitFailed;
  }
}

Daemon::Daemon(client::ChannelOptions options, double timeout_s)
    : channel_(std::make_unique<client::Channel>(std::move(options))),
      timeout_ms_(static_cast<int64_t>(timeout_s * 1000)) {}

Status Daemon::Open(const Globals& globals, std::unique_ptr<Daemon>* daemon) {
  client::ChannelOptions options;
  INGOT_CLIENT_RETURN_IF_ERROR(
      client::ParseAddress(ResolveAddress(globals), &options.address));
  options.tls = globals.tls;
  client::FillFromEnvironment(&options.tls);
  INGOT_CLIENT_RETURN_IF_ERROR(
      client::ResolveTls(options.tls, &options.address));
  daemon->reset(new Daemon(std::move(options), globals.timeout_s));
  return Status();
}

Status Daemon::Stream(const std::string& method,
                      const google::protobuf::Message& request,
                      google::protobuf::Message* response,
                      const std::function<Status()>& on_message) {
  const std::string path = "/ingot.v1." + method;
  const std::string bytes = request.SerializeAsString();
  client::Call call;
  call.method = path.c_str();
  call.request = reinterpret_cast<const uint8_t*>(bytes.data());
  call.request_size = bytes.size();
  call.deadline = client::Deadline::After(timeout_ms_);
  call.on_message = [&](const uint8_t* data, size_t size) {
    if (!response->ParseFromArray(data, static_cast<int>(size))) {
      return Error(INGOT_INTERNAL, "the daemon's answer to %s cannot be read",
                   method.c_str());
    }
    return on_message();
  };
  Status status = channel_->Invoke(call);
  if (status.code == INGOT_UNAVAILABLE) {
    status.message +=
        "\nstart a daemon with `ingotd`, or name another with --address or "
        "INGOT_ADDRESS (tried " +
        address() + ")";
  }
  return status;
}

Status Daemon::Call(const std::string& method,
                    const google::protobuf::Message& request,
                    google::protobuf::Message* response) {
  return Stream(method, request, response, [] { return Status(); });
}

}  // namespace ingot::ctl
