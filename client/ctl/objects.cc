// ingotctl inspect, rm, pin, unpin, gc, verify: what the daemon keeps.
#include <cstdio>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/keys.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct InspectFlags {
  std::string key;
  bool by_digest = false;
  bool disassemble = false;
};

std::string SignersOf(const v1::Record& record) {
  std::string signers;
  for (const v1::Signature& signature : record.signatures()) {
    if (!signers.empty()) signers += ", ";
    signers += signature.key_id();
  }
  return signers.empty() ? "nobody" : signers;
}

void PrintInspection(const v1::InspectResponse& reply) {
  const v1::Record& record = reply.record();
  const v1::Description& d = record.description();
  printf("symbol      %s\n", d.symbol().c_str());
  printf("key         %s\n", client::Hex(record.key()).c_str());
  printf("digest      %s\n", client::Hex(record.digest()).c_str());
  printf("target      %s (e_flags 0x%x, code object v%u)\n", d.target().c_str(),
         d.elf_flags(), d.code_object_version());
  printf("compiler    %s\n", d.compiler().c_str());
  printf("signed by   %s\n", SignersOf(record).c_str());
  printf("made        %s\n", FormatTime(record.created_unix_ms()).c_str());
  printf("size        %s, %s of it code\n",
         FormatBytes(static_cast<double>(record.size())).c_str(),
         FormatBytes(d.code_bytes()).c_str());
  printf("registers   %u VGPRs (%u of them AccVGPRs), %u SGPRs\n", d.vgprs(),
         d.agprs(), d.sgprs());
  printf("spills      %u VGPRs, %u SGPRs; scratch %u B a work-item\n",
         d.vgpr_spills(), d.sgpr_spills(), d.scratch_bytes());
  printf("LDS         %u B\n", d.lds_bytes());
  printf("workgroup   at most %u work-items, waves of %u\n", d.max_workgroup(),
         d.wavefront());
  printf("occupancy   %u waves a SIMD, limited by %s\n",
         reply.occupancy_waves_per_simd(),
         reply.occupancy_limited_by().c_str());
  printf("arguments   %u B:", d.kernarg_bytes());
  for (const v1::KernelArg& arg : d.args()) {
    printf(" %s@%u:%u", arg.kind().c_str(), arg.offset(), arg.size());
  }
  printf("\n");
  if (!reply.disassembly().empty()) {
    printf("\n%s", reply.disassembly().c_str());
  }
}

Status RunInspect(const InspectFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::InspectRequest request;
  std::string id;
  if (flags.by_digest) {
    INGOT_CLIENT_RETURN_IF_ERROR(ParseHex("digest", flags.key, &id));
    request.set_digest(id);
  } else {
    INGOT_CLIENT_RETURN_IF_ERROR(ResolveKey(daemon.get(), flags.key, &id));
    request.set_key(id);
  }
  request.set_disassemble(flags.disassemble);
  v1::InspectResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Inspect", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    PrintInspection(reply);
  }
  return Status();
}

// What is left to say of a request of which some keys are not stored.
Status CheckUnknown(
    const google::protobuf::RepeatedPtrField<std::string>& unknown) {
  if (unknown.empty()) return Status();
  std::string keys;
  for (const std::string& key : unknown) keys += " " + client::Hex(key);
  return Error(INGOT_NOT_FOUND, "not stored:%s", keys.c_str());
}

struct RemoveFlags {
  std::vector<std::string> keys;
  bool all = false;
  std::string op;
};

Status RunRemove(const RemoveFlags& flags, const Globals& globals) {
  if (flags.keys.empty() != flags.all) {
    return Error(INGOT_INVALID_ARGUMENT, "rm: found %s, allowed keys or --all",
                 flags.all ? "keys and --all" : "nothing");
  }
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::DeleteRequest request;
  request.set_all(flags.all);
  request.set_op(flags.op);
  for (const std::string& text : flags.keys) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ResolveKey(daemon.get(), text, request.add_keys()));
  }
  v1::DeleteResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Delete", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    printf("removed %llu\n", static_cast<unsigned long long>(reply.deleted()));
  }
  return CheckUnknown(reply.unknown_keys());
}

Status RunPin(const std::vector<std::string>& keys, bool unpin,
              const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::PinRequest request;
  request.set_unpin(unpin);
  for (const std::string& text : keys) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ResolveKey(daemon.get(), text, request.add_keys()));
  }
  v1::PinResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Pin", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    printf("%s %d\n", unpin ? "unpinned" : "pinned",
           request.keys_size() - reply.unknown_keys_size());
  }
  return CheckUnknown(reply.unknown_keys());
}

