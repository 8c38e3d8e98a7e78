#include "client/src/client.h"

#include <algorithm>

#include "client/src/fetch.h"
#include "client/src/spec_message.h"
#include "client/src/wire_scan.h"

namespace ingot::client {
namespace {

// Of one GetKernels call. Far below every limit of message size, and enough to
// make the cost of a call vanish.
constexpr size_t kMaxBatch = 256;
constexpr int kMaxBrokenStreams = 4;
constexpr uint32_t kApiVersion = 1;

bool WantsBytes(const PrepareOptions& options) {
  return (options.flags & INGOT_PREPARE_NO_BYTES) == 0;
}

Ingot__V1__Fetch WireFetch(uint32_t fetch) {
  switch (fetch) {
    case INGOT_FETCH_MATCHING:
      return INGOT__V1__FETCH__FETCH_MATCHING;
    case INGOT_FETCH_PLAN:
      return INGOT__V1__FETCH__FETCH_PLAN_ONLY;
    default:
      return INGOT__V1__FETCH__FETCH_ALL;
  }
}

std::string Bytes(const ProtobufCBinaryData& data) {
  return std::string(reinterpret_cast<const char*>(data.data), data.len);
}

// A GetKernelRequest and what it points to.
class RequestMessage {
 public:
  RequestMessage(const ingot_spec& spec, const std::string& target,
                 const PrepareOptions& options, const FetchedPlan* known)
      : spec_(spec, target.c_str()) {
    ingot__v1__get_kernel_request__init(&message_);
    message_.api_version = kApiVersion;
    message_.spec = spec_.message();
    message_.fetch = WireFetch(options.fetch);
    message_.priority = (options.flags & INGOT_PREPARE_WARMUP) != 0
                            ? INGOT__V1__PRIORITY__PRIORITY_WARMUP
                            : INGOT__V1__PRIORITY__PRIORITY_INTERACTIVE;
    message_.pin_epoch = options.pin_epoch;
    message_.omit_bytes = !WantsBytes(options);
    message_.request_id = const_cast<char*>(options.request_id);
    if (known != nullptr) AddHeld(*known);
  }
  RequestMessage(const RequestMessage&) = delete;
  RequestMessage& operator=(const RequestMessage&) = delete;

  Ingot__V1__GetKernelRequest* message() { return &message_; }

 private:
  // Borrows from `known`, which the caller keeps.
  void AddHeld(const FetchedPlan& known) {
    for (const std::shared_ptr<CodeObject>& object : known.objects) {
      if (object == nullptr) continue;
      const std::string& digest = object->facts().digest;
      held_.push_back({digest.size(), reinterpret_cast<uint8_t*>(
                                          const_cast<char*>(digest.data()))});
    }
    message_.n_held_digests = held_.size();
    message_.held_digests = held_.data();
  }

