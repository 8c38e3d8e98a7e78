// What every subcommand shares: the daemon to talk to, the form of output, and
// how a failure becomes an exit code.
#ifndef INGOT_CLIENT_CTL_COMMAND_H_
#define INGOT_CLIENT_CTL_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/src/channel.h"
#include "client/src/status.h"
#include "google/protobuf/message.h"

namespace ingot::ctl {

using client::Error;
using client::Status;

// Documented in --help; never renumber.
enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,  // the daemon refused, or anything not named below
  kExitUsage = 2,   // flags, or a spec that is malformed or unknown
  kExitNoDaemon = 3,
  kExitDeadline = 4,
  kExitNotFound = 5,
  // check: wrong numbers; verify: damaged objects; import: entries refused;
  // warm, warm-from: specs refused; repro: still fails; coverage: too little
  kExitDisagrees = 6,
};

ExitCode ExitCodeOf(const Status& status);

// Options that stand before the subcommand.
struct Globals {
  std::string address;          // empty: as libingot finds it
  client::TlsOptions tls;       // empty parts: as libingot finds them
  std::string output = "text";  // or json
  double timeout_s = 120;

  bool json() const { return output == "json"; }
};

// One daemon, with C++ messages.
class Daemon {
 public:
  // INVALID_ARGUMENT for an address that cannot be one.
  static Status Open(const Globals& globals, std::unique_ptr<Daemon>* daemon);

  const std::string& address() const { return channel_->address().text; }

  // `method` is "Kernels/GetKernel". UNAVAILABLE says which address was tried
  // and how a daemon is started.
  Status Call(const std::string& method,
              const google::protobuf::Message& request,
              google::protobuf::Message* response);

  // A server's stream: `response` is parsed into anew for each `on_message`.
  Status Stream(const std::string& method,
                const google::protobuf::Message& request,
                google::protobuf::Message* response,
                const std::function<Status()>& on_message);

 private:
  Daemon(client::ChannelOptions options, double timeout_s);

  std::unique_ptr<client::Channel> channel_;
  int64_t timeout_ms_;
};

// A subcommand adds itself to `app`, reads `globals` when it runs, and leaves
// its exit code in *exit_code. A failing run returns the status, which main
// prints.
using Run = std::function<Status()>;
struct Registry {
  CLI::App* app;
  const Globals* globals;
  int* exit_code;
  Run* run;  // set by the subcommand that was chosen
};

void AddGet(const Registry& registry);
void AddList(const Registry& registry);
// inspect, rm, pin, unpin, gc, verify
void AddObjectCommands(const Registry& registry);
void AddDaemonCommands(const Registry& registry);  // stats, capabilities
void AddCheck(const Registry& registry);
void AddKeygen(const Registry& registry);
void AddExport(const Registry& registry);
void AddImport(const Registry& registry);
void AddDisableCommands(const Registry& registry);  // disable, enable, disabled
void AddWarm(const Registry& registry);
void AddDoctor(const Registry& registry);
void AddSelfDescription(const Registry& registry);  // completion, man
void AddTuneCommands(const Registry& registry);
void AddExplainCommands(const Registry& registry);  // explain, candidates
void AddTop(const Registry& registry);
void AddRepro(const Registry& registry);
void AddRecord(const Registry& registry);
void AddCoverage(const Registry& registry);
void AddWarmFrom(const Registry& registry);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_COMMAND_H_
