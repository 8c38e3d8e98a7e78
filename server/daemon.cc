#include "server/daemon.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "server/cpu_budget.h"
#include "server/listen_address.h"
#include "server/rpc_credentials.h"
#include "server/version.h"

namespace ingot::server {
namespace {

using Level = Log::Level;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kMib = 1 << 20;
constexpr size_t kMaxRefusals = 65536;
constexpr size_t kMaxBundles = 64;
// How long calls may take to end once there is nothing more to wait for.
constexpr milliseconds kShutdownGrace{500};
constexpr milliseconds kTick{1000};
// Bytes of a caller's request id that the log shows.
constexpr size_t kMaxLoggedId = 128;

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("state_dir: cannot make ", path, ": ", error.message()));
}

std::string OwnPath() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

// gRPC logs for the process, so there is one. Null: what it says is dropped.
std::atomic<Log*> grpc_log{nullptr};

// What gRPC prints by itself are bytes of whoever connects, as many as they
// like: escaped, and only for those who look for them.
void LogForGrpc(gpr_log_func_args* args) {
  Log* log = grpc_log.load();
  if (log == nullptr) return;
  log->Write(Level::kDebug, "grpc",
             {{"what", args->message}, {"file", args->file}});
}

std::string Hex(absl::string_view key) { return absl::BytesToHexString(key); }

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const Config& config,
                                                      const Systemd& systemd,
                                                      Log& log) {
  grpc_log.store(&log);
  gpr_set_log_function(LogForGrpc);
  std::unique_ptr<Daemon> daemon(new Daemon(config, systemd, log));
  if (!config.tcp.empty()) {
    INGOT_RETURN_IF_ERROR(CheckTcpAddress(
        config.tcp, config.insecure || !config.tls_certificate.empty()));
  }
  INGOT_ASSIGN_OR_RETURN(
      AccessPolicy policy,
      AccessPolicy::Parse(config.unix_roles, config.tls_roles,
                          config.tcp_roles));
  daemon->callers_ = std::make_unique<Callers>(std::move(policy),
                                               !config.tls_certificate.empty());
  INGOT_RETURN_IF_ERROR(MakeFolder(config.state_dir));
  INGOT_RETURN_IF_ERROR(daemon->OpenStore());
  INGOT_RETURN_IF_ERROR(daemon->OpenJournals());
  INGOT_RETURN_IF_ERROR(daemon->OpenPrograms());
  daemon->StartWorkers();
  daemon->MakeServices();
  INGOT_RETURN_IF_ERROR(daemon->ExportMetrics());
  INGOT_RETURN_IF_ERROR(daemon->Listen());
  daemon->ticker_ = std::thread([d = daemon.get()] { d->Tick(); });
  systemd.Notify("READY=1");
  log.Write(
      Level::kInfo, "serving",
      {{"version", kVersion},
       {"socket", config.socket},
       {"tcp_port", daemon->tcp_port_},
       {"metrics_port", daemon->exposer_ == nullptr
                            ? 0
                            : daemon->exposer_->GetListeningPorts().front()},
       {"workers", daemon->pool_->size()},
       {"entries",
        static_cast<int64_t>(daemon->tiers_->all().Stats().entries)}});
  return daemon;
}

absl::Status Daemon::OpenStore() {
  INGOT_ASSIGN_OR_RETURN(const SignaturePolicy policy,
                         ParseSignaturePolicy(config_.signature_policy));
  INGOT_ASSIGN_OR_RETURN(
      trust_, Trust::Open({policy, config_.signing_key, config_.trusted_keys},
                          counters_));
  TierEvents events;
  events.log = [this](absl::string_view line) {
    log_.Write(Level::kWarn, "store", {{"what", line}});
  };
  events.on_damage = [this](absl::string_view key, const absl::Status& why) {
    log_.Write(Level::kError, "damaged entry dropped",
               {{"key", Hex(key)}, {"why", why.message()}});
    if (Admin* admin = store_listener_.load()) admin->OnDamage(key);
  };
  events.on_refused = [this](absl::string_view key, const absl::Status& why) {
    log_.Write(Level::kError, "ALARM: untrusted entry refused",
               {{"key", Hex(key)}, {"why", why.message()}});
    if (Admin* admin = store_listener_.load()) admin->OnUntrusted();
  };
  INGOT_ASSIGN_OR_RETURN(tiers_,
                         Tiers::Open(config_, *trust_, std::move(events)));
  store_ = std::make_unique<KernelStore>(
      tiers_->memory(), tiers_->all(), counters_,
      [this](const std::string& line) {
        log_.Write(Level::kError, "store", {{"what", line}});
      });
  return absl::OkStatus();
}

