#include "server/lookup.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "server/record_scan.h"
#include "server/reply.h"

namespace ingot::server {
namespace {

int64_t MicrosSince(MonotonicTime start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(SteadyNow() -
                                                               start)
      .count();
}

absl::string_view ResultName(const std::vector<KernelSlot>& slots) {
  Source slowest = Source::kMemory;
  for (const KernelSlot& slot : slots) {
    slowest = std::max(slowest, slot.source);
  }
  if (slots.empty()) return "planned";
  switch (slowest) {
    case Source::kMemory:
      return "hit_memory";
    case Source::kStore:
      return "hit_store";
    case Source::kCompiled:
      return "compiled";
    case Source::kCoalesced:
      return "coalesced";
  }
  return "";
}

void Count(const std::shared_ptr<Recorder::Line>& line,
           Recorder::Answer answer) {
  if (line != nullptr) line->Count(answer);
}

}  // namespace

Lookup::Lookup(KernelStore& store, Builder& builder, const Disabled& disabled,
               TuningTable& tuning, Recorder& recorder, Counters& counters,
               const LookupSettings& settings, Note note)
    : store_(store),
      builder_(builder),
      disabled_(disabled),
      tuning_(tuning),
      recorder_(recorder),
      counters_(counters),
      note_(std::move(note)),
      plans_(settings.plan_cache_bytes, tuning, settings.sign_plan),
      replies_(settings.reply_cache_bytes, settings.reply_ttl) {
  for (size_t code = 0; code < refused_.size(); ++code) {
    refused_[code] = &counters.Get(absl::StrCat(
        "ingot_requests_refused_total{code=\"",
        absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), "\"}"));
  }
}

Counter& Lookup::Requests(const Spec& spec, absl::string_view result) {
  return counters_.Get(absl::StrCat("ingot_requests_total{op=\"", spec.op,
                                    "\",target=\"", spec.target, "\",result=\"",
                                    result, "\"}"));
}

Lookup::Started Lookup::Refuse(absl::Status status) {
  refused_[static_cast<size_t>(status.code())]->Add();
  return {Reply(std::move(status)), nullptr};
}

absl::Status Lookup::Permitted(const Plan& plan,
                               const std::vector<KernelSlot>& slots) const {
  INGOT_RETURN_IF_ERROR(disabled_.CheckOp(plan.resolved.op));
  for (const KernelSlot& slot : slots) {
    INGOT_RETURN_IF_ERROR(disabled_.CheckKey(slot.kernel->key));
  }
  return absl::OkStatus();
}

void Lookup::Remember(absl::string_view request, uint64_t generation,
                      const Message& reply, const Spec& spec,
                      std::shared_ptr<Recorder::Line> line) {
  replies_.Insert(request,
                  {reply, &Requests(spec, "hit_memory"), std::move(line)},
                  reply.size(), generation);
}

