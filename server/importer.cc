#include "server/importer.h"

#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "cache/digest.h"
#include "ingot/v1/plan.pb.h"
#include "server/plan_check.h"
#include "server/plan_key.h"
#include "server/record_scan.h"
#include "server/signed_bytes.h"
#include "server/validity.h"

namespace ingot::server {
namespace {

constexpr size_t kMaxStagedBytes = 2 * kMaxObjectBytes;
constexpr std::chrono::minutes kStagedFor{10};
// Of a record or plan; a bundle's limit, too.
constexpr size_t kMaxMessageBytes = size_t{1} << 20;

v1::ImportResult ResultOf(v1::ImportState state, std::string reason = "") {
  v1::ImportResult result;
  result.set_state(state);
  result.set_reason(std::move(reason));
  return result;
}

v1::ImportResult Refused(const absl::Status& why) {
  return ResultOf(v1::IMPORT_REFUSED, std::string(why.message()));
}

std::string Hex(absl::string_view bytes) {
  return absl::BytesToHexString(bytes);
}

absl::Status NotWritten() {
  return absl::ResourceExhaustedError(
      "import: the store takes no writes now, for lack of space or after an "
      "error; import again when ingot_store_read_only is 0 and the quota is "
      "large enough");
}

// On disk under the plan key; "" when there is none.
absl::StatusOr<std::string> FindStoredPlan(cache::Store& store,
                                           const std::string& plan_key) {
  // Plan keys have one length, so few begin with all but its last character.
  const std::string prefix = plan_key.substr(0, plan_key.size() - 1);
  std::string found;
  INGOT_RETURN_IF_ERROR(
      store.ScanPlans(prefix, 256, [&](const cache::PlanEntry& entry) {
        if (entry.plan_key == plan_key) found = entry.plan;
        return entry.plan_key < plan_key;
      }));
  return found;
}

}  // namespace

Importer::Importer(const ImportParts& parts)
    : parts_(parts), objects_(kMaxStagedBytes, kStagedFor, parts.clock) {
  for (const char* kind : {"kernel", "plan"}) {
    for (const v1::ImportState state :
         {v1::IMPORT_IMPORTED, v1::IMPORT_PRESENT, v1::IMPORT_REFUSED}) {
      parts_.counters.Get(CounterOf(kind, state));
    }
  }
}

std::string Importer::CounterOf(absl::string_view kind, v1::ImportState state) {
  const char* result = state == v1::IMPORT_IMPORTED  ? "imported"
                       : state == v1::IMPORT_PRESENT ? "present"
                                                     : "refused";
  return absl::StrCat("ingot_imported_total{kind=\"", kind, "\",result=\"",
                      result, "\"}");
}

void Importer::Count(absl::string_view kind, const v1::ImportResult& result,
                     bool dry_run) {
  if (dry_run || result.state() == v1::IMPORT_WANTED) return;
  parts_.counters.Get(CounterOf(kind, result.state())).Add();
}

absl::StatusOr<v1::ImportResponse> Importer::Import(
    const v1::ImportRequest& request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  v1::ImportResponse response;
  for (const v1::ObjectPart& part : request.parts()) {
    const absl::StatusOr<uint64_t> held =
        objects_.Add(part.digest(), part.offset(), part.total(), part.data());
    INGOT_RETURN_IF_ERROR(held.status());
    response.add_held(*held);
  }
  for (const v1::ImportKernel& kernel : request.kernels()) {
    INGOT_ASSIGN_OR_RETURN(*response.add_kernels(),
                           ImportKernel(kernel, request.dry_run()));
    Count("kernel", *response.kernels().rbegin(), request.dry_run());
  }
  for (const std::string& plan : request.plans()) {
    INGOT_ASSIGN_OR_RETURN(*response.add_plans(),
                           ImportPlan(plan, request.dry_run()));
    Count("plan", *response.plans().rbegin(), request.dry_run());
  }
  return response;
}

absl::Status Importer::CheckRecord(const std::string& key,
                                   const std::string& record) const {
  INGOT_RETURN_IF_ERROR(CheckStoredRecord(key, record));
  return parts_.vouch_record(key, record);
}

absl::StatusOr<std::optional<v1::ImportResult>> Importer::Stored(
    const v1::Record& record) {
  INGOT_ASSIGN_OR_RETURN(const std::optional<cache::ScanEntry> entry,
                         FindStored(parts_.store, record.key()));
  v1::Record stored;
  if (!entry || !CheckRecord(entry->key, entry->record).ok() ||
      !ParseRecord(entry->record, &stored)) {
    return std::nullopt;
  }
  if (stored.digest() == record.digest()) {
    // One that nobody signed gives way to the same with signatures.
    if (stored.signatures().empty() && !record.signatures().empty()) {
      return std::nullopt;
    }
    return ResultOf(v1::IMPORT_PRESENT);
  }
  return ResultOf(
      v1::IMPORT_REFUSED,
      absl::StrCat("another object is stored under this key: found "
                   "digest ",
                   Hex(record.digest()), ", stored is ", Hex(stored.digest())));
}

absl::StatusOr<std::optional<std::string>> Importer::ObjectOf(
    const v1::ImportKernel& kernel, const std::string& digest) {
  if (!kernel.object().empty()) return kernel.object();
  if (std::optional<std::string> whole = objects_.Whole(digest)) return whole;
  INGOT_ASSIGN_OR_RETURN(const std::optional<cache::Bytes> stored,
                         parts_.store.GetObject(digest));
  if (!stored) return std::nullopt;
  return std::string(**stored);
}

Importer::Result Importer::ImportKernel(const v1::ImportKernel& kernel,
                                        bool dry_run) {
  v1::Record record;
  if (!ParseRecord(kernel.record(), &record) ||
      record.digest().size() != cache::kHashBytes ||
      kernel.record().size() > kMaxMessageBytes) {
    return Refused(absl::DataLossError("record: it is none"));
  }
  const absl::Status good = CheckRecord(record.key(), kernel.record());
  if (!good.ok()) return Refused(good);
  INGOT_ASSIGN_OR_RETURN(std::optional<v1::ImportResult> stored,
                         Stored(record));
  if (stored) return *std::move(stored);
  INGOT_ASSIGN_OR_RETURN(std::optional<std::string> object,
                         ObjectOf(kernel, record.digest()));
  if (!object) return ResultOf(v1::IMPORT_WANTED);
  if (cache::Sha256(*object) != record.digest()) {
    return Refused(
        absl::DataLossError("object: its bytes have another SHA-256 "
                            "than its record says"));
  }
  const absl::Status whole =
      CheckStored(record.key(), kernel.record(), record.digest(), *object);
  if (!whole.ok()) return Refused(whole);
  if (dry_run) return ResultOf(v1::IMPORT_IMPORTED);
  const absl::Status published = parts_.store.Publish(
      {record.key(), kernel.record(), record.digest(), *std::move(object)});
  if (absl::IsInvalidArgument(published)) return Refused(published);
  // A store of tiers takes what its memory takes; an import is for the disk.
  INGOT_ASSIGN_OR_RETURN(const std::optional<cache::ScanEntry> entry,
                         FindStored(parts_.store, record.key()));
  if (!entry || entry->record != kernel.record()) return NotWritten();
  objects_.Forget(record.digest());
  parts_.on_imported(record.key());
  return ResultOf(v1::IMPORT_IMPORTED);
}

Importer::Result Importer::ImportPlan(const std::string& bytes, bool dry_run) {
  v1::Plan plan;
  if (!plan.ParseFromString(bytes) || bytes.size() > kMaxMessageBytes) {
    return Refused(absl::DataLossError("plan: it is none"));
  }
  const absl::Status good = CheckPlan(
      plan,
      [this](absl::string_view key) -> std::optional<std::string> {
        if (key.size() != cache::kHashBytes) return std::nullopt;
        const auto entry = FindStored(parts_.store, key);
        if (!entry.ok() || !*entry) return std::nullopt;
        return (*entry)->record;
      },
      dry_run);
  if (!good.ok()) return Refused(good);
  const std::string plan_key =
      PlanKey(plan.spec_digest(), plan.fingerprint(), plan.epoch());
  const absl::Status vouched = parts_.vouch_plan(plan_key, bytes);
  if (!vouched.ok()) return Refused(vouched);
  INGOT_ASSIGN_OR_RETURN(const std::string stored,
                         FindStoredPlan(parts_.store, plan_key));
  if (!stored.empty() && parts_.vouch_plan(plan_key, stored).ok()) {
    if (!SamePlan(stored, bytes)) {
      return ResultOf(v1::IMPORT_REFUSED,
                      "another plan is stored for this spec and fingerprint");
    }
    // As with records.
    if (plan.signatures().empty() ||
        !ReadSignedPlan(stored)->signatures.empty()) {
      return ResultOf(v1::IMPORT_PRESENT);
    }
  }
  if (dry_run) return ResultOf(v1::IMPORT_IMPORTED);
  const absl::Status put = parts_.store.PutPlan(plan_key, bytes);
  if (absl::IsInvalidArgument(put)) return Refused(put);
  INGOT_ASSIGN_OR_RETURN(const std::string kept,
                         FindStoredPlan(parts_.store, plan_key));
  if (kept != bytes) return NotWritten();
  return ResultOf(v1::IMPORT_IMPORTED);
}

}  // namespace ingot::server
