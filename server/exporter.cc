#include "server/exporter.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "server/object_parts.h"
#include "server/plan_check.h"
#include "server/record_scan.h"
#include "server/validity.h"
#include "server/version.h"

namespace ingot::server {
namespace {

// A message is sent when it has so many bytes.
constexpr size_t kMessageBytes = kMaxPartBytes;
// Entries read in one go of the store, and how often in one message: one that
// little matches is sent before its time, so that no call holds a thread for
// long.
constexpr size_t kPage = 64;
constexpr int kMaxRefills = 64;

absl::Status CheckRequest(const v1::ExportRequest& request) {
  for (const std::string& key : request.keys()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("keys", key));
  }
  if (!request.specs().empty() &&
      (!request.op().empty() || !request.target().empty() ||
       !request.keys().empty() || request.all_fingerprints())) {
    return absl::InvalidArgumentError(
        "specs: found op, target, keys or all_fingerprints as well, allowed "
        "specs alone");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Exporter>> Exporter::Make(
    const ExportParts& parts, v1::ExportRequest request) {
  INGOT_RETURN_IF_ERROR(CheckRequest(request));
  return std::unique_ptr<Exporter>(new Exporter(parts, std::move(request)));
}

Exporter::Exporter(const ExportParts& parts, v1::ExportRequest request)
    : parts_(parts),
      request_(std::move(request)),
      wanted_keys_(request_.keys().begin(), request_.keys().end()),
      phase_(request_.specs().empty() ? Phase::kRecords : Phase::kSpecs) {}

absl::StatusOr<std::optional<v1::ExportResponse>> Exporter::Next() {
  if (phase_ == Phase::kDone) return std::nullopt;
  v1::ExportResponse response;
  if (std::exchange(first_, false)) response.set_daemon(kVersion);
  response_bytes_ = 0;
  int refills = 0;
  while (response_bytes_ < kMessageBytes && refills < kMaxRefills) {
    if (object_ != nullptr) {
      SendPart(&response);
    } else if (!items_.empty()) {
      Item item = std::move(items_.front());
      items_.pop_front();
      Send(std::move(item), &response);
    } else if (phase_ != Phase::kSummary) {
      INGOT_RETURN_IF_ERROR(Refill());
      ++refills;
    } else {
      for (const std::string& key : request_.keys()) {
        if (!sent_keys_.contains(key)) summary_.add_missing_keys(key);
      }
      summary_.set_disabled(disabled_keys_.size());
      *response.mutable_summary() = std::move(summary_);
      phase_ = Phase::kDone;
      break;
    }
  }
  parts_.counters.bytes.Add(response_bytes_);
  return response;
}

absl::Status Exporter::Refill() {
  switch (phase_) {
    case Phase::kRecords:
      return RefillRecords();
    case Phase::kPlans:
      return RefillPlans();
    default:
      return RefillSpecs();
  }
}

bool Exporter::Wants(const std::string& op, const std::string& target,
                     const std::string& fingerprint) const {
  return (request_.op().empty() || request_.op() == op) &&
         (request_.target().empty() || request_.target() == target) &&
         (request_.all_fingerprints() || IsCurrent(op, fingerprint));
}

void Exporter::AddRecord(const std::string& key, const std::string& bytes) {
  v1::Record record;
  if (!CheckStoredRecord(key, bytes).ok() || !parts_.vouch(key, bytes).ok() ||
      !ParseRecord(bytes, &record)) {
    return;
  }
  const v1::Description& description = record.description();
  if (request_.specs().empty() &&
      !Wants(description.op(), description.target(), record.fingerprint())) {
    return;
  }
  if (!parts_.permit(description.op(), key).ok()) {
    disabled_keys_.insert(key);
    return;
  }
  items_.push_back({Kernel{key, bytes, record.digest()}, std::nullopt});
}

absl::Status Exporter::AddStored(const std::string& key) {
  INGOT_ASSIGN_OR_RETURN(const std::optional<cache::ScanEntry> entry,
                         FindStored(parts_.store, key));
  if (entry) AddRecord(key, entry->record);
  return absl::OkStatus();
}

absl::Status Exporter::RefillRecords() {
  if (!wanted_keys_.empty()) {
    phase_ = Phase::kPlans;
    for (const std::string& key : wanted_keys_) {
      INGOT_RETURN_IF_ERROR(AddStored(key));
    }
    return absl::OkStatus();
  }
  bool more = false;
  INGOT_RETURN_IF_ERROR(
      parts_.store.Scan(after_, kPage, [&](const cache::ScanEntry& entry) {
        more = true;
        after_ = entry.key;
        AddRecord(entry.key, entry.record);
        return true;
      }));
  if (!more) {
    phase_ = Phase::kPlans;
    after_.clear();
  }
  return absl::OkStatus();
}

absl::Status Exporter::RefillPlans() {
  std::vector<StoredPlan> page;
  bool more = false;
  INGOT_RETURN_IF_ERROR(
      parts_.store.ScanPlans(after_, kPage, [&](const cache::PlanEntry& entry) {
        more = true;
        after_ = entry.plan_key;
        v1::Plan plan;
        if (!plan.ParseFromString(entry.plan)) return true;
        const v1::Spec& spec = plan.resolved_spec();
        if (Wants(spec.op(), spec.target(), plan.fingerprint())) {
          page.push_back({entry.plan, KernelsOf(plan),
                          IsCurrent(spec.op(), plan.fingerprint()),
                          std::nullopt});
        }
        return true;
      }));
  if (!more) phase_ = Phase::kSummary;
  for (StoredPlan& plan : page) {
    INGOT_RETURN_IF_ERROR(AddPlan(std::move(plan)));
  }
  return absl::OkStatus();
}

absl::Status Exporter::RefillSpecs() {
  if (next_spec_ == request_.specs_size()) {
    phase_ = Phase::kSummary;
    return absl::OkStatus();
  }
  const int index = next_spec_++;
  const absl::StatusOr<std::shared_ptr<const AskedPlan>> asked =
      parts_.plans.Get(request_.specs(index).SerializeAsString());
  if (!asked.ok()) {
    return Annotate(asked.status(), absl::StrCat("specs[", index, "]"));
  }
  StoredPlan plan;
  plan.bytes = (*asked)->plan->bytes;
  for (const PlanKernel& kernel : (*asked)->plan->plan.kernels) {
    plan.keys.push_back(kernel.key);
  }
  plan.serving = true;
  plan.spec = static_cast<uint32_t>(index);
  return AddPlan(std::move(plan));
}

absl::Status Exporter::AddPlan(StoredPlan plan) {
  for (const std::string& key : plan.keys) {
    // A kernel may have come after its turn in the scan. Of given keys no
    // others are sent.
    if (sent_keys_.contains(key) || !wanted_keys_.empty()) continue;
    INGOT_RETURN_IF_ERROR(AddStored(key));
  }
  items_.push_back({std::nullopt, std::move(plan)});
  return absl::OkStatus();
}

void Exporter::Send(Item item, v1::ExportResponse* response) {
  if (item.plan) return SendPlan(*item.plan, response);
  Kernel& kernel = *item.kernel;
  if (sent_keys_.contains(kernel.key)) return;
  if (sent_objects_.contains(kernel.digest)) {
    return SendRecord(kernel, response);
  }
  absl::StatusOr<std::optional<cache::Bytes>> object =
      parts_.store.GetObject(kernel.digest);
  // Gone since, or damaged: then so is every plan that launches it.
  if (!object.ok() || !object->has_value() ||
      (**object)->size() > kMaxObjectBytes) {
    return;
  }
  object_ = **std::move(object);
  offset_ = 0;
  sending_ = std::move(kernel);
}

void Exporter::SendPart(v1::ExportResponse* response) {
  const size_t size =
      std::min(kMessageBytes - response_bytes_, object_->size() - offset_);
  v1::ObjectPart* part = response->add_parts();
  part->set_digest(sending_->digest);
  part->set_offset(offset_);
  part->set_total(object_->size());
  part->set_data(object_->data() + offset_, size);
  response_bytes_ += size;
  offset_ += size;
  if (offset_ < object_->size()) return;
  object_ = {};
  sent_objects_.insert(sending_->digest);
  SendRecord(*std::exchange(sending_, std::nullopt), response);
}

void Exporter::SendRecord(const Kernel& kernel, v1::ExportResponse* response) {
  response->add_records(kernel.record);
  response_bytes_ += kernel.record.size();
  sent_keys_.insert(kernel.key);
  parts_.counters.kernels.Add();
}

void Exporter::SendPlan(const StoredPlan& plan, v1::ExportResponse* response) {
  const bool whole = std::all_of(
      plan.keys.begin(), plan.keys.end(),
      [this](const std::string& key) { return sent_keys_.contains(key); });
  if (!whole) {
    if (plan.spec) summary_.add_missing_specs(*plan.spec);
    if (wanted_keys_.empty()) {
      summary_.set_incomplete_plans(summary_.incomplete_plans() + 1);
    }
    return;
  }
  v1::ExportedPlan* out = response->add_plans();
  out->set_plan(plan.bytes);
  out->set_serving(plan.serving);
  response_bytes_ += plan.bytes.size();
  parts_.counters.plans.Add();
}

}  // namespace ingot::server
