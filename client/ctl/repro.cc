// ingotctl repro: builds that failed, listed or made to happen again in a
// worker of this machine.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/text_table.h"
#include "client/src/json_writer.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct ReproFlags {
  std::string id;
  std::string worker;
  std::string save;
};

Status RunListRepros(Daemon* daemon, const Globals& globals) {
  v1::ListReprosResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/ListRepros", v1::ListReprosRequest(), &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  std::vector<std::vector<std::string>> rows = {
      {"BUNDLE", "QUARANTINED", "REASON"}};
  for (const v1::Repro& repro : reply.repros()) {
    rows.push_back(
        {repro.id(), repro.quarantined() ? "yes" : "no", repro.reason()});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  return Status();
}

Status WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (file) return Status();
  return Error(INGOT_FAILED_PRECONDITION, "%s cannot be written", path.c_str());
}

Status SaveRepro(const std::string& folder, const v1::Repro& repro) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const std::pair<const char*, const std::string*> files[] = {
      {"key_encoding", &repro.key_encoding()},
      {"reason", &repro.reason()},
      {"log", &repro.log()},
      {"ir", &repro.ir()}};
  for (const auto& [name, bytes] : files) {
    INGOT_CLIENT_RETURN_IF_ERROR(WriteFile(folder + "/" + name, *bytes));
  }
  return Status();
}

// A folder that goes with the object.
class Scratch {
 public:
  Scratch() {
    std::string name =
        (std::filesystem::temp_directory_path() / "ingot-repro-XXXXXX")
            .string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Replay {
  int wait_status = 0;
  bool timed_out = false;
  std::string output;
};

// What the worker prints until it ends or `timeout_s` has passed.
void ReadOutput(int fd, double timeout_s, Replay* replay) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double end = static_cast<double>(now.tv_sec) + timeout_s;
  for (;;) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double left = end - static_cast<double>(now.tv_sec);
    pollfd ready = {fd, POLLIN, 0};
    const int count =
        left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(left * 1000));
    if (count < 0 && errno == EINTR) continue;
    replay->timed_out = count == 0;
    if (count <= 0) return;
    char buffer[4096];
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got <= 0) return;
    replay->output.append(buffer, static_cast<size_t>(got));
  }
}

Status RunWorker(const std::string& program, const std::string& file,
                 double timeout_s, Replay* replay) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    return Error(INGOT_UNAVAILABLE, "pipe: %s", strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], STDERR_FILENO);
  std::string name = "ingot-worker";
  std::string replayed = "--replay=" + file;
  char* argv[] = {name.data(), replayed.data(), nullptr};
  char* envp[] = {nullptr};
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, envp);
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[1]);
  if (error == 0) {
    ReadOutput(pipes[0], timeout_s, replay);
    if (replay->timed_out) kill(pid, SIGKILL);
    while (waitpid(pid, &replay->wait_status, 0) < 0 && errno == EINTR) {
    }
  }
  close(pipes[0]);
  if (error == 0) return Status();
  return Error(INGOT_FAILED_PRECONDITION, "%s cannot be started: %s",
               program.c_str(), strerror(error));
}

std::string DefaultWorker() {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  return (own.parent_path() / "ingot-worker").string();
}

// What happened now, in the words that the daemon uses.
std::string Describe(const Replay& replay) {
  if (replay.timed_out) return "the worker used up its wall time";
  if (WIFSIGNALED(replay.wait_status)) {
    const int signal = WTERMSIG(replay.wait_status);
    return "the worker was ended by signal " + std::to_string(signal) + " (" +
           strsignal(signal) + ")";
  }
  std::string last = replay.output;
  while (!last.empty() && last.back() == '\n') last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  if (WEXITSTATUS(replay.wait_status) <= 1) return last;
  return "the worker exited with " +
         std::to_string(WEXITSTATUS(replay.wait_status)) + ": " + last;
}

Status RunRepro(const ReproFlags& flags, const Globals& globals,
                int* exit_code) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  if (flags.id.empty()) return RunListRepros(daemon.get(), globals);
  v1::GetReproRequest request;
  request.set_id(flags.id);
  v1::GetReproResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/GetRepro", request, &reply));
  const v1::Repro& repro = reply.repro();
  if (!flags.save.empty()) {
    INGOT_CLIENT_RETURN_IF_ERROR(SaveRepro(flags.save, repro));
    if (globals.json()) {
      client::JsonWriter json;
      json.OpenObject();
      json.String("folder", flags.save);
      json.CloseObject();
      puts(json.text().c_str());
    }
    return Status();
  }
  const Scratch scratch;
  const std::string file = scratch.path() + "/key_encoding";
  INGOT_CLIENT_RETURN_IF_ERROR(WriteFile(file, repro.key_encoding()));
  Replay replay;
  INGOT_CLIENT_RETURN_IF_ERROR(
      RunWorker(flags.worker.empty() ? DefaultWorker() : flags.worker, file,
                globals.timeout_s, &replay));
  const std::string now = Describe(replay);
  const bool succeeded = !replay.timed_out && WIFEXITED(replay.wait_status) &&
                         WEXITSTATUS(replay.wait_status) == 0;
  const bool same = repro.reason().find(now) != std::string::npos;
  const char* verdict = succeeded ? "succeeds now"
                        : same    ? "fails as before"
                                  : "fails otherwise";
  if (!succeeded) *exit_code = kExitDisagrees;
  if (globals.json()) {
    client::JsonWriter json;
    json.OpenObject(nullptr);
    json.String("id", repro.id());
    json.String("symbol", repro.symbol());
    json.String("then", repro.reason());
    json.String("now", now);
    json.String("verdict", verdict);
    json.CloseObject();
    puts(json.text().c_str());
    return Status();
  }
  printf("then  %s\nnow   %s\n%s\n", repro.reason().c_str(), now.c_str(),
         verdict);
  if (!succeeded && !replay.output.empty()) {
    printf("\nthe worker said:\n%s", replay.output.c_str());
  }
  return Status();
}

}  // namespace

void AddRepro(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "repro",
      "compile a kernel that failed again, in a worker of this machine; exit "
      "code 6 if it still fails; without a bundle: list them");
  auto flags = std::make_shared<ReproFlags>();
  app->add_option("bundle", flags->id, "its id, as the error named it");
  app->add_option("--worker", flags->worker,
                  "the program to use; default: ingot-worker beside ingotctl");
  app->add_option("--save", flags->save,
                  "write the bundle to a folder instead");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  int* exit_code = registry.exit_code;
  app->callback(
      [=] { *run = [=] { return RunRepro(*flags, *globals, exit_code); }; });
}

}  // namespace ingot::ctl
