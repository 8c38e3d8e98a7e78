// ingotctl doctor: what could keep a process on this host from its kernels,
// looked at in the order in which it would be met.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "client/ctl/command.h"
#include "client/ctl/gpu_memory.h"
#include "client/ctl/text_table.h"
#include "client/src/address.h"
#include "client/src/json_writer.h"
#include "ingot/v1/admin.pb.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::ctl {
namespace {

enum class Verdict { kGood, kWarning, kBad };

struct Finding {
  const char* what;
  Verdict verdict;
  std::string text;
};

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "ok";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kBad:
      return "bad";
  }
  return "";
}

class Doctor {
 public:
  explicit Doctor(const Globals& globals) : globals_(globals) {}

  const std::vector<Finding>& Examine();

 private:
  void Note(const char* what, Verdict verdict, const std::string& text) {
    // Messages may have a line of advice; a row has one line.
    findings_.push_back({what, verdict, text.substr(0, text.find('\n'))});
  }
  void CheckClock();
  void CheckFile(const char* variable, Verdict missing);
  void CheckAddress();
  void CheckSocket(const std::string& path);
  void CheckDaemon();
  void CheckStore(Daemon* daemon);
  void CheckGpu();

  const Globals& globals_;
  std::vector<Finding> findings_;
  std::vector<std::string> targets_;  // of the daemon
};

// Certificates and time budgets need a clock that is about right.
void Doctor::CheckClock() {
  constexpr time_t kBeginningOf2025 = 1735689600;
  const time_t now = time(nullptr);
  char text[64];
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
  Note("clock", now < kBeginningOf2025 ? Verdict::kWarning : Verdict::kGood,
       text);
}

// A file or folder that the environment names.
void Doctor::CheckFile(const char* variable, Verdict missing) {
  const char* path = getenv(variable);
  if (path == nullptr || *path == '\0') return;
  if (access(path, R_OK) == 0) {
    Note(variable, Verdict::kGood, path);
  } else {
    Note(variable, missing, std::string(path) + " cannot be read");
  }
}

void Doctor::CheckSocket(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    Note("socket", Verdict::kBad,
         path + " does not exist: is ingotd running, and is this its socket?");
    return;
  }
  if (!S_ISSOCK(status.st_mode)) {
    Note("socket", Verdict::kBad, path + " is no socket");
    return;
  }
  char mode[16];
  snprintf(mode, sizeof(mode), "%04o", status.st_mode & 07777);
  const std::string owner = path + ", mode " + mode + ", user " +
                            std::to_string(status.st_uid) + ", group " +
                            std::to_string(status.st_gid);
  if (access(path.c_str(), W_OK) != 0) {
    Note("socket", Verdict::kBad,
         owner + ": user " + std::to_string(getuid()) +
             " may not write to it; join its group");
    return;
  }
  Note("socket", Verdict::kGood, owner);
}

void Doctor::CheckAddress() {
  std::string text = globals_.address;
  if (text.empty()) {
    const char* named = getenv("INGOT_ADDRESS");
    text =
        named != nullptr && *named != '\0' ? named : client::DefaultAddress();
  }
  client::Address address;
  const Status status = client::ParseAddress(text, &address);
  if (!status.ok()) {
    Note("address", Verdict::kBad, status.message);
    return;
  }
  Note("address", Verdict::kGood, text);
  if (address.kind == client::Address::kUnix) CheckSocket(address.path);
}

void Doctor::CheckStore(Daemon* daemon) {
  v1::StatsResponse stats;
  const Status status = daemon->Call("Admin/Stats", v1::StatsRequest(), &stats);
  if (status.code == INGOT_PERMISSION_DENIED) {
    Note("store", Verdict::kGood, "not shown to this user");
    return;
  }
  if (!status.ok()) {
    Note("store", Verdict::kBad, status.message);
    return;
  }
  if (stats.workers() == 0) {
    Note("workers", Verdict::kBad,
         "none runs: nothing new can be compiled; see the daemon's log");
  } else {
    Note("workers", Verdict::kGood,
         std::to_string(stats.workers()) + ", " +
             std::to_string(stats.workers_busy()) + " busy, " +
             std::to_string(stats.queued()) + " queued");
  }
  bool read_only = false;
  for (const v1::Counter& counter : stats.counters()) {
    if (counter.name().find("read_only") != std::string::npos) {
      read_only |= counter.value() != 0;
    }
  }
  Note("store", read_only ? Verdict::kBad : Verdict::kGood,
       std::to_string(stats.entries()) + " entries, " +
           FormatBytes(static_cast<double>(stats.store_bytes())) +
           (read_only ? "; READ-ONLY: its disk is full or failed" : ""));
}

