#include "bench/soak/caller.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "compiler/sha256.h"

namespace ingot::bench {
namespace {

// Far above what a compile behind 64 others takes.
constexpr int64_t kBudgetMs = 30000;
constexpr double kGraceMs = 1000;
constexpr size_t kExamples = 10;

client::ChannelOptions OptionsFor(const std::string& text) {
  client::ChannelOptions options;
  if (!ParseAddress(text, &options.address).ok()) Die("bad address " + text);
  return options;
}

// What good requests may end in, too, while faults go on: no daemon or worker,
// a full queue.
bool IsPassing(int code) {
  return code == INGOT_UNAVAILABLE || code == INGOT_RESOURCE_EXHAUSTED;
}

}  // namespace

void Tally::Add(const Tally& other) {
  AddFaults(other);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] += other.codes[i];
  for (int kind = 0; kind < kKinds; ++kind) {
    milliseconds[kind].insert(milliseconds[kind].end(),
                              other.milliseconds[kind].begin(),
                              other.milliseconds[kind].end());
  }
}

void Tally::AddFaults(const Tally& other) {
  wrong += other.wrong;
  stuck += other.stuck;
  unexpected += other.unexpected;
  for (const std::string& example : other.examples) {
    if (examples.size() < kExamples) examples.push_back(example);
  }
}

Caller::Caller(const std::string& address, Requests& requests, Objects& objects,
               uint64_t seed, int think_ms)
    : requests_(requests),
      objects_(objects),
      channel_(OptionsFor(address)),
      random_(seed),
      think_ms_(think_ms) {}

void Caller::Run(const std::atomic<bool>& stop) {
  while (!stop.load()) {
    int pause_ms =
        think_ms_ == 0 ? 0 : static_cast<int>(random_() % (2 * think_ms_));
    // With no daemon there, the next call would fail as quickly.
    if (Make(requests_.Next(random_, objects_.RandomDigest(random_))) ==
        INGOT_UNAVAILABLE) {
      pause_ms += 20;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
}

int Caller::Make(const Ask& ask) {
  disk_was_full_ = objects_.disk_full();
  answered_.assign(ask.problems.size(), false);
  object_.clear();
  stored_.clear();
  client::Call call;
  call.method = ask.method;
  call.request = reinterpret_cast<const uint8_t*>(ask.request.data());
  call.request_size = ask.request.size();
  call.deadline = client::Deadline::After(kBudgetMs);
  call.on_message = [&](const uint8_t* data, size_t size) {
    Receive(ask, data, size);
    return client::Status();
  };
  client::Status status;
  const double milliseconds =
      1e3 * Seconds([&] { status = channel_.Invoke(call); });
  ++tally_.codes[static_cast<size_t>(status.code)];
  if (status.code == INGOT_DEADLINE_EXCEEDED ||
      milliseconds > kBudgetMs + kGraceMs) {
    Note(&Tally::stuck, absl::StrCat(ask.method, " after ", milliseconds,
                                     " ms: ", status.message));
    return status.code;
  }
  CheckCode(ask, status.code, status.message);
  if (status.code == ask.refusal) {
    tally_.milliseconds[static_cast<size_t>(ask.kind)].push_back(
        static_cast<float>(milliseconds));
  }
  if (!status.ok()) return status.code;
  CheckEnd(ask);
  if (!disk_was_full_ && !objects_.disk_full()) {
    for (const std::string& key : stored_) objects_.NoteStored(key);
  }
  return status.code;
}

void Caller::Receive(const Ask& ask, const uint8_t* data, size_t size) {
  const int length = static_cast<int>(size);
  if (ask.kind == Kind::kObject) {
    v1::ObjectChunk chunk;
    if (!chunk.ParseFromArray(data, length) ||
        chunk.offset() != object_.size()) {
      return Note(&Tally::wrong, "a chunk that does not join");
    }
    object_ += chunk.data();
  } else if (ask.kind == Kind::kBatch) {
    v1::GetKernelsResponse response;
    if (!response.ParseFromArray(data, length)) {
      return Note(&Tally::wrong, "GetKernels: no message");
    }
    CheckBatch(ask, response);
  } else if (!ask.problems.empty()) {
    v1::GetKernelResponse response;
    if (!response.ParseFromArray(data, length)) {
      return Note(&Tally::wrong, "GetKernel: no message");
    }
    answered_[0] = true;
    CheckKernels(ask.problems[0], response);
  }
}

void Caller::CheckKernels(int problem, const v1::GetKernelResponse& response) {
  std::vector<std::string> wanted = objects_.KeysOf(problem);
  for (const v1::Kernel& kernel : response.kernels()) {
    const v1::Record& record = kernel.record();
    const auto key = std::find(wanted.begin(), wanted.end(), record.key());
    if (key == wanted.end()) {
      return Note(&Tally::wrong,
                  absl::StrCat("problem ", problem, ": a kernel of another"));
    }
    wanted.erase(key);
    if (!kernel.object().empty() &&
        (kernel.object().size() != record.size() ||
         Sha256(kernel.object()) != record.digest())) {
      Note(&Tally::wrong,
           absl::StrCat("problem ", problem, ": bytes of another digest"));
    }
    if (!objects_.Agrees(record.key(), record.digest())) {
      Note(&Tally::wrong,
           absl::StrCat("problem ", problem, ": another object than before"));
    }
    if (kernel.source() == v1::SOURCE_COMPILED ||
        kernel.source() == v1::SOURCE_COALESCED ||
        kernel.source() == v1::SOURCE_STORE) {
      stored_.push_back(record.key());
    }
  }
  if (!wanted.empty()) {
    Note(&Tally::wrong, absl::StrCat("problem ", problem, ": ", wanted.size(),
                                     " kernels are missing"));
  }
}

void Caller::CheckBatch(const Ask& ask,
                        const v1::GetKernelsResponse& response) {
  for (const v1::IndexedResult& result : response.results()) {
    if (result.index() >= answered_.size() || answered_[result.index()]) {
      Note(&Tally::wrong,
           absl::StrCat("GetKernels: an answer to ", result.index(), " of ",
                        answered_.size()));
      continue;
    }
    answered_[result.index()] = true;
    if (result.code() == 0) {
      CheckKernels(ask.problems[result.index()], result.response());
    } else if (!IsPassing(result.code())) {
      Note(&Tally::unexpected,
           absl::StrCat("GetKernels: ", result.code(), " ", result.message()));
    }
  }
}

// Of a call that ended with OK: that all of it came.
void Caller::CheckEnd(const Ask& ask) {
  if (std::count(answered_.begin(), answered_.end(), false) != 0) {
    Note(&Tally::wrong, absl::StrCat(ask.method, ": answers are missing"));
  }
  if (ask.kind == Kind::kObject && Sha256(object_) != ask.digest) {
    Note(&Tally::wrong, absl::StrCat("ReadObject: another object than ",
                                     absl::BytesToHexString(ask.digest)));
  }
}

void Caller::CheckCode(const Ask& ask, int code, const std::string& message) {
  const bool right =
      code == ask.refusal ||
      // What was damaged or could not be written is not there to be read.
      (ask.kind == Kind::kObject && code == INGOT_NOT_FOUND);
  if (right || IsPassing(code)) return;
  Note(&Tally::unexpected,
       absl::StrCat(ask.method, " ended in ", code, ": ", message));
}

void Caller::Note(int64_t Tally::* count, const std::string& what) {
  ++(tally_.*count);
  if (tally_.examples.size() < kExamples) tally_.examples.push_back(what);
}

}  // namespace ingot::bench
