#include "server/tuning_table.h"

#include <algorithm>
#include <utility>

namespace ingot::server {
namespace {

bool SameRange(const v1::TuningRecord& a, const v1::TuningRecord& b) {
  return a.has_range() == b.has_range() && a.range().dim() == b.range().dim() &&
         a.range().min() == b.range().min() &&
         a.range().max() == b.range().max();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TuningTable>> TuningTable::Open(
    TuningOptions options, Counters& counters) {
  std::unique_ptr<TuningTable> table(
      new TuningTable(std::move(options), counters));
  INGOT_RETURN_IF_ERROR(table->Load());
  return table;
}

absl::Status TuningTable::Load() {
  INGOT_ASSIGN_OR_RETURN(Journal::Opened opened, Journal::Open(options_.path));
  journal_ = std::move(opened.journal);
  if (!opened.damage.empty() && options_.note) options_.note(opened.damage);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& entry : opened.entries) {
    v1::TuningEvent event;
    if (event.ParseFromString(entry)) {
      Apply(event);
    } else if (options_.note) {
      options_.note(
          absl::StrCat(options_.path, ": an entry is not of this build"));
    }
  }
  counting_ = true;
  return absl::OkStatus();
}

absl::StatusOr<TuningTable::Answer> TuningTable::At(
    absl::string_view spec_digest, uint64_t pin) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pin != 0 && (pin < oldest_epoch_ || pin > epoch_)) {
    return absl::FailedPreconditionError(
        absl::StrCat("pin_epoch: found ", pin, ", allowed 0 or ", oldest_epoch_,
                     " to ", epoch_,
                     pin > epoch_ ? ": this daemon is not there yet"
                                  : ": older ones are not kept"));
  }
  const uint64_t at = pin == 0 ? epoch_ : pin;
  Answer answer;
  answer.epoch = oldest_epoch_;
  const auto found = by_digest_.find(spec_digest);
  if (found == by_digest_.end()) return answer;
  for (const uint64_t name : found->second) {
    const Record& record = records_.at(name);
    if (record->epoch() > at) continue;
    answer.epoch = std::max(answer.epoch, record->epoch());
    const uint64_t ended = record->ended_epoch();
    if (ended == 0 || ended > at) {
      answer.records.push_back(record);
    } else {
      answer.epoch = std::max(answer.epoch, ended);
    }
  }
  std::reverse(answer.records.begin(), answer.records.end());
  return answer;
}

absl::StatusOr<v1::TuningRecord> TuningTable::Add(v1::TuningRecord record) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (in_force_ >= options_.max_records) {
      return absl::ResourceExhaustedError(absl::StrCat("tuning records: found ",
                                                       in_force_, ", allowed ",
                                                       options_.max_records));
    }
    record.set_epoch(epoch_ + 1);
    record.clear_ended_epoch();
    record.clear_ended_why();
    record.set_created_unix_ms(options_.now_unix_ms());
    v1::TuningEvent event;
    event.set_epoch(record.epoch());
    *event.mutable_added() = record;
    INGOT_RETURN_IF_ERROR(Write(event));
  }
  if (changed_) changed_();
  return record;
}

absl::StatusOr<size_t> TuningTable::End(const std::vector<uint64_t>& records,
                                        const std::string& why) {
  size_t ended = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    v1::TuningEvent event;
    for (const uint64_t name : records) {
      const auto found = records_.find(name);
      if (found == records_.end() || found->second->ended_epoch() != 0) {
        continue;
      }
      event.mutable_ended()->add_records(name);
    }
    ended = static_cast<size_t>(event.ended().records_size());
    if (ended == 0) return ended;
    event.mutable_ended()->set_why(why);
    event.set_epoch(epoch_ + 1);
    INGOT_RETURN_IF_ERROR(Write(event));
  }
  if (changed_) changed_();
  return ended;
}

absl::Status TuningTable::Expire() {
  if (options_.ttl_ms == 0) return absl::OkStatus();
  const int64_t youngest = options_.now_unix_ms() - options_.ttl_ms;
  std::vector<uint64_t> old;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (in_force_ == 0) return absl::OkStatus();
    for (const auto& [name, record] : records_) {
      if (record->ended_epoch() == 0 && record->created_unix_ms() <= youngest) {
        old.push_back(name);
      }
    }
  }
  return End(old, "expired").status();
}

absl::Status TuningTable::Write(const v1::TuningEvent& event) {
  INGOT_RETURN_IF_ERROR(journal_->Append(event.SerializeAsString()));
  Apply(event);
  Prune();
  return absl::OkStatus();
}

void TuningTable::Apply(const v1::TuningEvent& event) {
  epoch_ = std::max(epoch_, event.epoch());
  oldest_epoch_ = std::max(oldest_epoch_, event.oldest_epoch());
  if (event.has_added()) Insert(event.added());
  for (const uint64_t name : event.ended().records()) {
    EndLocked(name, event.epoch(), event.ended().why());
  }
}

void TuningTable::Insert(v1::TuningRecord record) {
  std::vector<uint64_t>& names = by_digest_[record.spec_digest()];
  for (const uint64_t name : names) {
    if (SameRange(*records_.at(name), record)) {
      EndLocked(name, record.epoch(), "replaced");
    }
  }
  names.push_back(record.epoch());
  if (record.ended_epoch() == 0) ++in_force_;
  const uint64_t name = record.epoch();
  records_[name] = std::make_shared<const v1::TuningRecord>(std::move(record));
}

void TuningTable::EndLocked(uint64_t name, uint64_t epoch,
                            const std::string& why) {
  const auto found = records_.find(name);
  if (found == records_.end() || found->second->ended_epoch() != 0) return;
  auto ended = std::make_shared<v1::TuningRecord>(*found->second);
  ended->set_ended_epoch(epoch);
  ended->set_ended_why(why);
  found->second = std::move(ended);
  --in_force_;
  if (counting_) Ended(absl::string_view(why).substr(0, why.find(':'))).Add();
}

void TuningTable::Prune() {
  if (epoch_ - oldest_epoch_ < 2 * options_.kept_epochs) return;
  oldest_epoch_ = epoch_ - options_.kept_epochs;
  std::vector<std::string> entries;
  v1::TuningEvent front;
  front.set_epoch(epoch_);
  front.set_oldest_epoch(oldest_epoch_);
  entries.push_back(front.SerializeAsString());
  by_digest_.clear();
  for (auto at = records_.begin(); at != records_.end();) {
    const v1::TuningRecord& record = *at->second;
    if (record.ended_epoch() != 0 && record.ended_epoch() <= oldest_epoch_) {
      at = records_.erase(at);
      continue;
    }
    by_digest_[record.spec_digest()].push_back(record.epoch());
    v1::TuningEvent event;
    event.set_epoch(epoch_);
    *event.mutable_added() = record;
    entries.push_back(event.SerializeAsString());
    ++at;
  }
  // A journal that stays long says the same.
  const absl::Status shortened = journal_->Rewrite(entries);
  if (!shortened.ok() && options_.note) {
    options_.note(std::string(shortened.message()));
  }
}

std::vector<TuningTable::Record> TuningTable::List() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Record> all;
  for (const auto& [name, record] : records_) all.push_back(record);
  return all;
}

uint64_t TuningTable::epoch() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return epoch_;
}

uint64_t TuningTable::oldest_epoch() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return oldest_epoch_;
}

size_t TuningTable::in_force() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_force_;
}

}  // namespace ingot::server