  SpecMessage spec_;
  Ingot__V1__GetKernelRequest message_;
  std::vector<ProtobufCBinaryData> held_;
};

KernelFacts FactsOf(const Ingot__V1__Record& record) {
  KernelFacts facts;
  facts.key = Bytes(record.key);
  facts.digest = Bytes(record.digest);
  facts.size = record.size;
  const Ingot__V1__Description& description = *record.description;
  facts.symbol = description.symbol;
  facts.target = description.target;
  facts.vgprs = description.vgprs;
  facts.sgprs = description.sgprs;
  facts.lds_bytes = description.lds_bytes;
  facts.scratch_bytes = description.scratch_bytes;
  facts.kernarg_bytes = description.kernarg_bytes;
  facts.max_workgroup = description.max_workgroup;
  return facts;
}

}  // namespace

// A spec on its way to a handle.
struct Client::Wanted {
  const ingot_spec* spec = nullptr;
  bool keyed = false;
  SpecKey key;
  std::string digest;
  std::shared_ptr<const FetchedPlan> fetched;  // known, then what was asked for
  uint64_t generation = 0;  // of the client when it was looked for
  bool answered = false;
  Outcome outcome;
};

Client::Client(ClientOptions options, std::unique_ptr<Signatures> signatures)
    : options_(std::move(options)),
      channel_(options_.channel),
      signatures_(std::move(signatures)),
      hip_(std::make_shared<HipApi>(options_.hip_library)),
      modules_loaded_(std::make_shared<std::atomic<uint64_t>>(0)),
      bundles_(options_.bundle) {}

Client::~Client() {
  for (ingot_prepared* handle : handles_) DropCache(handle);
}

void Client::FillStats(ingot_client_stats* stats) const {
  const ChannelStats& calls = channel_.stats();
  stats->calls = calls.calls.load();
  stats->failed_calls = calls.failed_calls.load();
  stats->retries = calls.retries.load();
  stats->connections = calls.connections.load();
  stats->prepare_calls = prepare_calls_.load();
  stats->objects = objects_received_.load();
  stats->object_bytes = object_bytes_.load();
  stats->modules_loaded = modules_loaded_->load();
  stats->bundle_specs = bundle_specs_.load();
  stats->bundle_objects = bundle_objects_.load();
}

ingot_prepared* Client::FindKnown(const ingot_spec& spec,
                                  const PrepareOptions& options,
                                  const SpecKey& key) {
  ingot_prepared* handle = table_.Find(key);
  if (handle == nullptr) return nullptr;
  const FetchedPlan& fetched = *handle->prepared->fetched;
  if (!Suffices(fetched, spec, options.fetch, WantsBytes(options))) {
    return nullptr;
  }
  AddUser(handle);
  return handle;
}

bool Client::Settle(Wanted* wanted, const PrepareOptions& options) {
  wanted->outcome.status =
      DigestSpec(wanted->spec, options_.target, &wanted->digest);
  if (!wanted->outcome.status.ok()) return true;
  {
    const std::lock_guard<std::mutex> lock(mutex());
    wanted->generation = generation_;
    const auto known = plans_.find({wanted->digest, options.pin_epoch});
    if (known != plans_.end()) wanted->fetched = known->second;
  }
  if (wanted->fetched == nullptr ||
      !Suffices(*wanted->fetched, *wanted->spec, options.fetch,
                WantsBytes(options))) {
    return false;
  }
  Finish(wanted, options);
  return true;
}

void Client::Keep(const Wanted& wanted, const PrepareOptions& options) {
  const std::lock_guard<std::mutex> lock(mutex());
  if (wanted.generation != generation_) return;
  plans_[{wanted.digest, options.pin_epoch}] = wanted.fetched;
}

void Client::Forget(const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex());
  ++generation_;
  const auto gone = [&](const std::string& other) {
    return digest.empty() || digest == other;
  };
  std::erase_if(plans_, [&](const auto& plan) {
    return plan.first.second == 0 && gone(plan.first.first);
  });
  // Also of pinned ones, which are found in plans_ without a call.
  table_.Remove([&](const ingot_prepared& handle) {
    return gone(handle.prepared->fetched->plan.spec_digest);
  });
}

void Client::Finish(Wanted* wanted, const PrepareOptions& options) {
  auto prepared = std::make_unique<Prepared>();
  prepared->hip = hip_;
  prepared->fetched = wanted->fetched;
  prepared->order = MakeArgumentOrder(*wanted->spec, wanted->fetched->plan);
  const bool load = (options.flags & INGOT_PREPARE_NO_LOAD) == 0 &&
                    WantsBytes(options) && options.fetch != INGOT_FETCH_PLAN;
  // Without a device there is nothing to load on, which only launches mind.
  if (load && hip_->Open().ok()) {
    wanted->outcome.status = prepared->Load();
    if (!wanted->outcome.status.ok()) return;
  }
  ingot_prepared* handle = NewHandle(std::move(prepared));
  AddUser(handle);
  wanted->outcome.handle = handle;
  const std::lock_guard<std::mutex> lock(mutex());
  if (!wanted->keyed || wanted->generation != generation_) {
    return DropCache(handle);
  }
  // A handle that this replaces stays in handles_: another thread may be about
  // to use it.
  table_.Put(wanted->key, handle);
  handles_.push_back(handle);
}

std::shared_ptr<CodeObject> Client::HeldObject(const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex());
  const auto held = objects_.find(digest);
  return held == objects_.end() ? nullptr : held->second;
}

Status Client::ObtainObject(const Ingot__V1__Kernel& kernel,
                            const KernelFacts& facts, Deadline deadline,
                            std::shared_ptr<CodeObject>* object) {
  *object = HeldObject(facts.digest);
  if (*object != nullptr) return Status();
  std::string bytes = Bytes(kernel.object);
  if (bytes.empty() && kernel.bytes_follow) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ReadObject(&channel_, facts.digest, facts.size, deadline, &bytes));
  }
  if (bytes.empty()) return Status();  // a record alone
  INGOT_CLIENT_RETURN_IF_ERROR(CheckBytes(facts, bytes));
  if (facts.source == INGOT_SOURCE_BUNDLE) {
    bundle_objects_.fetch_add(1, std::memory_order_relaxed);
  } else {
    objects_received_.fetch_add(1, std::memory_order_relaxed);
    object_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  }
  auto made = std::make_shared<CodeObject>(hip_, facts, std::move(bytes),
                                           modules_loaded_);
  const std::lock_guard<std::mutex> lock(mutex());
  *object = objects_.emplace(facts.digest, std::move(made)).first->second;
  return Status();
}