// After the store, whose lock keeps another daemon out of them.
absl::Status Daemon::OpenJournals() {
  const auto note = [this](const std::string& line) {
    log_.Write(Level::kError, "journal", {{"what", line}});
  };
  INGOT_ASSIGN_OR_RETURN(
      disabled_,
      Disabled::Open(absl::StrCat(config_.state_dir, "/disabled"), note));
  TuningOptions tuning;
  tuning.path = absl::StrCat(config_.state_dir, "/tuning");
  tuning.ttl_ms = config_.tuning_ttl_seconds * 1000;
  tuning.note = note;
  INGOT_ASSIGN_OR_RETURN(tuning_,
                         TuningTable::Open(std::move(tuning), counters_));
  return absl::OkStatus();
}

absl::Status Daemon::OpenPrograms() {
  const std::string own = OwnPath();
  INGOT_ASSIGN_OR_RETURN(own_program_, ProgramFile::Open(own));
  const std::string worker =
      !config_.worker_program.empty()
          ? config_.worker_program
          : (std::filesystem::path(own).parent_path() / "ingot-worker")
                .string();
  absl::StatusOr<std::unique_ptr<ProgramFile>> program =
      ProgramFile::Open(worker);
  INGOT_RETURN_IF_ERROR(Annotate(program.status(), "worker_program"));
  worker_program_ = *std::move(program);
  return absl::OkStatus();
}

void Daemon::StartWorkers() {
  const Budget budget = BudgetOfProcess();
  const int64_t memory = config_.memory_budget_mib > 0
                             ? config_.memory_budget_mib * kMib
                             : budget.memory_bytes / 5 * 4;
  PoolSettings settings;
  settings.workers = WorkerCount(static_cast<int>(config_.workers), budget,
                                 memory, config_.worker_max_rss_mib * kMib);
  settings.worker.memory_bytes = config_.worker_memory_mib * kMib;
  settings.worker.cpu_seconds = config_.worker_cpu_seconds;
  settings.worker.sandbox = config_.worker_sandbox;
  settings.worker.directory = absl::StrCat(config_.state_dir, "/work");
  settings.job_timeout = seconds(config_.compile_timeout_seconds);
  settings.max_jobs = static_cast<int>(config_.worker_max_jobs);
  settings.max_rss_bytes =
      static_cast<uint64_t>(config_.worker_max_rss_mib * kMib);
  std::error_code error;
  std::filesystem::create_directories(settings.worker.directory, error);
  if (error) settings.worker.directory.clear();  // ours will do

  queue_ =
      std::make_unique<JobQueue>(static_cast<size_t>(config_.queue_capacity));
  refusals_ = std::make_unique<NegativeCache>(
      kMaxRefusals, seconds(config_.refusal_ttl_seconds),
      seconds(config_.transient_refusal_ttl_seconds));
  bundles_ = std::make_unique<Bundles>(
      absl::StrCat(config_.state_dir, "/bundles"), kMaxBundles);
  builder_ = std::make_unique<Builder>(
      *store_, *queue_, *refusals_, *bundles_, *trust_, counters_,
      settings.workers,
      [this](const std::string& op, absl::string_view key,
             const absl::Status& status, int64_t us,
             const std::string& traceparent) {
        LogBuild(op, key, status, us, SpanOf(traceparent));
      });
  pool_ = std::make_unique<WorkerPool>(
      *worker_program_, *queue_, counters_, std::move(settings),
      [this](absl::string_view event, const std::string& what,
             const std::string& traceparent) {
        const Trace trace = SpanOf(traceparent);
        if (trace.trace_id.empty()) {
          log_.Write(Level::kInfo, event, {{"what", what}});
          return;
        }
        log_.Write(Level::kInfo, event,
                   {{"what", what},
                    {"trace_id", trace.trace_id},
                    {"span_id", trace.span_id}});
      });
}

