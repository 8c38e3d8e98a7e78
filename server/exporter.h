// One Admin.Export: what is stored, as messages of about 1 MiB, made one at a
// time as the caller takes them. The store goes on being used: kernels are
// content addressed and never change, so each is exported whole or not at all,
// and a plan only after all its kernels.
#ifndef INGOT_SERVER_EXPORTER_H_
#define INGOT_SERVER_EXPORTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "cache/store.h"
#include "ingot/v1/bundle.pb.h"
#include "ingot/v1/plan.pb.h"
#include "proto/status.h"
#include "server/counters.h"
#include "server/plans.h"

namespace ingot::server {

// What was exported since the daemon started.
struct ExportCounters {
  explicit ExportCounters(Counters& counters)
      : kernels(counters.Get("ingot_exported_kernels_total")),
        plans(counters.Get("ingot_exported_plans_total")),
        bytes(counters.Get("ingot_exported_bytes_total")) {}

  Counter& kernels;
  Counter& plans;
  Counter& bytes;
};

struct ExportParts {
  cache::Store& store;
  Plans& plans;
  ExportCounters& counters;
  // Whether a record may leave under its key, as for serving.
  std::function<absl::Status(absl::string_view key, absl::string_view record)>
      vouch;
  // Whether an operator lets it out.
  std::function<absl::Status(absl::string_view op, absl::string_view key)>
      permit;
};

// Not thread-safe. Holds some 100 bytes for each entry that was sent.
class Exporter {
 public:
  // INVALID_ARGUMENT for a request that contradicts itself.
  static absl::StatusOr<std::unique_ptr<Exporter>> Make(
      const ExportParts& parts, v1::ExportRequest request);

  // The next message; nullopt after the last one.
  absl::StatusOr<std::optional<v1::ExportResponse>> Next();

 private:
  struct Kernel {
    std::string key;
    std::string record;
    std::string digest;
  };
  struct StoredPlan {
    std::string bytes;
    std::vector<std::string> keys;
    bool serving = false;
    std::optional<uint32_t> spec;  // index in the request
  };
  // What is sent next, in this order; a plan waits for its kernels.
  struct Item {
    std::optional<Kernel> kernel;
    std::optional<StoredPlan> plan;
  };
  enum class Phase { kRecords, kPlans, kSpecs, kSummary, kDone };

  Exporter(const ExportParts& parts, v1::ExportRequest request);

  // Puts more into `items_`, or goes to the next phase.
  absl::Status Refill();
  absl::Status RefillRecords();
  absl::Status RefillPlans();
  absl::Status RefillSpecs();
  void AddRecord(const std::string& key, const std::string& record);
  absl::Status AddStored(const std::string& key);
  // With those of its kernels that were not sent yet.
  absl::Status AddPlan(StoredPlan plan);
  void Send(Item item, v1::ExportResponse* response);
  void SendPlan(const StoredPlan& plan, v1::ExportResponse* response);
  // The next part of `object_`; its record after the last.
  void SendPart(v1::ExportResponse* response);
  void SendRecord(const Kernel& kernel, v1::ExportResponse* response);
  bool Wants(const std::string& op, const std::string& target,
             const std::string& fingerprint) const;

  const ExportParts parts_;
  const v1::ExportRequest request_;
  const absl::flat_hash_set<std::string> wanted_keys_;
  Phase phase_;
  bool first_ = true;
  std::string after_;  // in the phase's scan
  int next_spec_ = 0;
  std::deque<Item> items_;
  std::optional<Kernel> sending_;  // whose object goes out in parts
  cache::Bytes object_;
  size_t offset_ = 0;
  size_t response_bytes_ = 0;
  absl::flat_hash_set<std::string> sent_keys_;
  absl::flat_hash_set<std::string> sent_objects_;
  absl::flat_hash_set<std::string> disabled_keys_;
  v1::ExportSummary summary_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_EXPORTER_H_
