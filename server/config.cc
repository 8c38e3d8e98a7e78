#include "server/config.h"

#include <toml++/toml.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/version.h"

namespace ingot::server {
namespace {

using Member =
    std::variant<std::string Config::*, int64_t Config::*, bool Config::*>;

struct Key {
  const char* name;  // in the file; the flag is the same with dashes
  const char* help;
  Member member;
  int64_t min = 0;  // of a number
  int64_t max = 0;
};

constexpr int64_t kMostMib = int64_t{1} << 30;
constexpr int64_t kMostSeconds = int64_t{1} << 30;

const std::vector<Key>& Keys() {
  static const auto* const kKeys = new std::vector<Key>{
      {"socket", "Unix socket to listen on, mode 0660", &Config::socket},
      {"tcp",
       "also listen on this address, as 127.0.0.1:7575; port 0 picks one",
       &Config::tcp},
      {"insecure", "allow a TCP address that is not loopback, with no TLS",
       &Config::insecure},
      {"tls_certificate",
       "PEM file of the daemon's certificate; with it the TCP port speaks TLS "
       "and asks callers for theirs; files are read again when they change",
       &Config::tls_certificate},
      {"tls_private_key", "PEM file of its key", &Config::tls_private_key},
      {"tls_client_ca", "PEM file of those who sign callers' certificates",
       &Config::tls_client_ca},
      {"unix_roles",
       "who may do what on the Unix socket: rules user:NAME=ROLES, "
       "group:NAME=ROLES, *=ROLES with roles get,compile,tune,admin or none; "
       "root "
       "and the daemon's user may do everything",
       &Config::unix_roles},
      {"tls_roles",
       "the same by the certificate's name: NAME=ROLES, PREFIX*=ROLES",
       &Config::tls_roles},
      {"tcp_roles", "roles of whoever reaches a TCP port without TLS",
       &Config::tcp_roles},
      {"signing_key",
       "PEM file, mode 0600, of the Ed25519 keys that sign what this daemon "
       "makes, as `ingotctl keygen` writes it; read again when it changes",
       &Config::signing_key},
      {"trusted_keys",
       "PEM file of the public keys whose signatures count beside the daemon's "
       "own; read again when it changes",
       &Config::trusted_keys},
      {"signature_policy",
       "off, verify_if_present (forgeries are refused) or require (so is what "
       "no trusted key signed): for what the store and bundles hold",
       &Config::signature_policy},
      {"metrics",
       "serve Prometheus metrics over HTTP at /metrics of this address, as "
       "127.0.0.1:9464; port 0 picks one; default: nowhere",
       &Config::metrics},
      {"state_dir", "where the store and repro bundles are",
       &Config::state_dir},
      {"worker_program", "path of ingot-worker; default: beside ingotd",
       &Config::worker_program},
      {"workers", "compiles at once; 0: the CPUs of the cgroup",
       &Config::workers, 0, 1024},
      {"memory_budget_mib",
       "memory for all workers; fewer are started when it is short; "
       "0: 80 % of the cgroup's or machine's",
       &Config::memory_budget_mib, 0, kMostMib},
      {"worker_memory_mib", "address space of a worker; 0: unlimited",
       &Config::worker_memory_mib, 0, kMostMib},
      {"worker_cpu_seconds", "CPU time of one compile; 0: unlimited",
       &Config::worker_cpu_seconds, 0, kMostSeconds},
      {"compile_timeout_seconds", "wall time of one compile",
       &Config::compile_timeout_seconds, 1, kMostSeconds},
      {"worker_max_jobs", "compiles after which a worker is replaced",
       &Config::worker_max_jobs, 1, kMostSeconds},
      {"worker_max_rss_mib",
       "resident memory above which a worker is replaced; 0: never",
       &Config::worker_max_rss_mib, 0, kMostMib},
      {"worker_sandbox",
       "off, best_effort or required: no files, no network, no new programs "
       "for workers, as far as the kernel can or else none at all",
       &Config::worker_sandbox},
      {"queue_capacity", "compiles that may wait", &Config::queue_capacity, 8,
       1 << 20},
      {"memory_cache_mib", "kernels kept in memory", &Config::memory_cache_mib,
       1, kMostMib},
      {"reply_cache_mib", "whole replies kept in memory; 0: none",
       &Config::reply_cache_mib, 0, kMostMib},
      {"plan_cache_mib", "plans kept in memory", &Config::plan_cache_mib, 1,
       kMostMib},
      {"store_quota_mib", "size of the store; 0: no limit",
       &Config::store_quota_mib, 0, kMostMib},
      {"store_free_floor_mib",
       "free space of the file system below which nothing is written",
       &Config::store_free_floor_mib, 0, kMostMib},
      {"store_memory_mib",
       "memory for what the store has yet to write, and as much for what it "
       "read",
       &Config::store_memory_mib, 4, 4096},
      {"refusal_ttl_seconds",
       "how long a kernel that the compiler refused is refused again unasked",
       &Config::refusal_ttl_seconds, 1, kMostSeconds},
      {"transient_refusal_ttl_seconds",
       "the same after a time-out or lack of memory",
       &Config::transient_refusal_ttl_seconds, 0, kMostSeconds},
      {"record_specs",
       "specs of live traffic that are counted for `ingotctl record`; 0: none",
       &Config::record_specs, 0, 1 << 20},
      {"tuning_ttl_seconds",
       "how long a tuning record is in force; 0: for ever",
       &Config::tuning_ttl_seconds, 0, kMostSeconds},
      {"drain_timeout_seconds",
       "how long running compiles may go on after SIGTERM",
       &Config::drain_timeout_seconds, 0, 9},
      {"log_level", "debug, info, warn or error", &Config::log_level},
      {"log_file", "file of the JSON log; default: standard error",
       &Config::log_file},
  };
  return *kKeys;
}

std::string FlagOf(const Key& key) {
  std::string flag = "--";
  for (const char* c = key.name; *c != '\0'; ++c) {
    flag += *c == '_' ? '-' : *c;
  }
  return flag;
}

absl::Status Refuse(absl::string_view key, absl::string_view found,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": found ", found, ", allowed ", allowed));
}

