#include "server/disabled.h"

#include "absl/strings/escaping.h"
#include "absl/time/time.h"

namespace ingot::server {
namespace {

std::string When(int64_t unix_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

}  // namespace

Disabled::Name Disabled::NameOf(const v1::DisabledItem& item) {
  return item.op().empty() ? Name(true, item.key()) : Name(false, item.op());
}

absl::StatusOr<std::unique_ptr<Disabled>> Disabled::Open(
    const std::string& path, const std::function<void(std::string)>& note) {
  INGOT_ASSIGN_OR_RETURN(Journal::Opened opened, Journal::Open(path));
  if (!opened.damage.empty()) note(opened.damage);
  std::unique_ptr<Disabled> disabled(new Disabled);
  disabled->journal_ = std::move(opened.journal);
  for (const std::string& entry : opened.entries) {
    v1::DisableEvent event;
    if (event.ParseFromString(entry)) {
      disabled->Apply(event);
    } else {
      note(absl::StrCat(path, ": an entry is not of this build"));
    }
  }
  // Half of it is history.
  if (opened.entries.size() > 2 * disabled->items_.size() + 64) {
    std::vector<std::string> live;
    for (const auto& [name, item] : disabled->items_) {
      v1::DisableEvent event;
      *event.mutable_item() = item;
      live.push_back(event.SerializeAsString());
    }
    const absl::Status shortened = disabled->journal_->Rewrite(live);
    if (!shortened.ok()) note(std::string(shortened.message()));
  }
  return disabled;
}

absl::Status Disabled::CheckOp(absl::string_view op) const {
  if (size() == 0) return absl::OkStatus();
  return CheckName({false, std::string(op)});
}

absl::Status Disabled::CheckKey(absl::string_view key) const {
  if (size() == 0) return absl::OkStatus();
  return CheckName({true, std::string(key)});
}

absl::Status Disabled::Check(absl::string_view op,
                             absl::string_view key) const {
  INGOT_RETURN_IF_ERROR(CheckOp(op));
  return CheckKey(key);
}

absl::Status Disabled::CheckName(const Name& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = items_.find(name);
  if (found == items_.end()) return absl::OkStatus();
  const v1::DisabledItem& item = found->second;
  const std::string what =
      item.op().empty()
          ? absl::StrCat("kernel ", absl::BytesToHexString(item.key()))
          : absl::StrCat("op ", item.op());
  return absl::FailedPreconditionError(
      absl::StrCat(what, ": disabled by ", item.who(), " since ",
                   When(item.since_unix_ms()), ": ", item.reason()));
}

void Disabled::Apply(const v1::DisableEvent& event) {
  if (event.enabled()) {
    items_.erase(NameOf(event.item()));
  } else {
    items_[NameOf(event.item())] = event.item();
  }
  size_.store(items_.size());
}

absl::Status Disabled::Write(const v1::DisabledItem& item, bool enabled) {
  v1::DisableEvent event;
  *event.mutable_item() = item;
  event.set_enabled(enabled);
  return journal_->Append(event.SerializeAsString());
}

absl::Status Disabled::Add(const Items& items) {
  const std::lock_guard<std::mutex> lock(mutex_);
  absl::Status status;
  for (const v1::DisabledItem& item : items) {
    v1::DisableEvent event;
    *event.mutable_item() = item;
    Apply(event);
    const absl::Status written = Write(item, false);
    if (status.ok()) status = written;
  }
  return status;
}

absl::StatusOr<Disabled::Items> Disabled::Remove(const Items& items, bool all) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Items wanted = items;
  if (all) {
    wanted.clear();
    for (const auto& [name, item] : items_) wanted.push_back(item);
  }
  Items removed;
  for (const v1::DisabledItem& item : wanted) {
    const auto found = items_.find(NameOf(item));
    if (found == items_.end()) continue;
    INGOT_RETURN_IF_ERROR(Write(found->second, true));
    removed.push_back(std::move(found->second));
    items_.erase(found);
    size_.store(items_.size());
  }
  return removed;
}

Disabled::Items Disabled::List() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Items all;
  for (const auto& [name, item] : items_) all.push_back(item);
  return all;
}

}  // namespace ingot::server
