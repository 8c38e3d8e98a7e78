#include "cache/trusted_store.h"

#include <optional>
#include <utility>

namespace ingot::cache {
namespace {

absl::Status Refused(const absl::Status& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("not stored: ", why.message()));
}

}  // namespace

TrustedStore::TrustedStore(std::unique_ptr<Store> below, Vouching vouching)
    : below_(std::move(below)), vouching_(std::move(vouching)) {}

void TrustedStore::Reconsider() {
  generation_.fetch_add(1, std::memory_order_release);
}

bool TrustedStore::Passes(Kind kind, absl::string_view key,
                          absl::string_view bytes) {
  const std::string name =
      absl::StrCat(kind == Kind::kPlan ? "plan " : "kernel ", key);
  // The generation is part of the seal, so that what passed before Reconsider
  // is not known after it, however late it is remembered.
  const Seal seal = vetted_.SealOf(
      absl::StrCat(generation_.load(std::memory_order_acquire)), bytes);
  if (vetted_.Knows(name, seal)) return true;
  const absl::Status vouched = kind == Kind::kPlan
                                   ? vouching_.plan(key, bytes)
                                   : vouching_.record(key, bytes);
  if (vouched.ok()) {
    vetted_.Remember(name, seal);
  } else {
    vouching_.on_refused(key, vouched);
  }
  return vouched.ok();
}

absl::StatusOr<std::optional<Entry>> TrustedStore::Get(absl::string_view key) {
  INGOT_ASSIGN_OR_RETURN(std::optional<Entry> entry, below_->Get(key));
  if (entry && !Passes(Kind::kKernel, key, *entry->record)) {
    return std::nullopt;
  }
  return entry;
}

absl::StatusOr<std::optional<Bytes>> TrustedStore::GetRecord(
    absl::string_view key) {
  INGOT_ASSIGN_OR_RETURN(std::optional<Bytes> record, below_->GetRecord(key));
  if (record && !Passes(Kind::kKernel, key, **record)) return std::nullopt;
  return record;
}

absl::StatusOr<std::optional<Bytes>> TrustedStore::GetObject(
    absl::string_view digest) {
  return below_->GetObject(digest);
}

absl::StatusOr<std::vector<std::string>> TrustedStore::KeysOf(
    absl::string_view digest) {
  return below_->KeysOf(digest);
}

absl::Status TrustedStore::Publish(const Publication& publication) {
  const absl::Status vouched =
      vouching_.record(publication.key, publication.record);
  if (!vouched.ok()) return Refused(vouched);
  return below_->Publish(publication);
}

absl::StatusOr<std::optional<Bytes>> TrustedStore::GetPlan(
    absl::string_view plan_key) {
  INGOT_ASSIGN_OR_RETURN(std::optional<Bytes> plan, below_->GetPlan(plan_key));
  if (plan && !Passes(Kind::kPlan, plan_key, **plan)) return std::nullopt;
  return plan;
}

absl::Status TrustedStore::PutPlan(absl::string_view plan_key,
                                   absl::string_view plan) {
  const absl::Status vouched = vouching_.plan(plan_key, plan);
  if (!vouched.ok()) return Refused(vouched);
  return below_->PutPlan(plan_key, plan);
}

absl::StatusOr<bool> TrustedStore::Delete(absl::string_view key) {
  return below_->Delete(key);
}

absl::StatusOr<bool> TrustedStore::Drop(absl::string_view key) {
  return below_->Drop(key);
}

absl::StatusOr<bool> TrustedStore::SetPinned(absl::string_view key,
                                             bool pinned) {
  return below_->SetPinned(key, pinned);
}

absl::Status TrustedStore::Scan(
    absl::string_view after, size_t limit,
    const std::function<bool(const ScanEntry&)>& visit) {
  return below_->Scan(after, limit, visit);
}

absl::Status TrustedStore::ScanPlans(
    absl::string_view after, size_t limit,
    const std::function<bool(const PlanEntry&)>& visit) {
  return below_->ScanPlans(after, limit, visit);
}

void TrustedStore::Touch(Kind kind, absl::string_view key) {
  below_->Touch(kind, key);
}

StoreStats TrustedStore::Stats() const { return below_->Stats(); }

}  // namespace ingot::cache