std::string RangeOf(const Key& key) {
  return absl::StrCat("a number from ", key.min, " to ", key.max);
}

absl::Status SetFromToml(const Key& key, const toml::node& node,
                         Config* config) {
  if (const auto* text = std::get_if<std::string Config::*>(&key.member)) {
    const toml::value<std::string>* value = node.as_string();
    if (value == nullptr) return Refuse(key.name, "another type", "a string");
    config->*(*text) = value->get();
  } else if (const auto* flag = std::get_if<bool Config::*>(&key.member)) {
    const toml::value<bool>* value = node.as_boolean();
    if (value == nullptr) {
      return Refuse(key.name, "another type", "true, false");
    }
    config->*(*flag) = value->get();
  } else {
    const toml::value<int64_t>* value = node.as_integer();
    if (value == nullptr) return Refuse(key.name, "another type", RangeOf(key));
    config->*std::get<int64_t Config::*>(key.member) = value->get();
  }
  return absl::OkStatus();
}

absl::Status CheckWord(absl::string_view key, absl::string_view found,
                       std::initializer_list<absl::string_view> allowed) {
  for (const absl::string_view word : allowed) {
    if (found == word) return absl::OkStatus();
  }
  return Refuse(key, found, absl::StrJoin(allowed, ", "));
}

absl::Status Check(const Config& config) {
  for (const Key& key : Keys()) {
    const auto* number = std::get_if<int64_t Config::*>(&key.member);
    if (number == nullptr) continue;
    const int64_t value = config.*(*number);
    if (value < key.min || value > key.max) {
      return Refuse(key.name, absl::StrCat(value), RangeOf(key));
    }
  }
  const bool certificate = !config.tls_certificate.empty();
  if (certificate != !config.tls_private_key.empty() ||
      certificate != !config.tls_client_ca.empty()) {
    return Refuse("tls_certificate, tls_private_key, tls_client_ca",
                  "some of them", "all or none");
  }
  if (certificate && config.tcp.empty()) {
    return Refuse("tls_certificate", "no tcp address", "both or none");
  }
  INGOT_RETURN_IF_ERROR(CheckWord("signature_policy", config.signature_policy,
                                  {"off", "verify_if_present", "require"}));
  INGOT_RETURN_IF_ERROR(CheckWord("worker_sandbox", config.worker_sandbox,
                                  {"off", "best_effort", "required"}));
  return CheckWord("log_level", config.log_level,
                   {"debug", "info", "warn", "error"});
}