void Doctor::CheckDaemon() {
  std::unique_ptr<Daemon> daemon;
  Status status = Daemon::Open(globals_, &daemon);
  v1::GetCapabilitiesResponse reply;
  if (status.ok()) {
    status = daemon->Call("Kernels/GetCapabilities",
                          v1::GetCapabilitiesRequest(), &reply);
  }
  if (!status.ok()) {
    Note("daemon", Verdict::kBad, status.message);
    return;
  }
  for (const std::string& target : reply.targets()) targets_.push_back(target);
  const bool same = reply.version() == ingot_version();
  std::string text = "version " + reply.version();
  if (!same) text += ", this is " + std::string(ingot_version());
  if (reply.restart_pending()) {
    text += "; its program was replaced on disk: restart it";
  }
  Note("daemon",
       same && !reply.restart_pending() ? Verdict::kGood : Verdict::kWarning,
       text);
  std::string ops;
  for (const v1::OpCapability& op : reply.ops()) {
    ops += (ops.empty() ? "" : " ") + op.name();
  }
  Note("ops", Verdict::kGood, ops);
  CheckStore(daemon.get());
}

void Doctor::CheckGpu() {
  std::unique_ptr<Gpu> gpu;
  const Status status = Gpu::Open(&gpu);
  if (!status.ok()) {
    // Warming up and compiling need none.
    Note("gpu", Verdict::kWarning, status.message);
    return;
  }
  const std::string processor =
      gpu->target().substr(0, gpu->target().find(':'));
  for (const std::string& target : targets_) {
    if (target == processor) {
      Note("gpu", Verdict::kGood, gpu->target());
      return;
    }
  }
  Note("gpu", targets_.empty() ? Verdict::kGood : Verdict::kBad,
       gpu->target() +
           (targets_.empty() ? "" : ", for which the daemon compiles nothing"));
}

const std::vector<Finding>& Doctor::Examine() {
  CheckClock();
  CheckFile("INGOT_TRUSTED_KEYS", Verdict::kBad);
  CheckFile("INGOT_TLS_CA", Verdict::kBad);
  CheckFile("INGOT_TLS_CERTIFICATE", Verdict::kBad);
  CheckFile("INGOT_TLS_PRIVATE_KEY", Verdict::kBad);
  CheckFile("INGOT_BUNDLE", Verdict::kWarning);
  CheckAddress();
  CheckDaemon();
  CheckGpu();
  return findings_;
}

Status RunDoctor(const Globals& globals, int* exit_code) {
  Doctor doctor(globals);
  const std::vector<Finding>& findings = doctor.Examine();
  bool bad = false;
  std::vector<std::vector<std::string>> rows = {{"LOOKED AT", "", "FOUND"}};
  client::JsonWriter json;
  json.OpenObject();
  json.OpenArray("findings");
  for (const Finding& finding : findings) {
    bad |= finding.verdict == Verdict::kBad;
    rows.push_back({finding.what, NameOf(finding.verdict), finding.text});
    json.OpenObject();
    json.String("what", finding.what);
    json.String("verdict", NameOf(finding.verdict));
    json.String("found", finding.text);
    json.CloseObject();
  }
  json.CloseArray();
  json.Bool("healthy", !bad);
  json.CloseObject();
  if (globals.json()) {
    puts(json.text().c_str());
  } else {
    fputs(FormatTable(rows).c_str(), stdout);
  }
  if (bad) *exit_code = kExitFailed;
  return Status();
}

}  // namespace

void AddDoctor(const Registry& registry) {
  const Registry r = registry;
  registry.app
      ->add_subcommand("doctor",
                       "look for what keeps this host from its kernels; exit "
                       "code 1 when something does")
      ->callback(
          [=] { *r.run = [=] { return RunDoctor(*r.globals, r.exit_code); }; });
}

}  // namespace ingot::ctl
