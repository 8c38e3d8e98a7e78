#include "server/builder.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "compiler/sha256.h"
#include "server/retry_info.h"
#include "server/validity.h"

namespace ingot::server {
namespace {

// Deaths of a job's own making that put its kernel in quarantine.
constexpr int kFaultsAllowed = 2;
// Workers that may die under one job, for whatever cause: whoever kills one
// from outside may well kill the next, too, before it is known to be dead.
constexpr int kAttempts = 3;
// A compile as long as this is assumed until one was measured.
constexpr int64_t kAssumedCompileUs = 100000;

int64_t TotalMicros(const worker::Reply& reply) {
  int64_t total = 0;
  for (const worker::StageTime& stage : reply.stages()) {
    total += stage.micros();
  }
  return std::max<int64_t>(total, 1);
}

}  // namespace

Builder::Builder(KernelStore& store, JobQueue& queue, NegativeCache& refusals,
                 Bundles& bundles, const Trust& trust, Counters& counters,
                 int workers, Note note)
    : store_(store),
      queue_(queue),
      refusals_(refusals),
      bundles_(bundles),
      trust_(trust),
      workers_(std::max(workers, 1)),
      note_(std::move(note)),
      counters_(counters),
      compiles_(counters.Get("ingot_compiles_total")),
      compile_failures_(counters.Get("ingot_compile_failures_total")),
      coalesced_(counters.Get("ingot_coalesced_total")),
      negative_hits_(counters.Get("ingot_negative_hits_total")),
      quarantined_(counters.Get("ingot_quarantined_total")),
      retries_(counters.Get("ingot_compile_retries_total")) {
  for (const Bundle& bundle : bundles_.LoadQuarantined()) {
    refusals_.Remember(KernelKey(bundle.key_encoding),
                       NegativeCache::Kind::kPermanent,
                       absl::FailedPreconditionError(bundle.reason));
  }
}

absl::Status Builder::Refusal(absl::string_view key) {
  const absl::Status refusal = refusals_.Find(key);
  if (!refusal.ok()) {
    negative_hits_.Add();
    return refusal;
  }
  if (draining_.load()) return absl::UnavailableError("the daemon is draining");
  if (!trust_.CanVouch()) {
    return absl::FailedPreconditionError(
        "no kernel with a trusted signature is stored, and this daemon has no "
        "signing_key to make one");
  }
  return absl::OkStatus();
}

Flights::Ticket Builder::Build(const PlanKernel& kernel, Priority priority,
                               const std::string& client, Flights::Done done,
                               std::string traceparent) {
  const absl::Status refusal = Refusal(kernel.key);
  if (!refusal.ok()) {
    done(refusal, false);
    return {};
  }
  Flights::Joined joined =
      flights_.Join(kernel.key, priority == Priority::kWarmup, std::move(done));
  const uint64_t flight = joined.ticket.flight;
  if (!joined.owner) {
    coalesced_.Add();
    if (joined.promoted) queue_.Promote(flight);
    return std::move(joined.ticket);
  }
  // A flight may have landed between the caller's look and this one's start.
  std::optional<Found> found = store_.Find(kernel.key, kernel.encoding);
  if (found) {
    flights_.Finish(kernel.key, flight, Built{std::move(found->entry)});
    return std::move(joined.ticket);
  }
  Enqueue({kernel.key, kernel.encoding, kernel.spec.op, kernel.spec.symbol,
           client, std::move(traceparent), flight},
          priority);
  return std::move(joined.ticket);
}

void Builder::Enqueue(Work work, Priority priority) {
  auto request = std::make_shared<worker::Request>();
  request->mutable_compile()->set_key_encoding(work.key_encoding);
  request->set_trace(work.traceparent);
  auto shared = std::make_shared<Work>(std::move(work));
  Job job;
  job.id = shared->flight;
  job.priority = priority;
  job.client = shared->client;
  job.request = std::move(request);
  job.begin = [this, shared] {
    return flights_.Begin(shared->key, shared->flight);
  };
  job.done = [this, shared](const Job& done, JobOutcome outcome) {
    OnOutcome(done, *shared, std::move(outcome));
  };
  absl::Status queued = queue_.Push(std::move(job));
  if (absl::IsResourceExhausted(queued)) {
    queued = WithRetryInfo(std::move(queued), RetryDelay());
  }
  if (!queued.ok()) {
    flights_.Finish(shared->key, shared->flight, queued);
  } else if (priority == Priority::kWarmup &&
             !flights_.Speculative(shared->key, shared->flight)) {
    queue_.Promote(shared->flight);  // somebody joined before the push
  }
}

void Builder::Abandon(const Flights::Ticket& ticket) {
  if (flights_.Leave(ticket)) queue_.Remove(ticket.flight);
}

std::chrono::milliseconds Builder::RetryDelay() const {
  const uint64_t compiles = compiles_.value();
  const int64_t mean_us =
      compiles == 0 ? kAssumedCompileUs
                    : static_cast<int64_t>(compile_us_.value() / compiles);
  const int64_t waves = static_cast<int64_t>(queue_.size()) / workers_ + 1;
  return std::chrono::milliseconds(
      std::clamp<int64_t>(waves * mean_us / 1000, 100, 30000));
}

void Builder::OnOutcome(const Job& job, Work& work, JobOutcome outcome) {
  if (worker::Reply* reply = std::get_if<worker::Reply>(&outcome)) {
    OnReply(work, std::move(*reply));
  } else if (WorkerDeath* death = std::get_if<WorkerDeath>(&outcome)) {
    OnDeath(job, work, *death);
  } else {
    Fail(work, std::get<absl::Status>(outcome));
  }
}

void Builder::OnReply(const Work& work, worker::Reply reply) {
  using Kind = NegativeCache::Kind;
  const auto code = static_cast<absl::StatusCode>(reply.code());
  switch (code) {
    case absl::StatusCode::kOk:
      return Succeed(work, std::move(reply));
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnimplemented: {
      const absl::Status refusal(code, reply.message());
      refusals_.Remember(work.key, Kind::kPermanent, refusal);
      return Fail(work, refusal);
    }
    default: {
      // What else a compiler says of a spec that the planner approved is our
      // bug, whatever code it chose.
      const absl::Status failure =
          Explain(work, absl::StatusCode::kInternal, reply.message(),
                  {.ir = reply.ir_dump()});
      refusals_.Remember(work.key,
                         code == absl::StatusCode::kInternal ? Kind::kPermanent
                                                             : Kind::kTransient,
                         failure);
      return Fail(work, failure);
    }
  }
}

int Builder::CountFault(absl::string_view key) {
  constexpr size_t kMaxKeys = 4096;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (faults_.size() >= kMaxKeys) faults_.clear();
  return ++faults_[std::string(key)];
}

void Builder::OnDeath(const Job& job, Work& work, const WorkerDeath& death) {
  ++work.deaths;
  if (death.cause != WorkerDeath::Cause::kOutside &&
      CountFault(work.key) >= kFaultsAllowed) {
    return Quarantine(work, death);
  }
  if (work.deaths >= kAttempts) {
    return Fail(
        work, absl::UnavailableError(absl::StrCat(
                  work.deaths,
                  " workers died under this compile; the last: ", death.what)));
  }
  retries_.Add();
  Job again = job;
  // Somebody may have come to need it while it ran.
  if (!flights_.Speculative(work.key, work.flight)) {
    again.priority = Priority::kInteractive;
  }
  if (!queue_.Requeue(std::move(again))) {
    Fail(work, absl::UnavailableError("the daemon is draining"));
  }
}

void Builder::Quarantine(const Work& work, const WorkerDeath& death) {
  const bool crash = death.cause == WorkerDeath::Cause::kCrash;
  const absl::Status refusal =
      Explain(work, absl::StatusCode::kFailedPrecondition,
              absl::StrCat("in quarantine after ", kFaultsAllowed,
                           " workers died of it; the last: ", death.what),
              {.log = death.log, .quarantined = crash});
  refusals_.Remember(
      work.key,
      crash ? NegativeCache::Kind::kPermanent : NegativeCache::Kind::kTransient,
      refusal);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    faults_.erase(work.key);
  }
  quarantined_.Add();
  Fail(work, refusal);
}

