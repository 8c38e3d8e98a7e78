// The daemon as one object: store, workers, services, and how they start and
// stop.
#ifndef INGOT_SERVER_DAEMON_H_
#define INGOT_SERVER_DAEMON_H_

#include <grpcpp/server.h>
#include <prometheus/exposer.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "proto/status.h"
#include "server/admin_rpc.h"
#include "server/config.h"
#include "server/kernels_rpc.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/rpc_callers.h"
#include "server/systemd.h"
#include "server/tiers.h"
#include "server/trust.h"
#include "server/unix_listener.h"

namespace ingot::server {

class Daemon {
 public:
  // Everything up and SERVING. FAILED_PRECONDITION and INVALID_ARGUMENT say
  // what an operator has to put right. `log` must outlive the daemon.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const Config& config,
                                                       const Systemd& systemd,
                                                       Log& log);
  // Stops at once what Drain did not.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // NOT_SERVING; hands queued compiles back, lets running ones end within
  // `drain_timeout_seconds`; then ends all calls. Takes less than 10 s.
  void Drain();

  int tcp_port() const { return tcp_port_; }  // 0: none

 private:
  Daemon(const Config& config, const Systemd& systemd, Log& log)
      : config_(config), systemd_(systemd), log_(log) {}

  absl::Status OpenStore();
  absl::Status OpenJournals();
  absl::Status OpenPrograms();
  void StartWorkers();
  void MakeServices();
  absl::Status OpenSocket();
  absl::Status ExportMetrics();
  absl::Status Listen();
  void Tick();

  void ReloadKeys();
  bool SignPlan(const EncodedPlan& plan, std::string* bytes);
  bool RestartPending() const;
  void LogBuild(const std::string& op, absl::string_view key,
                const absl::Status& status, int64_t compile_us,
                const Trace& trace);
  void LogRequest(const RequestLog& request);

  const Config config_;
  const Systemd systemd_;
  Log& log_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> next_request_id_{1};  // for callers that sent none
  std::mutex mutex_;
  std::condition_variable stopped_;

  // In the order in which they need each other.
  Counters counters_;
  std::unique_ptr<ProgramFile> own_program_;
  std::unique_ptr<ProgramFile> worker_program_;
  std::unique_ptr<Trust> trust_;
  std::unique_ptr<Tiers> tiers_;
  std::unique_ptr<KernelStore> store_;
  std::unique_ptr<Disabled> disabled_;
  std::unique_ptr<TuningTable> tuning_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<JobQueue> queue_;
  std::unique_ptr<NegativeCache> refusals_;
  std::unique_ptr<Bundles> bundles_;
  std::unique_ptr<Builder> builder_;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Lookup> lookup_;
  std::unique_ptr<Admin> admin_;
  std::atomic<Admin*> store_listener_{nullptr};
  std::unique_ptr<Callers> callers_;
  std::unique_ptr<KernelsRpc> kernels_rpc_;
  std::unique_ptr<AdminRpc> admin_rpc_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<UnixListener> listener_;
  std::thread ticker_;
  int tcp_port_ = 0;
  std::shared_ptr<Metrics> metrics_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_DAEMON_H_