void Daemon::MakeServices() {
  LookupSettings settings;
  settings.reply_cache_bytes =
      static_cast<size_t>(config_.reply_cache_mib * kMib);
  settings.plan_cache_bytes =
      static_cast<size_t>(config_.plan_cache_mib * kMib);
  settings.sign_plan = [this](const EncodedPlan& plan, std::string* bytes) {
    return SignPlan(plan, bytes);
  };
  recorder_ = std::make_unique<Recorder>(
      static_cast<size_t>(config_.record_specs), counters_);
  lookup_ = std::make_unique<Lookup>(
      *store_, *builder_, *disabled_, *tuning_, *recorder_, counters_, settings,
      [this](const RequestLog& request) { LogRequest(request); });
  tuning_->OnChange([this] { lookup_->ForgetTuning(); });
  admin_ = std::make_unique<Admin>(
      Admin::Parts{*store_, *trust_, *builder_, *bundles_, *lookup_, *disabled_,
                   *tuning_, *recorder_, *queue_, *pool_, counters_,
                   [this] { return stopping_.load(); }});
  store_listener_.store(admin_.get());
  kernels_rpc_ = std::make_unique<KernelsRpc>(
      *lookup_, *callers_, [this] { return RestartPending(); });
  admin_rpc_ = std::make_unique<AdminRpc>(*admin_, *callers_);
}

absl::Status Daemon::OpenSocket() {
  if (systemd_.socket()) {
    INGOT_ASSIGN_OR_RETURN(listener_, UnixListener::Adopt(*systemd_.socket()));
  } else if (!config_.socket.empty()) {
    INGOT_ASSIGN_OR_RETURN(listener_, UnixListener::Open(config_.socket));
  }
  return absl::OkStatus();
}

absl::Status Daemon::ExportMetrics() {
  if (config_.metrics.empty()) return absl::OkStatus();
  metrics_ =
      std::make_shared<Metrics>([this] { return *admin_->Stats({}); },
                                [this] { return counters_.Histograms(); });
  try {
    exposer_ = std::make_unique<prometheus::Exposer>(config_.metrics, 1);
  } catch (const std::exception& error) {
    return absl::FailedPreconditionError(absl::StrCat(
        "metrics: cannot listen on ", config_.metrics, ": ", error.what()));
  }
  exposer_->RegisterCollectable(metrics_);
  return absl::OkStatus();
}

absl::Status Daemon::Listen() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxRequestBytes));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Clients find a dead peer by pinging; let them.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  builder.RegisterService(kernels_rpc_.get());
  builder.RegisterService(admin_rpc_.get());
  int tcp_bound = 0;
  if (!config_.tcp.empty()) {
    std::shared_ptr<grpc::ServerCredentials> credentials =
        grpc::InsecureServerCredentials();
    if (!config_.tls_certificate.empty()) {
      INGOT_ASSIGN_OR_RETURN(
          credentials,
          TlsCredentials({config_.tls_certificate, config_.tls_private_key,
                          config_.tls_client_ca}));
    }
    builder.AddListeningPort(config_.tcp, credentials, &tcp_bound);
  }
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", config_.tcp));
  }
  // Last of all: who can connect to it may take the daemon for up.
  INGOT_RETURN_IF_ERROR(OpenSocket());
  if (listener_ != nullptr) {
    listener_->Start([this](int fd, const UnixPeer& peer) {
      callers_->Connected(fd, peer);
      grpc::AddInsecureChannelFromFd(server_.get(), fd);
    });
  }
  if (!config_.tcp.empty()) tcp_port_ = tcp_bound;
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus(v1::Kernels::service_full_name(), true);
  health->SetServingStatus(v1::Admin::service_full_name(), true);
  health->SetServingStatus(true);
  return absl::OkStatus();
}

// Replies that are kept whole do not see what the store loses by itself.
void Daemon::Tick() {
  uint64_t seen = 0;
  // Twice as often as the watchdog wants.
  const auto tick = std::min<std::chrono::microseconds>(
      kTick, systemd_.watchdog().value_or(kTick * 2) / 2);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_.wait_for(lock, tick, [this] { return stopping_.load(); })) {
    if (systemd_.watchdog()) systemd_.Notify("WATCHDOG=1");
    const cache::StoreStats stats = tiers_->all().Stats();
    const uint64_t losses = stats.evictions + stats.damaged;
    if (losses != seen) lookup_->ForgetReplies();
    seen = losses;
    ReloadKeys();
    const absl::Status expired = tuning_->Expire();
    if (!expired.ok()) {
      log_.Write(Level::kError, "tuning records not expired",
                 {{"why", expired.message()}});
    }
  }
}

