#include "server/worker/serve.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "compiler/compile.h"
#include "compiler/fingerprint.h"
#include "compiler/kernel_spec.h"
#include "server/worker/framing.h"
#include "server/worker/hello.h"
#include "server/worker/resident.h"

namespace ingot::server {
namespace {

// Sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitAddressSpace = false;
#else
constexpr bool kLimitAddressSpace = true;
#endif

// No job writes a larger file; LLD's output and our log are all there is.
constexpr rlim_t kMaxFileBytes = rlim_t{512} << 20;

void SetLimit(int resource, rlim_t soft) {
  rlimit limit = {};
  getrlimit(resource, &limit);
  limit.rlim_cur = soft;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < soft) {
    limit.rlim_cur = limit.rlim_max;
  }
  setrlimit(resource, &limit);
}

[[noreturn]] void OutOfMemory() {
  constexpr char kMessage[] = "ingot-worker: out of memory\n";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(kWorkerOutOfMemory);
}

void ApplyLimits(const WorkerLimits& limits) {
  SetLimit(RLIMIT_CORE, 0);
  SetLimit(RLIMIT_FSIZE, kMaxFileBytes);
  if (kLimitAddressSpace && limits.memory_bytes > 0) {
    SetLimit(RLIMIT_AS, static_cast<rlim_t>(limits.memory_bytes));
  }
  std::set_new_handler(OutOfMemory);
}

// RLIMIT_CPU counts from the start of the process: each job gets its share on
// top of what is already used.
void AllowCpuForJob(int64_t seconds) {
  if (seconds <= 0) return;
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  SetLimit(RLIMIT_CPU,
           static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                               1 + seconds));
}

void SetStatus(const absl::Status& status, worker::Reply& reply) {
  reply.set_code(static_cast<int>(status.code()));
  const absl::string_view message = status.message();
  reply.set_message(message.data(), message.size());
}

void RunCompile(const worker::Compile& job, worker::Reply& reply) {
  const absl::StatusOr<KernelSpec> spec = DecodeKernelSpec(job.key_encoding());
  if (!spec.ok()) return SetStatus(spec.status(), reply);
  absl::StatusOr<CompiledKernel> kernel = Compile(*spec);
  if (!kernel.ok()) {
    SetStatus(kernel.status(), reply);
    if (kernel.status().code() == absl::StatusCode::kInternal) {
      // Again with the IR written down: only a failure pays for the text.
      CompileOptions options;
      options.ir_dump = reply.mutable_ir_dump();
      (void)Compile(*spec, options);
    }
    return;
  }
  reply.set_object(std::move(kernel->object));
  for (const ingot::StageTime& stage : kernel->stages) {
    worker::StageTime* entry = reply.add_stages();
    entry->set_stage(stage.stage);
    entry->set_micros(stage.micros);
  }
}

void RunDisassemble(const worker::Disassemble& job, worker::Reply& reply) {
  absl::StatusOr<std::string> text = ingot::Disassemble(job.object());
  if (!text.ok()) return SetStatus(text.status(), reply);
  reply.set_text(*std::move(text));
}

void RunJob(const worker::Request& request, worker::Reply& reply) {
  switch (request.job_case()) {
    case worker::Request::kCompile:
      return RunCompile(request.compile(), reply);
    case worker::Request::kDisassemble:
      return RunDisassemble(request.disassemble(), reply);
    case worker::Request::JOB_NOT_SET:
      return SetStatus(absl::InvalidArgumentError("a request with no job"),
                       reply);
  }
}

// Compiles what a file asks for, once, for `ingotctl repro`: no sandbox and no
// daemon, so that a debugger can be used. Says what happened in one line; 0 for
// an object, 1 for a refusal.
int Replay(const std::string& path, const WorkerHooks& hooks) {
  std::ifstream file(path, std::ios::binary);
  worker::Request request;
  request.mutable_compile()->set_key_encoding(
      std::string(std::istreambuf_iterator<char>(file), {}));
  absl::StatusOr<KernelSpec> spec =
      DecodeKernelSpec(request.compile().key_encoding());
  worker::Reply reply;
  if (!spec.ok()) {
    SetStatus(spec.status(), reply);
  } else {
    const absl::StatusOr<std::string> own = OpFingerprint(spec->op);
    if (own.ok() && *own != spec->fingerprint) {
      std::printf("the kernel failed with other code of %s than this\n",
                  spec->op.c_str());
      std::fflush(stdout);
      spec->fingerprint = *own;
      request.mutable_compile()->set_key_encoding(EncodeKernelSpec(*spec));
    }
    if (hooks.before) hooks.before(request, reply);
    RunCompile(request.compile(), reply);
    if (hooks.after) hooks.after(request, reply);
  }
  if (reply.code() == 0) {
    std::printf("compiled to %zu bytes\n", reply.object().size());
    return 0;
  }
  std::printf("%s\n", reply.message().c_str());
  return 1;
}