Status Client::AbsorbKernel(const Ingot__V1__Kernel& kernel,
                            FetchedPlan* fetched, Deadline deadline) {
  if (kernel.record == nullptr || kernel.record->description == nullptr ||
      kernel.record->digest.len != 32) {
    return Error(INGOT_INTERNAL, "the daemon sent a kernel without a record");
  }
  KernelFacts facts = FactsOf(*kernel.record);
  facts.source = static_cast<uint32_t>(kernel.source);
  for (size_t i = 0; i < fetched->plan.kernels.size(); ++i) {
    const PlanKernel& planned = fetched->plan.kernels[i];
    if (planned.key != facts.key) continue;
    if (planned.symbol != facts.symbol) {
      return Error(INGOT_INTERNAL, "kernel %s: its record names symbol %s",
                   planned.symbol.c_str(), facts.symbol.c_str());
    }
    INGOT_CLIENT_RETURN_IF_ERROR(
        ObtainObject(kernel, facts, deadline, &fetched->objects[i]));
    fetched->facts[i] = std::move(facts);
    return Status();
  }
  return Error(INGOT_INTERNAL,
               "the daemon sent kernel %s, which is not of the "
               "plan",
               facts.symbol.c_str());
}

Status Client::CheckSignatures(std::string_view response) {
  if (signatures_->off()) return Status();
  RawResponse raw;
  INGOT_CLIENT_RETURN_IF_ERROR(SplitResponse(response, &raw));
  INGOT_CLIENT_RETURN_IF_ERROR(signatures_->CheckPlan(raw.plan));
  for (const std::string_view record : raw.records) {
    INGOT_CLIENT_RETURN_IF_ERROR(signatures_->CheckRecord(record));
  }
  return Status();
}

Status Client::Absorb(const Ingot__V1__GetKernelResponse& response,
                      Wanted* wanted, Deadline deadline) {
  if (response.plan == nullptr) {
    return Error(INGOT_INTERNAL, "the daemon answered without a plan");
  }
  auto fetched = std::make_shared<FetchedPlan>();
  INGOT_CLIENT_RETURN_IF_ERROR(MakeLaunchPlan(*response.plan, &fetched->plan));
  if (fetched->plan.spec_digest != wanted->digest) {
    return Error(INGOT_INTERNAL,
                 "the plan is for spec %s, asked was %s: daemon and library "
                 "disagree on the canonical encoding",
                 Hex(fetched->plan.spec_digest).c_str(),
                 Hex(wanted->digest).c_str());
  }
  fetched->compile_us = response.compile_us;
  const size_t kernels = fetched->plan.kernels.size();
  fetched->facts.resize(kernels);
  fetched->objects.resize(kernels);
  for (size_t i = 0; i < response.n_kernels; ++i) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        AbsorbKernel(*response.kernels[i], fetched.get(), deadline));
  }
  // What an earlier fetch of the same plan brought.
  for (size_t i = 0; wanted->fetched != nullptr && i < kernels; ++i) {
    const FetchedPlan& known = *wanted->fetched;
    for (size_t k = 0; k < known.facts.size(); ++k) {
      if (known.facts[k].key != fetched->plan.kernels[i].key) continue;
      if (fetched->facts[i].digest.empty()) fetched->facts[i] = known.facts[k];
      if (fetched->objects[i] == nullptr)
        fetched->objects[i] = known.objects[k];
    }
  }
  INGOT_CLIENT_RETURN_IF_ERROR(CheckContracts(*fetched));
  fetched->complete = true;
  for (const std::shared_ptr<CodeObject>& object : fetched->objects) {
    fetched->complete &= object != nullptr;
  }
  wanted->fetched = std::move(fetched);
  return Status();
}

Status Client::Call(Wanted* wanted, const PrepareOptions& options,
                    Deadline deadline) {
  prepare_calls_.fetch_add(1, std::memory_order_relaxed);
  RequestMessage request(*wanted->spec, options_.target, options,
                         wanted->fetched.get());
  Message<Ingot__V1__GetKernelResponse> response;
  Status trusted;
  INGOT_CLIENT_RETURN_IF_ERROR(GetKernel(
      &channel_, *request.message(), deadline,
      [&](std::string_view bytes) { trusted = CheckSignatures(bytes); },
      &response));
  INGOT_CLIENT_RETURN_IF_ERROR(trusted);
  return Absorb(*response, wanted, deadline);
}

