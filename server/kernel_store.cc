#include "server/kernel_store.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "server/record_fields.h"

namespace ingot::server {

KernelStore::KernelStore(cache::Store& memory, cache::Store& tiers,
                         Counters& counters,
                         std::function<void(const std::string&)> note)
    : memory_(memory),
      tiers_(tiers),
      note_(std::move(note)),
      read_errors_(counters.Get("ingot_store_read_errors_total")),
      publish_errors_(counters.Get("ingot_publish_errors_total")),
      key_mismatches_(counters.Get("ingot_key_mismatches_total")) {}

template <typename T>
std::optional<T> KernelStore::Unless(absl::StatusOr<std::optional<T>> answer) {
  if (answer.ok()) return *std::move(answer);
  read_errors_.Add();
  note_(absl::StrCat("store: ", answer.status().ToString()));
  return std::nullopt;
}

bool KernelStore::Matches(absl::string_view record, absl::string_view key,
                          absl::string_view key_encoding) {
  if (RecordKeyEncoding(record) == key_encoding) return true;
  key_mismatches_.Add();
  note_(absl::StrCat("ALARM: the record under key ",
                     absl::BytesToHexString(key),
                     " is of another kernel; treated as a miss"));
  return false;
}

std::optional<Found> KernelStore::Find(absl::string_view key,
                                       absl::string_view key_encoding) {
  std::optional<cache::Entry> entry = Unless(tiers_.Get(key));
  if (!entry || !Matches(*entry->record, key, key_encoding)) {
    return std::nullopt;
  }
  const Source source =
      entry->tier == cache::Tier::kMemory ? Source::kMemory : Source::kStore;
  return Found{*std::move(entry), source};
}

std::optional<Found> KernelStore::FindRecord(absl::string_view key,
                                             absl::string_view key_encoding) {
  std::optional<cache::Bytes> record = Unless(memory_.GetRecord(key));
  Found found;
  if (!record) {
    record = Unless(tiers_.GetRecord(key));
    found.source = Source::kStore;
  }
  if (!record || !Matches(**record, key, key_encoding)) return std::nullopt;
  found.entry.record = *std::move(record);
  return found;
}

std::optional<cache::Bytes> KernelStore::FindObject(absl::string_view digest) {
  return Unless(tiers_.GetObject(digest));
}

void KernelStore::Publish(const cache::Publication& publication) {
  Report("publish", tiers_.Publish(publication));
}

void KernelStore::KeepPlan(absl::string_view plan_key, absl::string_view plan) {
  const std::optional<cache::Bytes> stored = Unless(tiers_.GetPlan(plan_key));
  if (stored && **stored == plan) return;
  Report("plan", tiers_.PutPlan(plan_key, plan));
}

void KernelStore::Report(absl::string_view what,
                         const absl::Status& published) {
  if (published.ok()) return;
  publish_errors_.Add();
  note_(absl::StrCat(what, ": ", published.ToString()));
}

}  // namespace ingot::server
