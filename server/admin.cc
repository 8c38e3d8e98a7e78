#include "server/admin.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "compiler/code_object.h"
#include "compiler/plan.h"
#include "server/record_scan.h"
#include "server/spec_text.h"
#include "server/version.h"
#include "server/wire.h"
#include "server/worker/resident.h"

namespace ingot::server {
namespace {

constexpr size_t kDefaultPage = 1000;
constexpr size_t kLargestPage = 10000;

void AddCounter(absl::string_view name, uint64_t value,
                v1::StatsResponse* response) {
  v1::Counter* counter = response->add_counters();
  counter->set_name(std::string(name));
  counter->set_value(static_cast<double>(value));
}

void AddEntry(const v1::Record& record, bool pinned,
              v1::ListResponse* response) {
  const v1::Description& description = record.description();
  v1::ListEntry* entry = response->add_entries();
  entry->set_key(record.key());
  entry->set_digest(record.digest());
  entry->set_size(record.size());
  entry->set_op(description.op());
  entry->set_target(description.target());
  entry->set_symbol(description.symbol());
  entry->set_created_unix_ms(record.created_unix_ms());
  entry->set_vgprs(description.vgprs());
  entry->set_lds_bytes(description.lds_bytes());
  entry->set_pinned(pinned);
}

}  // namespace

absl::StatusOr<v1::StatsResponse> Admin::Stats(const v1::StatsRequest&) {
  v1::StatsResponse response;
  response.set_version(kVersion);
  response.set_uptime_ms(static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyNow() -
                                                            started_)
          .count()));
  const cache::StoreStats store = parts_.store.tiers().Stats();
  response.set_entries(store.entries);
  response.set_store_bytes(store.bytes);
  response.set_memory_bytes(parts_.store.memory().Stats().bytes +
                            parts_.lookup.cached_bytes());
  response.set_workers(static_cast<uint32_t>(parts_.pool.size()));
  response.set_workers_busy(static_cast<uint32_t>(parts_.pool.busy()));
  response.set_queued(parts_.queue.size());
  response.set_daemon_rss_bytes(ResidentBytes());
  for (const auto& [name, value] : parts_.counters.Snapshot()) {
    AddCounter(name, value, &response);
  }
  AddCounter("ingot_builds_in_flight", parts_.builder.in_flight(), &response);
  AddCounter("ingot_disabled", parts_.disabled.size(), &response);
  AddCounter("ingot_recorded_specs", parts_.recorder.size(), &response);
  AddCounter("ingot_store_damaged_total", store.damaged, &response);
  AddCounter("ingot_store_dropped_writes_total", store.dropped_writes,
             &response);
  AddCounter("ingot_store_errors_total", store.errors, &response);
  AddCounter("ingot_store_evictions_total", store.evictions, &response);
  AddCounter("ingot_store_read_only", store.read_only ? 1 : 0, &response);
  AddCounter("ingot_trusted_keys", parts_.trust.trusted_keys(), &response);
  AddCounter("ingot_tuning_epoch", parts_.tuning.epoch(), &response);
  AddCounter("ingot_tuning_records", parts_.tuning.in_force(), &response);
  AddCounter("ingot_worker_sandbox_layers",
             static_cast<uint64_t>(parts_.pool.sandbox_layers()), &response);
  AddCounter("ingot_workers_warm", static_cast<uint64_t>(parts_.pool.warm()),
             &response);
  return response;
}

absl::StatusOr<v1::ListResponse> Admin::List(const v1::ListRequest& request) {
  if (request.page_size() > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat(
        "page_size: found ", request.page_size(), ", allowed ", kLargestPage));
  }
  if (!request.page_token().empty()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("page_token", request.page_token()));
  }
  std::string target;
  if (!request.target().empty()) {
    INGOT_ASSIGN_OR_RETURN(target, CanonicalTarget(request.target()));
  }
  const auto page = static_cast<int>(
      request.page_size() == 0 ? kDefaultPage : request.page_size());
  v1::ListResponse response;
  INGOT_RETURN_IF_ERROR(ScanAll(
      parts_.store.tiers(), request.page_token(), parts_.stopping,
      [&](const cache::ScanEntry& entry) {
        v1::Record record;
        if (!ParseRecord(entry.record, &record)) return true;
        const v1::Description& description = record.description();
        if (!request.op().empty() && request.op() != description.op()) {
          return true;
        }
        if (!target.empty() && target != description.target()) return true;
        if (response.entries_size() == page) {
          response.set_next_page_token(response.entries(page - 1).key());
          return false;
        }
        AddEntry(record, entry.pinned, &response);
        return true;
      }));
  return response;
}

absl::StatusOr<v1::DescribeResponse> Admin::Describe(
    const v1::DescribeRequest& request) {
  INGOT_ASSIGN_OR_RETURN(
      const std::shared_ptr<const AskedPlan> asked,
      parts_.lookup.plans().Get(request.spec().SerializeAsString()));
  const EncodedPlan& encoded = *asked->plan;
  v1::DescribeResponse response;
  if (!response.mutable_plan()->ParseFromString(encoded.bytes)) {
    return absl::InternalError("a plan of ours does not parse");
  }
  for (const Variant& variant : encoded.plan.variants) {
    for (const RecipeStep& step : variant.recipe.steps) {
      const LaunchStep* launch = std::get_if<LaunchStep>(&step);
      if (launch == nullptr) continue;
      const PlanKernel& kernel =
          encoded.plan.kernels[static_cast<size_t>(launch->kernel)];
      response.add_present(
          parts_.store.FindRecord(kernel.key, kernel.encoding).has_value());
    }
  }
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(asked->asked));
  response.set_canonical_text(SpecText(canonical));
  return response;
}