Lookup::Started Lookup::Get(absl::string_view request, Who who,
                            absl::FunctionRef<Done()> make_done) {
  std::string storage;
  const absl::string_view key = WithoutRequestId(request, &storage);
  if (std::optional<CachedReply> cached = replies_.Find(key)) {
    cached->hits->Add();
    Count(cached->line, Recorder::Answer::kHit);
    return {Reply(std::move(cached->message)), nullptr};
  }
  const uint64_t generation = replies_.generation();
  const absl::StatusOr<RequestView> view = ViewRequest(request);
  if (!view.ok()) return Refuse(view.status());
  const absl::StatusOr<std::shared_ptr<const AskedPlan>> plan =
      plans_.Get(view->spec, view->pin_epoch);
  if (!plan.ok()) return Refuse(plan.status());
  const absl::StatusOr<std::vector<size_t>> wanted =
      WantedKernels(**plan, *view);
  if (!wanted.ok()) return Refuse(wanted.status());

  const EncodedPlan& encoded = *(*plan)->plan;
  std::vector<KernelSlot> slots;
  std::vector<size_t> missing;
  for (const size_t index : *wanted) {
    const PlanKernel& kernel = encoded.plan.kernels[index];
    std::optional<Found> found =
        view->omit_bytes ? store_.FindRecord(kernel.key, kernel.encoding)
                         : store_.Find(kernel.key, kernel.encoding);
    if (!found) missing.push_back(slots.size());
    slots.push_back({&kernel});
    if (!found) continue;
    slots.back().entry = std::move(found->entry);
    slots.back().source = found->source;
  }
  std::shared_ptr<Recorder::Line> line;
  if (view->priority != v1::PRIORITY_WARMUP && !slots.empty()) {
    line = recorder_.Of(**plan);
  }
  const absl::Status permitted = Permitted(encoded.plan, slots);
  if (!permitted.ok()) {
    Count(line, Recorder::Answer::kRefused);
    Requests(encoded.plan.resolved, "disabled").Add();
    return Refuse(permitted);
  }
  if (!missing.empty()) {
    Origin origin = who();
    const absl::Status allowed = origin.caller->Require(Role::kCompile);
    if (!allowed.ok()) {
      Count(line, Recorder::Answer::kRefused);
      return Refuse(allowed);
    }
    std::shared_ptr<LookupCall> call(
        new LookupCall(*this, *plan, request, *view, std::move(origin),
                       std::move(slots), std::move(line), make_done()));
    std::optional<Reply> early =
        call->Start(missing, view->priority == v1::PRIORITY_WARMUP
                                 ? Priority::kWarmup
                                 : Priority::kInteractive);
    if (early) return {std::move(early), nullptr, true};
    return {std::nullopt, std::move(call), true};
  }
  const Spec& spec = encoded.plan.resolved;
  const absl::string_view result = ResultName(slots);
  Requests(spec, result).Add();
  Count(line, Recorder::Answer::kHit);
  // The kernels may have been made for another spec's plan.
  if (!slots.empty()) store_.KeepPlan(PlanKey(encoded), encoded.bytes);
  Message reply = EncodeReply(encoded, *view, slots);
  if (result != "hit_store") {
    Remember(key, generation, reply, spec, std::move(line));
  } else if (view->omit_bytes) {
    // Records are not kept in memory on their own; the reply is.
    for (KernelSlot& slot : slots) slot.source = Source::kMemory;
    Remember(key, generation, EncodeReply(encoded, *view, slots), spec,
             std::move(line));
  }
  return {Reply(std::move(reply)), nullptr};
}

absl::StatusOr<cache::Bytes> Lookup::Object(absl::string_view digest) {
  std::optional<cache::Bytes> object = store_.FindObject(digest);
  if (!object) {
    return absl::NotFoundError(absl::StrCat("digest: found ",
                                            absl::BytesToHexString(digest),
                                            ", which is not stored"));
  }
  if (disabled_.size() == 0) return *std::move(object);
  INGOT_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                         store_.tiers().KeysOf(digest));
  absl::Status refused = absl::OkStatus();
  for (const std::string& key : keys) {
    INGOT_ASSIGN_OR_RETURN(const std::optional<cache::Bytes> bytes,
                           store_.tiers().GetRecord(key));
    v1::Record record;
    if (bytes) (void)ParseRecord(**bytes, &record);
    const absl::Status permitted =
        disabled_.Check(record.description().op(), key);
    if (permitted.ok()) return *std::move(object);
    refused = permitted;
  }
  // With no key at all it went while it was looked for.
  if (!refused.ok()) return refused;
  return absl::NotFoundError("digest: the object was removed just now");
}

LookupCall::LookupCall(Lookup& lookup, std::shared_ptr<const AskedPlan> plan,
                       absl::string_view request, const RequestView& view,
                       Lookup::Origin origin, std::vector<KernelSlot> slots,
                       std::shared_ptr<Recorder::Line> line, Lookup::Done done)
    : lookup_(lookup),
      plan_(std::move(plan)),
      request_(request),
      origin_(std::move(origin)),
      line_(std::move(line)),
      done_(std::move(done)),
      slots_(std::move(slots)) {
  view_ = *ViewRequest(request_);  // the same, pointing into our own bytes
}

std::optional<Reply> LookupCall::Start(const std::vector<size_t>& missing,
                                       Priority priority) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_ += missing.size();
  }
  for (const size_t slot : missing) {
    Flights::Ticket ticket = lookup_.builder_.Build(
        *slots_[slot].kernel, priority, origin_.caller->name,
        [self = shared_from_this(), slot](const BuildOutcome& outcome,
                                          bool owner) {
          self->OnBuilt(slot, outcome, owner);
        },
        Traceparent(origin_.trace));
    const std::lock_guard<std::mutex> lock(mutex_);
    tickets_.push_back(std::move(ticket));
  }
  Settle();
  const std::lock_guard<std::mutex> lock(mutex_);
  starting_ = false;
  return std::move(early_);
}

