#include "server/flights.h"

#include <utility>
#include <vector>

namespace ingot::server {

Flights::Joined Flights::Join(absl::string_view key, bool speculative,
                              Done done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Flight& flight = flights_[std::string(key)];
  Joined joined;
  joined.owner = flight.id == 0;
  if (joined.owner) flight.id = next_id_++;
  joined.promoted = !joined.owner && flight.speculative && !speculative;
  flight.speculative = flight.speculative && speculative;
  joined.ticket = {std::string(key), flight.id, next_id_++};
  flight.waiters.emplace(joined.ticket.waiter,
                         Waiter{std::move(done), joined.owner});
  return joined;
}

bool Flights::Leave(const Ticket& ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = flights_.find(ticket.key);
  if (found == flights_.end() || found->second.id != ticket.flight) {
    return false;
  }
  Flight& flight = found->second;
  flight.waiters.erase(ticket.waiter);
  if (!flight.waiters.empty() || !flight.speculative || flight.begun) {
    return false;
  }
  flights_.erase(found);
  return true;
}

bool Flights::Begin(absl::string_view key, uint64_t flight) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = flights_.find(key);
  if (found == flights_.end() || found->second.id != flight) return false;
  found->second.begun = true;
  return true;
}

bool Flights::Speculative(absl::string_view key, uint64_t flight) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = flights_.find(key);
  return found == flights_.end() || found->second.id != flight ||
         found->second.speculative;
}

void Flights::Finish(absl::string_view key, uint64_t flight,
                     const BuildOutcome& outcome) {
  std::map<uint64_t, Waiter> waiters;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = flights_.find(key);
    if (found == flights_.end() || found->second.id != flight) return;
    waiters = std::move(found->second.waiters);
    flights_.erase(found);
  }
  for (const auto& [id, waiter] : waiters) waiter.done(outcome, waiter.owner);
}

void Flights::FinishAll(const BuildOutcome& outcome) {
  absl::flat_hash_map<std::string, Flight> ended;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended.swap(flights_);
  }
  for (const auto& [key, flight] : ended) {
    for (const auto& [id, waiter] : flight.waiters) {
      waiter.done(outcome, waiter.owner);
    }
  }
}

size_t Flights::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return flights_.size();
}

}  // namespace ingot::server