void Daemon::ReloadKeys() {
  const absl::StatusOr<bool> changed = trust_->Reload();
  if (!changed.ok()) {
    log_.Write(Level::kError, "keys not reloaded",
               {{"why", changed.status().message()}});
    return;
  }
  if (!*changed) return;
  tiers_->Reconsider();
  lookup_->plans().Forget();
  lookup_->ForgetReplies();
  log_.Write(Level::kInfo, "keys reloaded",
             {{"trusted", static_cast<int64_t>(trust_->trusted_keys())}});
}

bool Daemon::SignPlan(const EncodedPlan& plan, std::string* bytes) {
  if (trust_->CanSign()) {
    trust_->SignPlan(bytes);
    return true;
  }
  // Who imported kernels that others signed has their plans, too.
  const absl::StatusOr<std::optional<cache::Bytes>> stored =
      tiers_->all().GetPlan(PlanKey(plan));
  if (!stored.ok() || !*stored || !SamePlan(***stored, *bytes)) {
    return trust_->policy() == SignaturePolicy::kOff;
  }
  *bytes = std::string(***stored);
  return true;
}

bool Daemon::RestartPending() const {
  return own_program_->ChangedOnDisk() || worker_program_->ChangedOnDisk() ||
         pool_->foreign_worker();
}

void Daemon::LogBuild(const std::string& op, absl::string_view key,
                      const absl::Status& status, int64_t compile_us,
                      const Trace& trace) {
  log_.Write(status.ok() ? Level::kInfo : Level::kWarn, "compile",
             {{"op", op},
              {"key", Hex(key)},
              {"code", absl::StatusCodeToString(status.code())},
              {"message", status.message()},
              {"compile_us", compile_us},
              {"trace_id", trace.trace_id},
              {"span_id", trace.span_id}});
}

void Daemon::LogRequest(const RequestLog& request) {
  log_.Write(Level::kInfo, "request",
             {{"request_id",
               request.request_id.empty()
                   ? absl::StrCat("ingotd-", next_request_id_.fetch_add(1))
                   : request.request_id.substr(0, kMaxLoggedId)},
              {"caller", request.caller},
              {"op", request.op},
              {"code", absl::StatusCodeToString(request.status.code())},
              {"message", request.status.message()},
              {"compile_us", request.compile_us},
              {"wait_us", request.wait_us},
              {"trace_id", request.trace.trace_id},
              {"span_id", request.trace.span_id},
              {"parent_id", request.trace.parent_id}});
}

void Daemon::Drain() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_.exchange(true)) return;
    stopped_.notify_all();
  }
  log_.Write(Level::kInfo, "draining",
             {{"builds", static_cast<int64_t>(builder_->in_flight())}});
  systemd_.Notify("STOPPING=1");
  server_->GetHealthCheckService()->SetServingStatus(false);
  builder_->Drain();
  const MonotonicTime deadline =
      SteadyNow() + seconds(config_.drain_timeout_seconds);
  while (builder_->in_flight() > 0 && SteadyNow() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  pool_->Interrupt();
  builder_->GiveUp();
  if (listener_ != nullptr) listener_->Stop();
  server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  pool_->Stop();
  log_.Write(Level::kInfo, "stopped", {});
}

Daemon::~Daemon() {
  exposer_.reset();  // it reads what goes below
  stopping_.store(true);
  stopped_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  if (queue_) builder_->Drain();
  if (pool_) pool_->Interrupt();
  if (builder_) builder_->GiveUp();
  if (listener_) listener_->Stop();
  if (server_) server_->Shutdown(std::chrono::system_clock::now());
  if (pool_) pool_->Stop();
  // Before the objects that its calls and its damage reports look at.
  server_.reset();
  grpc_log.store(nullptr);
  admin_rpc_.reset();
  store_listener_.store(nullptr);
}

}  // namespace ingot::server