absl::StatusOr<std::string> Admin::KeyOf(const v1::InspectRequest& request) {
  if (!request.key().empty()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("key", request.key()));
    return request.key();
  }
  if (request.digest().empty()) {
    return absl::InvalidArgumentError(
        "inspect: found neither key nor digest, allowed one");
  }
  INGOT_RETURN_IF_ERROR(CheckKeySize("digest", request.digest()));
  std::string key;
  INGOT_RETURN_IF_ERROR(ScanAll(parts_.store.tiers(), "", parts_.stopping,
                                [&](const cache::ScanEntry& entry) {
                                  v1::Record record;
                                  if (!ParseRecord(entry.record, &record))
                                    return true;
                                  if (record.digest() != request.digest())
                                    return true;
                                  key = entry.key;
                                  return false;
                                }));
  if (!key.empty()) return key;
  return absl::NotFoundError(
      absl::StrCat("digest: found ", absl::BytesToHexString(request.digest()),
                   ", which is not stored"));
}

absl::StatusOr<v1::InspectResponse> Admin::Inspect(
    const v1::InspectRequest& request) {
  INGOT_ASSIGN_OR_RETURN(const std::string key, KeyOf(request));
  INGOT_ASSIGN_OR_RETURN(const std::optional<cache::Entry> entry,
                         parts_.store.tiers().Get(key));
  if (!entry) {
    return absl::NotFoundError(absl::StrCat(
        "key: found ", absl::BytesToHexString(key), ", which is not stored"));
  }
  v1::InspectResponse response;
  if (!ParseRecord(*entry->record, response.mutable_record())) {
    return absl::InternalError("a stored record does not parse");
  }
  INGOT_ASSIGN_OR_RETURN(const KernelSpec spec,
                         DecodeKernelSpec(response.record().key_encoding()));
  const Occupancy occupancy =
      OccupancyOf(DescriptionFromWire(response.record().description()),
                  spec.workgroup[0] * spec.workgroup[1] * spec.workgroup[2],
                  spec.dynamic_lds_bytes);
  response.set_occupancy_waves_per_simd(
      static_cast<uint32_t>(std::max(occupancy.waves_per_simd, 0)));
  response.set_occupancy_limited_by(occupancy.limited_by);
  if (request.disassemble()) {
    INGOT_ASSIGN_OR_RETURN(*response.mutable_disassembly(),
                           Disassemble(std::string(*entry->object)));
  }
  return response;
}

absl::StatusOr<std::string> Admin::Disassemble(const std::string& object) {
  auto request = std::make_shared<worker::Request>();
  request->mutable_disassemble()->set_object(object);
  auto promise = std::make_shared<std::promise<JobOutcome>>();
  std::future<JobOutcome> future = promise->get_future();
  Job job;
  job.request = std::move(request);
  job.done = [promise](const Job&, JobOutcome outcome) {
    promise->set_value(std::move(outcome));
  };
  INGOT_RETURN_IF_ERROR(parts_.queue.Push(std::move(job)));
  JobOutcome outcome = future.get();
  if (worker::Reply* reply = std::get_if<worker::Reply>(&outcome)) {
    if (reply->code() == 0) return std::move(*reply->mutable_text());
    return absl::InternalError(absl::StrCat("disassembly: ", reply->message()));
  }
  if (const WorkerDeath* death = std::get_if<WorkerDeath>(&outcome)) {
    return absl::UnavailableError(absl::StrCat("disassembly: ", death->what));
  }
  return std::get<absl::Status>(outcome);
}

absl::StatusOr<uint64_t> Admin::DeleteWhere(
    const std::function<bool(const v1::Record&)>& matches) {
  uint64_t deleted = 0;
  absl::Status failed;
  const auto visit = [&](const cache::ScanEntry& entry) {
    v1::Record record;
    // What does not parse belongs to no op and goes with "all" alone.
    (void)ParseRecord(entry.record, &record);
    if (!matches(record)) return true;
    const absl::StatusOr<bool> was_there =
        parts_.store.tiers().Delete(entry.key);
    failed = was_there.status();
    if (failed.ok() && *was_there) ++deleted;
    return failed.ok();
  };
  // Memory last: it may hold what the disk could not take.
  for (cache::Store* store : {&parts_.store.tiers(), &parts_.store.memory()}) {
    INGOT_RETURN_IF_ERROR(ScanAll(*store, "", parts_.stopping, visit));
    INGOT_RETURN_IF_ERROR(failed);
  }
  return deleted;
}

absl::StatusOr<v1::DeleteResponse> Admin::Delete(
    const v1::DeleteRequest& request) {
  if (request.all() != request.keys().empty() ||
      (!request.op().empty() && !request.all())) {
    return absl::InvalidArgumentError(
        "delete: found neither or both of keys and all, allowed one; op only "
        "with all");
  }
  for (const std::string& key : request.keys()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("keys", key));
  }
  v1::DeleteResponse response;
  if (request.all()) {
    INGOT_ASSIGN_OR_RETURN(const uint64_t deleted,
                           DeleteWhere([&](const v1::Record& record) {
                             return request.op().empty() ||
                                    record.description().op() == request.op();
                           }));
    response.set_deleted(deleted);
    if (request.op().empty()) parts_.builder.Forgive("");
  }
  for (const std::string& key : request.keys()) {
    parts_.builder.Forgive(key);
    INGOT_ASSIGN_OR_RETURN(const bool was_there,
                           parts_.store.tiers().Delete(key));
    if (was_there) {
      response.set_deleted(response.deleted() + 1);
    } else {
      response.add_unknown_keys(key);
    }
  }
  parts_.lookup.ForgetReplies();
  return response;
}

}  // namespace ingot::server