absl::Status LookupCall::Blame(const PlanKernel& kernel,
                               const absl::Status& failed) {
  const bool for_good = absl::IsFailedPrecondition(failed) ||
                        absl::IsUnimplemented(failed) ||
                        absl::IsInternal(failed);
  if (!for_good || view_.pin_epoch != 0) return failed;
  const EncodedPlan& encoded = *plan_->plan;
  for (const auto& [place, record] : encoded.tuned_kernels) {
    if (&encoded.plan.kernels[place] != &kernel) continue;
    const absl::Status ended =
        lookup_.tuning_
            .End({record}, absl::StrCat("unusable: ", failed.message()))
            .status();
    if (!ended.ok()) return failed;
    return absl::UnavailableError(
        absl::StrCat("tuning record ", record,
                     " is dropped, ask again: ", failed.message()));
  }
  return failed;
}

void LookupCall::OnBuilt(size_t slot, const BuildOutcome& outcome, bool owner) {
  // Slots do not move while builds are under way.
  const absl::Status failed =
      outcome.ok() ? absl::OkStatus()
                   : Blame(*slots_[slot].kernel, outcome.status());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    KernelSlot& built = slots_[slot];
    if (!outcome.ok()) {
      if (error_.ok()) error_ = failed;
    } else {
      built.entry = outcome->entry;
      built.source = !outcome->compiled ? Source::kMemory
                     : owner            ? Source::kCompiled
                                        : Source::kCoalesced;
      built.compile_us = owner ? outcome->compile_us : 0;
    }
  }
  Settle();
}

void LookupCall::Settle() {
  Reply answer;
  Lookup::Done done;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --waiting_;
    if (finished_ || (waiting_ > 0 && error_.ok())) return;
    finished_ = true;
    answer = Answer();
    if (starting_) {
      early_ = std::move(answer);
      return;
    }
    done = std::move(done_);
  }
  done(std::move(answer));
}

Reply LookupCall::Answer() {
  const Spec& spec = plan_->plan->plan.resolved;
  const absl::Status permitted = lookup_.Permitted(plan_->plan->plan, slots_);
  const bool disabled = error_.ok() && !permitted.ok();
  if (disabled) error_ = permitted;  // while it was compiled
  RequestLog log{std::string(view_.request_id),
                 origin_.trace,
                 origin_.caller->name,
                 spec.op,
                 error_,
                 0,
                 MicrosSince(started_)};
  for (const KernelSlot& slot : slots_) log.compile_us += slot.compile_us;
  lookup_.note_(log);
  if (!error_.ok()) {
    Count(line_, Recorder::Answer::kRefused);
    lookup_.refused_[static_cast<size_t>(error_.code())]->Add();
    // What is known to be impossible, and what went wrong this time.
    lookup_
        .Requests(spec, disabled                             ? "disabled"
                        : absl::IsFailedPrecondition(error_) ? "negative"
                                                             : "error")
        .Add();
    return error_;
  }
  const absl::string_view result = ResultName(slots_);
  lookup_.Requests(spec, result).Add();
  // Another's compile may have ended since the store was looked at.
  Count(line_, result == "hit_memory" || result == "hit_store"
                   ? Recorder::Answer::kHit
                   : Recorder::Answer::kCompiled);
  if (log.compile_us > 0) {
    lookup_.store_.KeepPlan(PlanKey(*plan_->plan), plan_->plan->bytes);
  }
  return EncodeReply(*plan_->plan, view_, slots_);
}

bool LookupCall::Abandon() {
  std::vector<Flights::Ticket> tickets;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (finished_) return false;
    finished_ = true;
    tickets.swap(tickets_);
  }
  Count(line_, Recorder::Answer::kAbandoned);
  for (const Flights::Ticket& ticket : tickets) {
    lookup_.builder_.Abandon(ticket);
  }
  return true;
}

}  // namespace ingot::server
