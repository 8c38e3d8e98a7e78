// ingotctl stats, capabilities: what the daemon says of itself.
#include <cstdio>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/admin.pb.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::ctl {
namespace {

std::string Count(uint64_t value) { return std::to_string(value); }

std::string Join(const google::protobuf::RepeatedPtrField<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

Status RunStats(const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::StatsResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/Stats", v1::StatsRequest(), &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  std::vector<std::vector<std::string>> rows = {
      {"version", reply.version()},
      {"up", FormatMicroseconds(static_cast<double>(reply.uptime_ms()) * 1e3)},
      {"entries", Count(reply.entries())},
      {"store", FormatBytes(static_cast<double>(reply.store_bytes()))},
      {"memory cache", FormatBytes(static_cast<double>(reply.memory_bytes()))},
      {"resident", FormatBytes(static_cast<double>(reply.daemon_rss_bytes()))},
      {"workers", Count(reply.workers()) + ", " + Count(reply.workers_busy()) +
                      " of them busy"},
      {"queued", Count(reply.queued())}};
  for (const v1::Counter& counter : reply.counters()) {
    char value[32];
    snprintf(value, sizeof(value), "%.15g", counter.value());
    rows.push_back({counter.name(), value});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  return Status();
}

Status RunCapabilities(const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::GetCapabilitiesResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call(
      "Kernels/GetCapabilities", v1::GetCapabilitiesRequest(), &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  const std::vector<std::vector<std::string>> facts = {
      {"version", reply.version()},
      {"API", Count(reply.api_min()) + " to " + Count(reply.api_max())},
      {"recipes", "up to version " + Count(reply.recipe_version_max())},
      {"targets", Join(reply.targets())},
      {"largest request",
       FormatBytes(static_cast<double>(reply.max_request_bytes()))},
      {"largest batch", Count(reply.max_batch())},
      {"restart pending", reply.restart_pending() ? "yes" : "no"}};
  fputs(FormatTable(facts).c_str(), stdout);
  std::vector<std::vector<std::string>> ops = {
      {"OP", "FINGERPRINT", "DIMS", "NEVER BAKED", "COMPUTES"}};
  for (const v1::OpCapability& op : reply.ops()) {
    ops.push_back({op.name(), client::Hex(op.fingerprint()).substr(0, 12),
                   Join(op.dims()), Join(op.token_dims()), op.summary()});
  }
  printf("\n%s", FormatTable(ops).c_str());
  return Status();
}

}  // namespace

void AddDaemonCommands(const Registry& registry) {
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  registry.app->add_subcommand("stats", "the daemon's figures and counters")
      ->callback([=] { *run = [=] { return RunStats(*globals); }; });
  registry.app
      ->add_subcommand("capabilities", "ops, targets and limits of the daemon")
      ->callback([=] { *run = [=] { return RunCapabilities(*globals); }; });
}

}  // namespace ingot::ctl