bool ReadFlag(absl::string_view argument, absl::string_view name,
              int64_t* value) {
  return absl::ConsumePrefix(&argument, name) &&
         absl::ConsumePrefix(&argument, "=") &&
         absl::SimpleAtoi(argument, value) && *value >= 0;
}

}  // namespace

absl::Status ServeWorker(int fd, const WorkerLimits& limits,
                         const WorkerHooks& hooks) {
  INGOT_ASSIGN_OR_RETURN(const Sandbox sandbox,
                         EnterSandbox(limits.sandbox, hooks.writable));
  worker::Hello hello = OwnHello();
  for (const std::string& layer : sandbox.layers) {
    hello.add_sandbox_layers(layer);
  }
  hello.set_sandbox_missing(sandbox.missing);
  if (hooks.hello) hooks.hello(hello);
  INGOT_RETURN_IF_ERROR(WriteFrame(fd, hello.SerializeAsString()));
  for (;;) {
    const absl::StatusOr<std::string> frame = ReadFrame(fd);
    if (absl::IsUnavailable(frame.status())) return absl::OkStatus();
    INGOT_RETURN_IF_ERROR(frame.status());
    worker::Request request;
    if (!request.ParseFromString(*frame)) {
      return absl::DataLossError("a request that does not parse");
    }
    AllowCpuForJob(limits.cpu_seconds);
    if (!request.trace().empty()) {
      std::fprintf(stderr, "trace %s\n", request.trace().c_str());
    }
    worker::Reply reply;
    if (hooks.before) hooks.before(request, reply);
    RunJob(request, reply);
    if (hooks.after) hooks.after(request, reply);
    reply.set_rss_bytes(ResidentBytes());
    INGOT_RETURN_IF_ERROR(WriteFrame(fd, reply.SerializeAsString()));
  }
}

int WorkerMain(int argc, char** argv, const WorkerHooks& hooks) {
  WorkerLimits limits;
  int64_t parent = 0;
  std::string replayed;
  for (int i = 1; i < argc; ++i) {
    absl::string_view mode = argv[i];
    if (absl::ConsumePrefix(&mode, "--replay=")) {
      replayed = std::string(mode);
    } else if (absl::ConsumePrefix(&mode, "--sandbox=")) {
      const absl::StatusOr<SandboxMode> parsed = ParseSandboxMode(mode);
      if (!parsed.ok()) {
        std::fprintf(stderr, "ingot-worker: %s\n",
                     parsed.status().ToString().c_str());
        return 2;
      }
      limits.sandbox = *parsed;
    } else if (!ReadFlag(argv[i], "--memory-bytes", &limits.memory_bytes) &&
               !ReadFlag(argv[i], "--cpu-seconds", &limits.cpu_seconds) &&
               !ReadFlag(argv[i], "--parent", &parent)) {
      std::fprintf(stderr, "ingot-worker: unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  if (!replayed.empty()) {
    const absl::Status warm = WarmUpCompiler();
    if (warm.ok()) return Replay(replayed, hooks);
    std::fprintf(stderr, "ingot-worker: %s\n", warm.ToString().c_str());
    return 2;
  }
  if (parent == 0) {
    std::fprintf(stderr, "ingot-worker is started by ingotd, not by hand\n");
    return 2;
  }
  close(kWorkerProgramFd);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 0;  // it died before the line above
  ApplyLimits(limits);
  absl::Status status = WarmUpCompiler();
  if (status.ok()) status = ServeWorker(kWorkerSocket, limits, hooks);
  if (status.ok()) return 0;
  std::fprintf(stderr, "ingot-worker: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace ingot::server