Status Client::Obtain(Wanted* wanted, const PrepareOptions& options,
                      Deadline deadline) {
  Status status =
      Call(wanted, options, MayFallBack(options) ? deadline.Half() : deadline);
  if (status.ok()) return status;
  return FallBack(wanted, options, deadline, std::move(status));
}

bool Client::MayFallBack(const PrepareOptions& options) const {
  return !bundles_.empty() && WantsBytes(options);
}

Status Client::FallBack(Wanted* wanted, const PrepareOptions& options,
                        Deadline deadline, Status daemon) {
  const bool late = daemon.code == INGOT_DEADLINE_EXCEEDED;
  const bool away = late || daemon.code == INGOT_UNAVAILABLE ||
                    daemon.code == INGOT_RESOURCE_EXHAUSTED;
  if (!away || !MayFallBack(options)) return daemon;
  const Status bundle = TakeFromBundle(wanted, options, deadline);
  if (bundle.ok()) return bundle;
  const bool missing = bundle.code == INGOT_NOT_FOUND;
  // Then the daemon has the other half of the time, too.
  if (late && missing && !deadline.Expired()) {
    return Call(wanted, options, deadline);
  }
  if (!missing) daemon.code = bundle.code;
  daemon.message += "; " + bundle.message;
  return daemon;
}

Status Client::TakeFromBundle(Wanted* wanted, const PrepareOptions& options,
                              Deadline deadline) {
  FoundPlan found;
  INGOT_CLIENT_RETURN_IF_ERROR(
      bundles_.Find(wanted->digest, options.pin_epoch, &found));
  const std::string context = "bundle " + found.file->name();
  std::string bytes;
  INGOT_CLIENT_RETURN_IF_ERROR(AnswerFromBundle(
      found,
      [this](const std::string& digest) {
        return HeldObject(digest) != nullptr;
      },
      deadline, &bytes));
  INGOT_CLIENT_RETURN_IF_ERROR(Annotate(CheckSignatures(bytes), context));
  const Message<Ingot__V1__GetKernelResponse> response(
      ingot__v1__get_kernel_response__unpack(
          nullptr, bytes.size(),
          reinterpret_cast<const uint8_t*>(bytes.data())));
  if (response == nullptr) {
    return Error(INGOT_DATA_LOSS, "%s: found records that cannot be read",
                 context.c_str());
  }
  INGOT_CLIENT_RETURN_IF_ERROR(
      Annotate(Absorb(*response, wanted, deadline), context));
  bundle_specs_.fetch_add(1, std::memory_order_relaxed);
  return Status();
}

Outcome Client::Prepare(const ingot_spec& spec, const PrepareOptions& options) {
  SpecKey key;
  const bool keyed = MakeSpecKey(spec, options.pin_epoch, &key);
  if (keyed) {
    if (ingot_prepared* handle = FindKnown(spec, options, key)) {
      return {Status(), handle};
    }
  }
  Wanted wanted;
  wanted.spec = &spec;
  wanted.keyed = keyed;
  if (keyed) wanted.key = key;
  if (Settle(&wanted, options)) return wanted.outcome;
  const Deadline deadline = Deadline::After(options.timeout_ms);
  wanted.outcome.status = Obtain(&wanted, options, deadline);
  if (!wanted.outcome.status.ok()) return wanted.outcome;
  Keep(wanted, options);
  Finish(&wanted, options);
  return wanted.outcome;
}

Status Client::CallMany(const std::vector<Wanted*>& wanted,
                        const PrepareOptions& options, Deadline deadline) {
  std::vector<std::unique_ptr<RequestMessage>> requests;
  std::vector<Ingot__V1__GetKernelRequest*> pointers;
  for (const Wanted* each : wanted) {
    requests.push_back(std::make_unique<RequestMessage>(
        *each->spec, options_.target, options, each->fetched.get()));
    pointers.push_back(requests.back()->message());
  }
  Ingot__V1__GetKernelsRequest batch;
  ingot__v1__get_kernels_request__init(&batch);
  batch.n_requests = pointers.size();
  batch.requests = pointers.data();
  prepare_calls_.fetch_add(wanted.size(), std::memory_order_relaxed);
  return GetKernels(
      &channel_, batch, deadline,
      [&](const Ingot__V1__GetKernelsResponse& response,
          std::string_view bytes) {
        std::vector<std::string_view> raw;
        INGOT_CLIENT_RETURN_IF_ERROR(SplitResults(bytes, &raw));
        if (raw.size() != response.n_results) {
          return Error(INGOT_INTERNAL, "the daemon's results are damaged");
        }
        for (size_t i = 0; i < response.n_results; ++i) {
          const Ingot__V1__IndexedResult& result = *response.results[i];
          if (result.index >= wanted.size()) {
            return Error(INGOT_INTERNAL,
                         "the daemon answered request %u of %zu", result.index,
                         wanted.size());
          }
          Wanted* each = wanted[result.index];
          each->answered = true;
          if (result.code != INGOT_OK || result.response == nullptr) {
            each->outcome.status =
                Error(result.code != INGOT_OK ? result.code : INGOT_INTERNAL,
                      "%s", result.message);
          } else {
            each->outcome.status = CheckSignatures(raw[i]);
            if (each->outcome.status.ok()) {
              each->outcome.status = Absorb(*result.response, each, deadline);
            }
          }
        }
        return Status();
      });
}

