// What is answered from a cache goes out as fast as messages can be filled;
// what has to be compiled joins when it is ready. Two limits keep a batch of
// any length harmless: requests are looked up only while a message is being
// filled (so a slow reader holds its own batch back, nobody else's), and at
// most kMaxWaiting of them wait for compiles at once (so one warm-up of
// thousands does not fill the compile queue).
#include "server/batch_rpc.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/kernels_rpc.h"
#include "server/request_view.h"
#include "server/rpc_bytes.h"
#include "server/rpc_status.h"
#include "server/wire_fields.h"

namespace ingot::server {
namespace {

// A message is sent when it holds this much, or when nothing more is ready.
constexpr size_t kMessageBytes = 256 << 10;
constexpr size_t kMaxWaiting = 64;

using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

void AppendResult(std::string* out, size_t index, const Reply& reply) {
  std::string head;
  AppendField(&head, v1::IndexedResult::kIndexFieldNumber, uint64_t{index});
  size_t body = 0;
  if (reply.ok()) {
    body = reply->size();
    AppendHeader(&head, v1::IndexedResult::kResponseFieldNumber, body);
  } else {
    const grpc::Status status = ToRpc(reply.status());
    AppendField(&head, v1::IndexedResult::kCodeFieldNumber,
                static_cast<uint64_t>(status.error_code()));
    AppendField(&head, v1::IndexedResult::kMessageFieldNumber,
                absl::string_view(status.error_message()));
  }
  AppendHeader(out, v1::GetKernelsResponse::kResultsFieldNumber,
               head.size() + body);
  *out += head;
  if (!reply.ok()) return;
  for (const cache::Bytes& piece : reply->pieces())
    absl::StrAppend(out, *piece);
}

// One batch. Shared by its reactor and by the compiles it waits for, which may
// end after the call did. Thread-safe.
class Batch : public std::enable_shared_from_this<Batch> {
 public:
  Batch(Lookup& lookup, Lookup::Origin origin, const grpc::ByteBuffer& request,
        Reactor& reactor)
      : lookup_(lookup),
        origin_(std::move(origin)),
        bytes_(request),
        reactor_(reactor) {}

  // INVALID_ARGUMENT when the message is no batch; then nothing else is called.
  absl::Status Open() {
    INGOT_ASSIGN_OR_RETURN(requests_, ViewBatch(bytes_.view()));
    if (requests_.size() <= kMaxBatch) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "requests: found ", requests_.size(), ", allowed ", kMaxBatch));
  }

  void OnWriteDone(bool ok) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      writing_ = false;
      cancelled_ = cancelled_ || !ok;
    }
    Pump();
  }

  void Cancel() {
    std::vector<std::weak_ptr<LookupCall>> calls;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      cancelled_ = true;
      calls.swap(calls_);
    }
    for (const std::weak_ptr<LookupCall>& waiting : calls) {
      if (const std::shared_ptr<LookupCall> call = waiting.lock()) {
        call->Abandon();
      }
    }
    Pump();
  }

  // Does whatever can be done now: look up, send, end. One thread at a time;
  // who finds another at it leaves word and goes.
  void Pump() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      again_ = true;
      if (pumping_ || finished_) return;
      pumping_ = true;
    }
    for (;;) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        again_ = false;
      }
      while (HasRoom()) LookUpNext();
      switch (Decide()) {
        case Action::kWrite:
          reactor_.StartWrite(&buffer_);
          break;
        case Action::kFinish:
          reactor_.Finish(grpc::Status::OK);
          return;
        case Action::kGiveUp:
          reactor_.Finish(
              grpc::Status(grpc::StatusCode::CANCELLED, "the caller is gone"));
          return;
        case Action::kRest:
          return;
        case Action::kAgain:
          break;
      }
    }
  }

 private:
  enum class Action { kWrite, kFinish, kGiveUp, kRest, kAgain };

  bool HasRoom() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool room = ready_.empty() ||
                      (ready_.size() == 1 && ready_[0].size() < kMessageBytes);
    return !cancelled_ && room && waiting_ < kMaxWaiting &&
           next_ < requests_.size();
  }

  Action Decide() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!writing_) {
      if (cancelled_) {
        finished_ = true;
        return Action::kGiveUp;
      }
      if (!ready_.empty()) {
        buffer_ = BufferOf(std::move(ready_.front()));
        ready_.pop_front();
        writing_ = true;
        return Action::kWrite;
      }
      if (next_ == requests_.size() && waiting_ == 0) {
        finished_ = true;
        return Action::kFinish;
      }
    }
    if (again_) return Action::kAgain;
    pumping_ = false;
    return Action::kRest;
  }

  void LookUpNext() {
    const size_t index = next_++;  // only the pumping thread is here
    Lookup::Started started = lookup_.Get(
        requests_[index],
        [this]() -> Lookup::Origin {
          return {origin_.caller, NextSpan(origin_.trace)};
        },
        [&]() -> Lookup::Done {
          const std::lock_guard<std::mutex> lock(mutex_);
          ++waiting_;
          return [self = shared_from_this(), index](const Reply& reply) {
            self->Deliver(index, reply, true);
            self->Pump();
          };
        });
    if (started.answer) {
      Deliver(index, *started.answer, started.waited);
      return;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(std::move(started.call));
  }

  void Deliver(size_t index, const Reply& reply, bool waited) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waited) --waiting_;
    if (cancelled_) return;
    // Many compiles may end while one message travels; a reply is at most
    // kMaxInlineReply and its plan, so no message passes gRPC's default limit.
    if (ready_.empty() || ready_.back().size() >= kMessageBytes) {
      ready_.emplace_back();
    }
    AppendResult(&ready_.back(), index, reply);
  }

  Lookup& lookup_;
  const Lookup::Origin origin_;
  const MessageBytes bytes_;
  std::vector<absl::string_view> requests_;  // point into bytes_
  Reactor& reactor_;  // lives until it was told to finish
  size_t next_ = 0;   // written by the pumping thread, under the lock

  std::mutex mutex_;
  std::deque<std::string> ready_;  // messages; the last is being filled
  grpc::ByteBuffer buffer_;        // the message that travels
  size_t waiting_ = 0;             // requests whose kernels are being compiled
  std::vector<std::weak_ptr<LookupCall>> calls_;
  bool writing_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
  bool pumping_ = false;
  bool again_ = false;  // something happened since the pump last looked
};

class BatchReactor : public Reactor {
 public:
  BatchReactor(Lookup& lookup, Lookup::Origin origin,
               const grpc::ByteBuffer& request)
      : batch_(std::make_shared<Batch>(lookup, std::move(origin), request,
                                       *this)) {
    const absl::Status opened = batch_->Open();
    if (!opened.ok()) {
      batch_.reset();
      Finish(ToRpc(opened));
      return;
    }
    const std::shared_ptr<Batch> batch = batch_;
    batch->Pump();
  }

  // Each keeps the batch: its pump may finish the call, which ends the reactor.
  void OnWriteDone(bool ok) override {
    const std::shared_ptr<Batch> batch = batch_;
    batch->OnWriteDone(ok);
  }
  void OnCancel() override {
    const std::shared_ptr<Batch> batch = batch_;
    if (batch != nullptr) batch->Cancel();
  }
  void OnDone() override { delete this; }

 private:
  std::shared_ptr<Batch> batch_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartBatch(
    Lookup& lookup, Lookup::Origin origin, const grpc::ByteBuffer& request) {
  return new BatchReactor(lookup, std::move(origin), request);
}

}  // namespace ingot::server
