// ingotctl disable, enable, disabled: what the daemon must not hand out.
#include <cstdio>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/keys.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct DisableFlags {
  std::vector<std::string> ops;
  std::vector<std::string> keys;
  std::string reason;
  bool all = false;
};

std::string NameOf(const v1::DisabledItem& item) {
  return item.op().empty() ? client::Hex(item.key()) : item.op();
}

template <typename Request>
Status FillNames(Daemon* daemon, const DisableFlags& flags, Request* request) {
  for (const std::string& op : flags.ops) request->add_ops(op);
  for (const std::string& text : flags.keys) {
    INGOT_CLIENT_RETURN_IF_ERROR(ResolveKey(daemon, text, request->add_keys()));
  }
  return Status();
}

Status RunDisable(const DisableFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::DisableRequest request;
  INGOT_CLIENT_RETURN_IF_ERROR(FillNames(daemon.get(), flags, &request));
  request.set_reason(flags.reason);
  v1::DisableResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Disable", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    printf("disabled %d\n", reply.disabled_size());
  }
  if (reply.not_durable().empty()) return Status();
  return Error(INGOT_DATA_LOSS,
               "in force, but a restart of the daemon would forget it: %s",
               reply.not_durable().c_str());
}

// Keys of what is disabled need not be stored any more: first digits are those
// of the list of disabled keys.
Status ResolveDisabled(const v1::ListDisabledResponse& disabled,
                       const std::string& text, std::string* key) {
  if (text.size() == 64) return ParseHex("key", text, key);
  std::vector<std::string> keys;
  for (const v1::DisabledItem& item : disabled.disabled()) {
    if (item.op().empty()) keys.push_back(item.key());
  }
  return FindByDigits(keys, text, key);
}

Status RunEnable(const DisableFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::ListDisabledResponse disabled;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/ListDisabled", v1::ListDisabledRequest(), &disabled));
  v1::EnableRequest request;
  request.set_all(flags.all);
  for (const std::string& op : flags.ops) request.add_ops(op);
  for (const std::string& text : flags.keys) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ResolveDisabled(disabled, text, request.add_keys()));
  }
  v1::EnableResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Enable", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    printf("enabled %d\n", reply.enabled_size());
  }
  if (reply.enabled_size() > 0 || flags.all) return Status();
  return Error(INGOT_NOT_FOUND, "none of these is disabled");
}

Status RunDisabled(const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::ListDisabledResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/ListDisabled", v1::ListDisabledRequest(), &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  std::vector<std::vector<std::string>> rows = {
      {"OP OR KEY", "SINCE", "BY", "REASON"}};
  for (const v1::DisabledItem& item : reply.disabled()) {
    rows.push_back({NameOf(item), FormatTime(item.since_unix_ms()), item.who(),
                    item.reason()});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  return Status();
}

}  // namespace

void AddDisableCommands(const Registry& registry) {
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  auto flags = std::make_shared<DisableFlags>();

  CLI::App* disable = registry.app->add_subcommand(
      "disable",
      "stop handing out an op or a kernel, at once and until `enable`");
  disable->add_option("keys", flags->keys, "keys, or their first digits");
  disable->add_option("--op", flags->ops, "every kernel of this op");
  disable->add_option("--reason", flags->reason, "what callers are told")
      ->required();
  disable->callback(
      [=] { *run = [=] { return RunDisable(*flags, *globals); }; });

  CLI::App* enable =
      registry.app->add_subcommand("enable", "hand out again what is disabled");
  enable->add_option("keys", flags->keys, "keys, or their first digits");
  enable->add_option("--op", flags->ops, "an op");
  enable->add_flag("--all", flags->all, "everything");
  enable->callback([=] { *run = [=] { return RunEnable(*flags, *globals); }; });

  registry.app->add_subcommand("disabled", "what is disabled, by whom and why")
      ->callback([=] { *run = [=] { return RunDisabled(*globals); }; });
}

}  // namespace ingot::ctl