std::vector<Outcome> Client::PrepareMany(
    const std::vector<const ingot_spec*>& specs,
    const PrepareOptions& options) {
  const Deadline deadline = Deadline::After(options.timeout_ms);
  std::vector<std::unique_ptr<Wanted>> all;
  std::vector<Wanted*> open;
  for (const ingot_spec* spec : specs) {
    all.push_back(std::make_unique<Wanted>());
    Wanted* wanted = all.back().get();
    if (spec == nullptr) {
      wanted->outcome.status =
          Error(INGOT_INVALID_ARGUMENT, "spec: found NULL, allowed a spec");
      continue;
    }
    wanted->spec = spec;
    wanted->keyed = MakeSpecKey(*spec, options.pin_epoch, &wanted->key);
    if (wanted->keyed) {
      wanted->outcome.handle = FindKnown(*spec, options, wanted->key);
      if (wanted->outcome.handle != nullptr) continue;
    }
    if (!Settle(wanted, options)) open.push_back(wanted);
  }
  AskFor(open, options, deadline);
  std::vector<Outcome> outcomes;
  for (const std::unique_ptr<Wanted>& wanted : all) {
    outcomes.push_back(std::move(wanted->outcome));
  }
  return outcomes;
}

void Client::AskFor(const std::vector<Wanted*>& open,
                    const PrepareOptions& options, Deadline deadline) {
  // One request a digest: specs that differ in a token count alone, or in the
  // order of their lists, share the answer.
  std::map<std::string, std::vector<Wanted*>> by_digest;
  for (Wanted* wanted : open) by_digest[wanted->digest].push_back(wanted);
  std::vector<Wanted*> leaders;
  for (const auto& [digest, group] : by_digest) leaders.push_back(group[0]);
  for (size_t begin = 0; begin < leaders.size(); begin += kMaxBatch) {
    const size_t end = std::min(begin + kMaxBatch, leaders.size());
    AskBatch({leaders.begin() + begin, leaders.begin() + end}, options,
             MayFallBack(options) ? deadline.Half() : deadline);
  }
  for (Wanted* leader : leaders) {
    if (leader->outcome.status.ok()) continue;
    leader->outcome.status =
        FallBack(leader, options, deadline, std::move(leader->outcome.status));
  }
  for (const auto& [digest, group] : by_digest) {
    const Wanted& leader = *group[0];
    const Status status = leader.outcome.status;
    const std::shared_ptr<const FetchedPlan> fetched = leader.fetched;
    if (status.ok()) Keep(leader, options);
    for (Wanted* wanted : group) {
      wanted->outcome.status = status;
      wanted->fetched = fetched;
      // A leader that asked for matching variants may not match for all.
      if (status.ok() && !Suffices(*fetched, *wanted->spec, options.fetch,
                                   WantsBytes(options))) {
        wanted->outcome.status = Call(wanted, options, deadline);
      }
      if (wanted->outcome.status.ok()) Finish(wanted, options);
    }
  }
}

void Client::AskBatch(std::vector<Wanted*> batch, const PrepareOptions& options,
                      Deadline deadline) {
  Status status;
  for (int broken = 0; !batch.empty() && broken < kMaxBrokenStreams;) {
    status = CallMany(batch, options, deadline);
    const size_t asked = batch.size();
    batch.erase(
        std::remove_if(batch.begin(), batch.end(),
                       [](const Wanted* each) { return each->answered; }),
        batch.end());
    if (status.ok() || status.code != INGOT_UNAVAILABLE) break;
    // Without progress the channel has tried often enough.
    if (batch.size() == asked) break;
    ++broken;
  }
  for (Wanted* wanted : batch) {
    wanted->outcome.status = status.ok()
                                 ? Error(INGOT_INTERNAL,
                                         "the daemon's stream left a request "
                                         "unanswered")
                                 : status;
  }
}

}  // namespace ingot::client
