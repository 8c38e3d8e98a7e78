#include "bench/soak/watch.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/samples.h"
#include "bench/service/load.h"
#include "ingot/v1/admin.grpc.pb.h"

namespace ingot::bench {
namespace {

std::unique_ptr<v1::Admin::Stub> StubOf(const testing::Daemon& daemon) {
  return v1::Admin::NewStub(OwnChannel(daemon.socket()));
}

void SetBudget(grpc::ClientContext* context, std::chrono::seconds budget) {
  context->set_deadline(std::chrono::system_clock::now() + budget);
}

double MedianOf(const std::vector<double>& samples, size_t from, size_t to) {
  if (from >= to) return 0;
  return Median({samples.begin() + static_cast<std::ptrdiff_t>(from),
                 samples.begin() + static_cast<std::ptrdiff_t>(to)});
}

}  // namespace

void Watch::Sample() {
  grpc::ClientContext context;
  SetBudget(&context, std::chrono::seconds(5));
  v1::StatsResponse stats;
  if (!StubOf(daemon_)->Stats(&context, {}, &stats).ok()) return;
  for (const v1::Counter& counter : stats.counters()) {
    now_[counter.name()] = counter.value();
  }
  resident_mib_.push_back(static_cast<double>(daemon_.ResidentBytes()) /
                          (1 << 20));
}

void Watch::NoteRestart() {
  for (const auto& [name, value] : now_) before_[name] += value;
  now_.clear();
  resident_mib_.clear();
}

double Watch::Now(const std::string& counter) const {
  const auto value = now_.find(counter);
  return value == now_.end() ? 0 : value->second;
}

double Watch::Total(const std::string& counter) const {
  const auto value = before_.find(counter);
  return Now(counter) + (value == before_.end() ? 0 : value->second);
}

std::optional<std::set<std::string>> Watch::List() const {
  const std::unique_ptr<v1::Admin::Stub> stub = StubOf(daemon_);
  std::set<std::string> keys;
  v1::ListRequest request;
  do {
    grpc::ClientContext context;
    SetBudget(&context, std::chrono::seconds(30));
    v1::ListResponse page;
    if (!stub->List(&context, request, &page).ok()) return std::nullopt;
    for (const v1::ListEntry& entry : page.entries()) keys.insert(entry.key());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return keys;
}

int64_t Watch::Verify() const {
  grpc::ClientContext context;
  SetBudget(&context, std::chrono::seconds(120));
  v1::VerifyResponse response;
  if (!StubOf(daemon_)->Verify(&context, {}, &response).ok()) return -1;
  return static_cast<int64_t>(response.damaged());
}

double Watch::GrowthMib() const {
  const size_t count = resident_mib_.size();
  return MedianOf(resident_mib_, 2 * count / 3, count) -
         MedianOf(resident_mib_, count / 3, 2 * count / 3);
}

double Watch::MostMib() const {
  return resident_mib_.empty()
             ? 0
             : *std::max_element(resident_mib_.begin(), resident_mib_.end());
}

}  // namespace ingot::bench
