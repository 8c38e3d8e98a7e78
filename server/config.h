// The daemon's settings. One table in config.cc drives the file, the flags and
// `--help`; a key that is not in it does not exist.
#ifndef INGOT_SERVER_CONFIG_H_
#define INGOT_SERVER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/status.h"

namespace ingot::server {

struct Config {
  std::string socket;           // path; empty: none
  std::string tcp;              // host:port; empty: none
  bool insecure = false;        // TCP beyond loopback without TLS
  std::string tls_certificate;  // all three or none
  std::string tls_private_key;
  std::string tls_client_ca;
  // Rules and roles: server/access.h.
  std::string unix_roles = "*=get,compile,tune";
  std::string tls_roles;
  std::string tcp_roles = "get,compile";
  std::string signing_key;  // PEM files; empty: none
  std::string trusted_keys;
  std::string signature_policy = "off";
  std::string metrics;  // host:port; empty: none
  std::string state_dir;
  std::string worker_program;     // empty: beside ingotd
  int64_t workers = 0;            // 0: as many as the cgroup has CPUs
  int64_t memory_budget_mib = 0;  // of all workers; 0: 80 % of what there is
  int64_t worker_memory_mib = 2560;
  int64_t worker_cpu_seconds = 120;
  int64_t compile_timeout_seconds = 60;
  int64_t worker_max_jobs = 1000;
  int64_t worker_max_rss_mib = 512;
  std::string worker_sandbox = "best_effort";
  int64_t queue_capacity = 1024;
  int64_t memory_cache_mib = 256;
  int64_t reply_cache_mib = 64;
  int64_t plan_cache_mib = 64;
  int64_t store_quota_mib = 16384;
  int64_t store_free_floor_mib = 1024;
  int64_t store_memory_mib = 32;  // of its writes, and of its reads
  int64_t refusal_ttl_seconds = 86400;
  int64_t transient_refusal_ttl_seconds = 10;
  int64_t record_specs = 4096;
  int64_t tuning_ttl_seconds = 90 * 86400;
  int64_t drain_timeout_seconds = 8;
  std::string log_level = "info";
  std::string log_file;  // empty: standard error
};

// From the command line and the file that it names. Nullopt when the command
// line only asked a question (--help, --version): the answer is in `*output`.
// INVALID_ARGUMENT names the key, what was found and what is allowed.
absl::StatusOr<std::optional<Config>> LoadConfig(int argc,
                                                 const char* const* argv,
                                                 std::string* output);

// The settings in `toml` over those in `config`.
absl::Status ApplyToml(const std::string& toml, const std::string& name,
                       Config* config);

// What the environment decides: $XDG_RUNTIME_DIR and $XDG_STATE_HOME, as handed
// in, else /run/ingot and /var/lib/ingot when `root`, else a folder in /tmp.
struct Surroundings {
  std::string runtime_dir;
  std::string state_home;
  std::string home;
  int uid = 0;
};
void FillDefaults(const Surroundings& surroundings, Config* config);
Surroundings SurroundingsOfProcess();

}  // namespace ingot::server

#endif  // INGOT_SERVER_CONFIG_H_
