// GetKernel without gRPC: from the bytes of a request to the bytes of a reply.
// The ladder is: whole replies by request bytes, plans by spec bytes, kernels
// in memory and on disk, and last a compile. Nothing above a compile ever
// waits.
#ifndef INGOT_SERVER_LOOKUP_H_
#define INGOT_SERVER_LOOKUP_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "cache/store.h"
#include "proto/status.h"
#include "server/access.h"
#include "server/builder.h"
#include "server/bytes_cache.h"
#include "server/counters.h"
#include "server/disabled.h"
#include "server/kernel_store.h"
#include "server/message.h"
#include "server/plans.h"
#include "server/recorder.h"
#include "server/request_view.h"
#include "server/trace.h"

namespace ingot::server {

// Larger objects are read with ReadObject.
inline constexpr size_t kMaxInlineObject = size_t{1} << 20;
// Objects in one reply, so that it stays below gRPC's default of 4 MiB.
inline constexpr size_t kMaxInlineReply = size_t{3} << 20;

using Reply = absl::StatusOr<Message>;

struct LookupSettings {
  size_t reply_cache_bytes = size_t{64} << 20;
  // How long a reply answers without the store being touched.
  std::chrono::nanoseconds reply_ttl = std::chrono::seconds(30);
  size_t plan_cache_bytes = size_t{64} << 20;
  Plans::Sign sign_plan = nullptr;
};

// What the log is told of a request that was not answered from a cache.
struct RequestLog {
  std::string request_id;
  Trace trace;
  std::string caller;
  std::string op;
  absl::Status status;
  int64_t compile_us = 0;
  int64_t wait_us = 0;
};

class LookupCall;
struct KernelSlot;

// Thread-safe.
class Lookup {
 public:
  using Done = std::function<void(Reply reply)>;
  using Note = std::function<void(const RequestLog&)>;
  // Who asks, and in which trace.
  struct Origin {
    std::shared_ptr<const Caller> caller;
    Trace trace;
  };
  using Who = absl::FunctionRef<Origin()>;

  // Either the answer, or a call whose `done` will be given it.
  struct Started {
    std::optional<Reply> answer;
    std::shared_ptr<LookupCall> call;
    bool waited = false;  // `make_done` was called
  };

  // All must outlive this and its calls.
  Lookup(KernelStore& store, Builder& builder, const Disabled& disabled,
         TuningTable& tuning, Recorder& recorder, Counters& counters,
         const LookupSettings& settings, Note note);

  // `make_done` is called when the answer may have to wait, and never for what
  // a cache answers. What it returns is called exactly once, on any thread, if
  // `call` is set, unless LookupCall::Abandon returned true before.
  //
  // PERMISSION_DENIED when a kernel has to be compiled and the caller may not;
  // only then is `who` asked. FAILED_PRECONDITION for what is disabled.
  Started Get(absl::string_view request, Who who,
              absl::FunctionRef<Done()> make_done);

  // A stored object, for those who know its digest from a record. NOT_FOUND;
  // FAILED_PRECONDITION when all kernels that have it are disabled.
  absl::StatusOr<cache::Bytes> Object(absl::string_view digest);

  // Replies may no longer be true: entries were deleted, evicted or disabled.
  void ForgetReplies() { replies_.Clear(); }
  // The tuning records changed.
  void ForgetTuning() {
    plans_.ForgetNewest();
    ForgetReplies();
  }
  Plans& plans() { return plans_; }
  size_t cached_bytes() const { return replies_.bytes(); }

 private:
  friend class LookupCall;

  struct CachedReply {
    Message message;
    Counter* hits = nullptr;               // of the reply's op
    std::shared_ptr<Recorder::Line> line;  // may be null
  };

  Started Refuse(absl::Status status);
  // Whether what a request needs of a plan may be handed out.
  absl::Status Permitted(const Plan& plan,
                         const std::vector<KernelSlot>& slots) const;
  Counter& Requests(const Spec& spec, absl::string_view result);
  // Keeps a reply that came wholly from memory.
  void Remember(absl::string_view request, uint64_t generation,
                const Message& reply, const Spec& spec,
                std::shared_ptr<Recorder::Line> line);

  KernelStore& store_;
  Builder& builder_;
  const Disabled& disabled_;
  TuningTable& tuning_;
  Recorder& recorder_;
  Counters& counters_;
  const Note note_;
  Plans plans_;
  BytesCache<CachedReply> replies_;
  std::array<Counter*, 17> refused_;  // by status code
};

// One kernel of a reply.
struct KernelSlot {
  const PlanKernel* kernel = nullptr;
  cache::Entry entry;
  Source source = Source::kMemory;
  int64_t compile_us = 0;
};

// A GetKernel that waits for compiles. Thread-safe.
class LookupCall : public std::enable_shared_from_this<LookupCall> {
 public:
  // The caller is gone or out of time: `done` will not be called any more, the
  // compiles go on. False when it has been called or is being called.
  bool Abandon();

 private:
  friend class Lookup;

  LookupCall(Lookup& lookup, std::shared_ptr<const AskedPlan> plan,
             absl::string_view request, const RequestView& view,
             Lookup::Origin origin, std::vector<KernelSlot> slots,
             std::shared_ptr<Recorder::Line> line, Lookup::Done done);

  // Starts the missing builds; the answer when all ended before it returned.
  std::optional<Reply> Start(const std::vector<size_t>& missing,
                             Priority priority);
  void OnBuilt(size_t slot, const BuildOutcome& outcome, bool owner);
  // What a caller is told of a kernel that could not be built: to ask again, if
  // a tuning record was to blame.
  absl::Status Blame(const PlanKernel& kernel, const absl::Status& failed);
  // Drops one reason to wait; the last one, or an error, makes the answer.
  void Settle();
  Reply Answer();

  Lookup& lookup_;
  const std::shared_ptr<const AskedPlan> plan_;
  const std::string request_;  // keeps the views alive
  RequestView view_;
  const Lookup::Origin origin_;
  const std::shared_ptr<Recorder::Line> line_;  // may be null
  const MonotonicTime started_ = SteadyNow();
  Lookup::Done done_;

  std::mutex mutex_;
  std::vector<KernelSlot> slots_;
  std::vector<Flights::Ticket> tickets_;
  size_t waiting_ = 1;  // builds, and Start itself
  bool starting_ = true;
  bool finished_ = false;
  absl::Status error_;
  std::optional<Reply> early_;  // made while Start was still running
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_LOOKUP_H_