std::string DefaultOf(const Key& key) {
  const Config defaults;
  if (const auto* number = std::get_if<int64_t Config::*>(&key.member)) {
    return absl::StrCat(" [", defaults.*(*number), "]");
  }
  if (const auto* text = std::get_if<std::string Config::*>(&key.member)) {
    const std::string& value = defaults.*(*text);
    return value.empty() ? "" : absl::StrCat(" [", value, "]");
  }
  return "";
}

// Adds each key's flag; a flag writes into `flags`.
void AddFlags(CLI::App& app, Config& flags) {
  for (const Key& key : Keys()) {
    const std::string help = key.help + DefaultOf(key);
    if (const auto* text = std::get_if<std::string Config::*>(&key.member)) {
      app.add_option(FlagOf(key), flags.*(*text), help)->type_name("TEXT");
    } else if (const auto* flag = std::get_if<bool Config::*>(&key.member)) {
      app.add_flag(FlagOf(key), flags.*(*flag), help);
    } else {
      app.add_option(FlagOf(key),
                     flags.*std::get<int64_t Config::*>(key.member), help)
          ->type_name("NUMBER");
    }
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a directory opens, and only reading it fails
  if (!file.is_open() || file.bad()) {
    return Refuse("config", path, "a file that can be read");
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The flags that were given, over `config`.
void TakeFlags(const CLI::App& app, const Config& flags, Config* config) {
  for (const Key& key : Keys()) {
    if (app.count(FlagOf(key)) == 0) continue;
    std::visit([&](auto member) { config->*member = flags.*member; },
               key.member);
  }
}

}  // namespace

absl::Status ApplyToml(const std::string& toml, const std::string& name,
                       Config* config) {
  toml::table table;
  try {
    table = toml::parse(toml, name);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ":", error.source().begin.line, ": ",
                     absl::string_view(error.description().data(),
                                       error.description().size())));
  }
  for (auto&& [entry, node] : table) {
    const absl::string_view found(entry.str().data(), entry.str().size());
    const Key* known = nullptr;
    for (const Key& key : Keys()) {
      if (found == key.name) known = &key;
    }
    const std::string where = absl::StrCat(name, ":", node.source().begin.line);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": ", found, ": no such key; see ingotd --help"));
    }
    INGOT_RETURN_IF_ERROR(Annotate(SetFromToml(*known, node, config), where));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Config>> LoadConfig(int argc,
                                                 const char* const* argv,
                                                 std::string* output) {
  CLI::App app(
      "ingotd: compiles GPU kernels and keeps them.\n"
      "Every option below is also a key of the TOML file, spelled with "
      "underscores; a flag wins over the file.");
  std::string file;
  app.add_option("--config", file, "TOML file")->type_name("FILE");
  app.set_version_flag("--version", absl::StrCat("ingotd ", kVersion));
  // Said twice, the last one counts, so that a wrapper's flags can be
  // overruled.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  Config flags;
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *output = app.help();
    return std::optional<Config>();
  } catch (const CLI::CallForVersion&) {
    *output = absl::StrCat("ingotd ", kVersion, "\n");
    return std::optional<Config>();
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  Config config;
  if (!file.empty()) {
    INGOT_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    INGOT_RETURN_IF_ERROR(ApplyToml(text, file, &config));
  }
  TakeFlags(app, flags, &config);
  FillDefaults(SurroundingsOfProcess(), &config);
  INGOT_RETURN_IF_ERROR(Check(config));
  return std::optional<Config>(std::move(config));
}

void FillDefaults(const Surroundings& surroundings, Config* config) {
  if (config->socket.empty() && config->tcp.empty()) {
    config->socket =
        !surroundings.runtime_dir.empty()
            ? absl::StrCat(surroundings.runtime_dir, "/ingot/ingotd.sock")
        : surroundings.uid == 0
            ? "/run/ingot/ingotd.sock"
            : absl::StrCat("/tmp/ingot-", surroundings.uid, "/ingotd.sock");
  }
  if (!config->state_dir.empty()) return;
  if (!surroundings.state_home.empty()) {
    config->state_dir = absl::StrCat(surroundings.state_home, "/ingot");
  } else if (surroundings.uid == 0) {
    config->state_dir = "/var/lib/ingot";
  } else {
    config->state_dir = absl::StrCat(surroundings.home, "/.local/state/ingot");
  }
}

Surroundings SurroundingsOfProcess() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return {variable("XDG_RUNTIME_DIR"), variable("XDG_STATE_HOME"),
          variable("HOME"), static_cast<int>(geteuid())};
}

}  // namespace ingot::server