struct CollectFlags {
  std::vector<std::string> fingerprints;
  bool dry_run = false;
};

Status RunCollect(const CollectFlags& flags, const Globals& globals) {
  v1::CollectRequest request;
  request.set_dry_run(flags.dry_run);
  for (const std::string& text : flags.fingerprints) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ParseHex("fingerprint", text, request.add_fingerprints()));
  }
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::CollectResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Collect", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  std::vector<std::vector<std::string>> rows = {
      {"OP", "KERNELS", "PINNED", "SIZE", "STATE", "FINGERPRINT"}};
  for (const v1::FingerprintUse& use : reply.fingerprints()) {
    rows.push_back({use.op(), std::to_string(use.entries()),
                    std::to_string(use.pinned()),
                    FormatBytes(static_cast<double>(use.bytes())),
                    use.collected() ? "goes"
                    : use.current() ? "current"
                                    : "stays",
                    client::Hex(use.fingerprint())});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  printf("%s %llu, %s\n", flags.dry_run ? "would remove" : "removed",
         static_cast<unsigned long long>(reply.removed()),
         FormatBytes(static_cast<double>(reply.removed_bytes())).c_str());
  return Status();
}

Status RunVerify(double mib_per_second, const Globals& globals,
                 int* exit_code) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::VerifyRequest request;
  request.set_bytes_per_second(
      static_cast<uint64_t>(mib_per_second * (1 << 20)));
  v1::VerifyResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Verify", request, &reply));
  if (reply.damaged() > 0) *exit_code = kExitDisagrees;
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  printf("checked %llu, damaged and dropped %llu\n",
         static_cast<unsigned long long>(reply.checked()),
         static_cast<unsigned long long>(reply.damaged()));
  if (reply.untrusted() > 0) {
    printf("untrusted and not handed out %llu\n",
           static_cast<unsigned long long>(reply.untrusted()));
  }
  for (const std::string& key : reply.damaged_keys()) {
    printf("%s\n", client::Hex(key).c_str());
  }
  return Status();
}

}  // namespace

void AddObjectCommands(const Registry& registry) {
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  int* exit_code = registry.exit_code;

  CLI::App* inspect = registry.app->add_subcommand(
      "inspect", "registers, LDS, occupancy and code of one kernel");
  auto look = std::make_shared<InspectFlags>();
  inspect->add_option("key", look->key, "a key, or its first digits")
      ->required();
  inspect->add_flag("--digest", look->by_digest, "key is a digest");
  inspect->add_flag("-d,--disassemble", look->disassemble, "show the code");
  inspect->callback(
      [=] { *run = [=] { return RunInspect(*look, *globals); }; });

  CLI::App* rm = registry.app->add_subcommand("rm", "remove kernels");
  auto remove = std::make_shared<RemoveFlags>();
  rm->add_option("keys", remove->keys, "keys, or their first digits");
  rm->add_flag("--all", remove->all, "every kernel");
  rm->add_option("--op", remove->op, "with --all: only of this op");
  rm->callback([=] { *run = [=] { return RunRemove(*remove, *globals); }; });

  for (const bool unpin : {false, true}) {
    CLI::App* pin = registry.app->add_subcommand(
        unpin ? "unpin" : "pin", unpin ? "let pinned kernels be evicted again"
                                       : "keep kernels from eviction and gc");
    auto keys = std::make_shared<std::vector<std::string>>();
    pin->add_option("keys", *keys, "keys, or their first digits")->required();
    pin->callback(
        [=] { *run = [=] { return RunPin(*keys, unpin, *globals); }; });
  }

  CLI::App* gc = registry.app->add_subcommand(
      "gc", "remove kernels that another version of their op compiled");
  auto collect = std::make_shared<CollectFlags>();
  gc->add_flag("--dry-run", collect->dry_run, "only show what would go");
  gc->add_option("--fingerprint", collect->fingerprints,
                 "remove these, current ones too, instead of all old ones");
  gc->callback([=] { *run = [=] { return RunCollect(*collect, *globals); }; });

  CLI::App* verify = registry.app->add_subcommand(
      "verify",
      "read and check every stored object; exit code 6 if any was "
      "damaged");
  auto rate = std::make_shared<double>(0);
  verify
      ->add_option("--mib-per-second", *rate,
                   "read no faster, so that hits keep the disk; give it a "
                   "--timeout; 0: as fast as it goes")
      ->check(CLI::Range(0.0, 1e6));
  verify->callback(
      [=] { *run = [=] { return RunVerify(*rate, *globals, exit_code); }; });
}

}  // namespace ingot::ctl
