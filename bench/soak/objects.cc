#include "bench/soak/objects.h"

#include "bench/process.h"
#include "bench/soak/requests.h"
#include "compiler/plan.h"

namespace ingot::bench {

std::vector<std::string> Objects::KeysOf(int problem) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = keys_.find(problem);
    if (known != keys_.end()) return known->second;
  }
  const absl::StatusOr<Plan> plan = MakePlan(SoakSpec(problem));
  if (!plan.ok()) Die(std::string(plan.status().message()));
  std::vector<std::string> keys;
  for (const PlanKernel& kernel : plan->kernels) keys.push_back(kernel.key);
  const std::lock_guard<std::mutex> lock(mutex_);
  return keys_.emplace(problem, std::move(keys)).first->second;
}

bool Objects::Agrees(const std::string& key, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [entry, added] = digests_.emplace(key, digest);
  if (added) order_.push_back(digest);
  return entry->second == digest;
}

std::map<std::string, std::string> Objects::digests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return digests_;
}

std::string Objects::RandomDigest(std::mt19937_64& random) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return order_.empty() ? "" : order_[random() % order_.size()];
}

void Objects::NoteStored(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stored_.insert(key);
}

void Objects::NoteDamaged(const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  damaged_.insert(digest);
}

std::set<std::string> Objects::stored() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stored_;
}

std::vector<std::string> Objects::TakeMissing(
    const std::set<std::string>& before, const std::set<std::string>& listed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> missing;
  for (const std::string& key : before) {
    if (listed.count(key) != 0) continue;
    stored_.erase(key);
    if (damaged_.count(digests_[key]) == 0) missing.push_back(key);
  }
  return missing;
}

}  // namespace ingot::bench
