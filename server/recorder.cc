#include "server/recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

constexpr size_t kDefaultPage = 1000;
constexpr size_t kLargestPage = 2000;
// With a spec more, still below gRPC's default of 4 MiB.
constexpr size_t kPageBytes = size_t{1} << 20;

const char* NameOf(Recorder::Answer answer) {
  switch (answer) {
    case Recorder::Answer::kHit:
      return "hit";
    case Recorder::Answer::kCompiled:
      return "compiled";
    case Recorder::Answer::kRefused:
      return "refused";
    case Recorder::Answer::kAbandoned:
      return "abandoned";
  }
  return "";
}

void Lower(std::atomic<int64_t>* least, int64_t value) {
  int64_t seen = least->load(std::memory_order_relaxed);
  while (value < seen && !least->compare_exchange_weak(seen, value)) {
  }
}

void Raise(std::atomic<int64_t>* most, int64_t value) {
  int64_t seen = most->load(std::memory_order_relaxed);
  while (value > seen && !most->compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

Recorder::Line::Line(const Spec& canonical) {
  SpecToWire(canonical, &spec_);
  size_t used = 0;
  for (v1::Dim& dim : *spec_.mutable_dims()) {
    if (!IsTokenDim(dim.name())) continue;
    // As lists of specs write an open dim.
    dim.mutable_range();
    if (used < tokens_.size()) tokens_[used++].dim = dim.name();
  }
}

void Recorder::Line::Count(Answer answer, int64_t unix_ms) {
  counts_[static_cast<size_t>(answer)].fetch_add(1, std::memory_order_relaxed);
  last_.store(answer, std::memory_order_relaxed);
  last_ms_.store(unix_ms, std::memory_order_relaxed);
  int64_t none = 0;
  if (first_ms_.load(std::memory_order_relaxed) == 0) {
    first_ms_.compare_exchange_strong(none, unix_ms);
  }
}

void Recorder::Line::Note(const Spec& asked) {
  for (Tokens& tokens : tokens_) {
    if (tokens.dim.empty()) return;
    const Dim* dim = asked.FindDim(tokens.dim);
    if (dim == nullptr || !dim->value) continue;
    Lower(&tokens.min, *dim->value);
    Raise(&tokens.max, *dim->value);
  }
}

void Recorder::Line::Write(v1::RecordedSpec* out) const {
  *out->mutable_spec() = spec_;
  v1::SpecTraffic* traffic = out->mutable_traffic();
  const auto count = [this](Answer answer) {
    return counts_[static_cast<size_t>(answer)].load(std::memory_order_relaxed);
  };
  traffic->set_hits(count(Answer::kHit));
  traffic->set_compiled(count(Answer::kCompiled));
  traffic->set_refused(count(Answer::kRefused));
  traffic->set_abandoned(count(Answer::kAbandoned));
  traffic->set_requests(traffic->hits() + traffic->compiled() +
                        traffic->refused() + traffic->abandoned());
  traffic->set_last_result(NameOf(last_.load(std::memory_order_relaxed)));
  traffic->set_first_unix_ms(first_ms_.load(std::memory_order_relaxed));
  traffic->set_last_unix_ms(last_ms_.load(std::memory_order_relaxed));
  for (const Tokens& tokens : tokens_) {
    if (tokens.dim.empty() || tokens.max.load() < 0) continue;
    v1::SeenTokens* seen = traffic->add_tokens();
    seen->set_dim(tokens.dim);
    seen->set_min(tokens.min.load());
    seen->set_max(tokens.max.load());
  }
}

Recorder::Recorder(size_t max_specs, Counters& counters)
    : max_specs_(max_specs),
      unrecorded_(counters.Get("ingot_unrecorded_requests_total")) {}

std::shared_ptr<Recorder::Line> Recorder::Of(const AskedPlan& plan) {
  if (max_specs_ == 0) return nullptr;
  const std::string& digest = plan.plan->plan.spec_digest;
  std::shared_ptr<Line> line;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = lines_.find(digest);
    if (found != lines_.end()) {
      line = found->second;
    } else if (lines_.size() >= max_specs_) {
      unrecorded_.Add();
      return nullptr;
    } else {
      const absl::StatusOr<Spec> canonical = Canonicalize(plan.asked);
      if (!canonical.ok()) return nullptr;  // it has a plan, so it is one
      line.reset(new Line(*canonical));
      lines_.emplace(digest, line);
    }
  }
  line->Note(plan.asked);
  return line;
}

absl::StatusOr<v1::ListRecordedResponse> Recorder::List(
    const v1::ListRecordedRequest& request) const {
  if (request.page_size() > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat(
        "page_size: found ", request.page_size(), ", allowed ", kLargestPage));
  }
  if (!request.page_token().empty() && request.page_token().size() != 32) {
    return absl::InvalidArgumentError("page_token: found none of ours");
  }
  const auto page = static_cast<int>(
      request.page_size() == 0 ? kDefaultPage : request.page_size());
  v1::ListRecordedResponse response;
  const std::lock_guard<std::mutex> lock(mutex_);
  response.set_since_unix_ms(since_ms_);
  response.set_unrecorded(unrecorded_.value() - unrecorded_before_);
  size_t bytes = 0;
  auto at = request.page_token().empty()
                ? lines_.begin()
                : lines_.upper_bound(request.page_token());
  for (; at != lines_.end(); ++at) {
    if (at->second->first_ms_.load() == 0) continue;  // not answered yet
    if (response.specs_size() == page || bytes >= kPageBytes) {
      response.set_next_page_token(
          response.specs(response.specs_size() - 1).spec_digest());
      break;
    }
    v1::RecordedSpec* out = response.add_specs();
    out->set_spec_digest(at->first);
    at->second->Write(out);
    bytes += out->ByteSizeLong();
  }
  return response;
}

size_t Recorder::Forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t forgotten = lines_.size();
  lines_.clear();
  since_ms_ = UnixMillis();
  unrecorded_before_ = unrecorded_.value();
  return forgotten;
}

size_t Recorder::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lines_.size();
}

}  // namespace ingot::server