absl::Status Builder::Explain(const Work& work, absl::StatusCode code,
                              absl::string_view what, Bundle bundle) {
  const absl::Status status(
      code, absl::StrCat(work.symbol, ": ", what, " (repro bundle ",
                         Bundles::Id(work.key), ")"));
  bundle.key_encoding = work.key_encoding;
  bundle.reason = std::string(status.message());
  bundles_.Write(work.key, bundle);
  return status;
}

void Builder::Succeed(const Work& work, worker::Reply reply) {
  const int64_t compile_us = TotalMicros(reply);
  const std::string digest = Sha256(reply.object());
  const absl::StatusOr<v1::Record> record = MakeRecord(
      work.key, work.key_encoding, digest, reply.object(), UnixMillis());
  if (!record.ok()) {
    // Not remembered: the next caller compiles again.
    return Fail(work, Explain(work, absl::StatusCode::kInternal,
                              absl::StrCat("the worker made a bad object: ",
                                           record.status().message()),
                              {}));
  }
  for (const worker::StageTime& stage : reply.stages()) {
    ObserveStage(stage.stage(), stage.micros());
  }
  ObserveStage("all", compile_us);
  compiles_.Add();
  compile_us_.Add(static_cast<uint64_t>(compile_us));
  std::string bytes = record->SerializeAsString();
  trust_.SignRecord(&bytes);
  cache::Publication publication{work.key, std::move(bytes), digest,
                                 std::move(*reply.mutable_object())};
  store_.Publish(publication);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    faults_.erase(work.key);
  }
  note_(work.op, work.key, absl::OkStatus(), compile_us, work.traceparent);
  Built built;
  built.entry = {
      std::make_shared<const std::string>(std::move(publication.record)),
      digest,
      std::make_shared<const std::string>(std::move(publication.object))};
  built.compiled = true;
  built.compile_us = compile_us;
  flights_.Finish(work.key, work.flight, built);
}

void Builder::ObserveStage(absl::string_view stage, int64_t micros) {
  counters_
      .GetHistogram(
          absl::StrCat("ingot_compile_seconds{stage=\"", stage, "\"}"))
      .Observe(std::chrono::microseconds(micros));
}

void Builder::Fail(const Work& work, const absl::Status& status) {
  compile_failures_.Add();
  note_(work.op, work.key, status, 0, work.traceparent);
  flights_.Finish(work.key, work.flight, status);
}

void Builder::Forgive(absl::string_view key) {
  if (key.empty()) {
    refusals_.Clear();
    for (const Bundle& bundle : bundles_.LoadQuarantined()) {
      bundles_.Remove(KernelKey(bundle.key_encoding));
    }
  } else {
    refusals_.Forget(key);
    bundles_.Remove(key);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (key.empty()) {
    faults_.clear();
  } else {
    faults_.erase(key);
  }
}

void Builder::Drain() {
  draining_.store(true);
  for (const Job& job : queue_.Close()) {
    job.done(job, absl::UnavailableError("the daemon is draining"));
  }
}

void Builder::GiveUp() {
  flights_.FinishAll(absl::UnavailableError("the daemon stopped"));
}

}  // namespace ingot::server
