// Jobs of one priority, clients taking turns: who asks for a thousand kernels
// at once does not keep the next one waiting for all of them.
#ifndef INGOT_SERVER_FAIR_LINE_H_
#define INGOT_SERVER_FAIR_LINE_H_

#include <cstddef>
#include <deque>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace ingot::server {

// Job has `id` and `client`. Not thread-safe.
template <typename Job>
class FairLine {
 public:
  // Behind the client's other jobs; a client that had none comes last.
  void PushBack(Job job) {
    TurnOf(job.client, turns_.end())->jobs.push_back(std::move(job));
    ++size_;
  }

  // Before everything else.
  void PushFront(Job job) {
    const Turn turn = TurnOf(job.client, turns_.begin());
    turns_.splice(turns_.begin(), turns_, turn);
    turn->jobs.push_front(std::move(job));
    ++size_;
  }

  // The first job of the client whose turn it is. REQUIRES: !empty().
  Job Pop() {
    const Turn turn = turns_.begin();
    Job job = std::move(turn->jobs.front());
    turn->jobs.pop_front();
    --size_;
    turns_.splice(turns_.end(), turns_, turn);
    Forget(turn);
    return job;
  }

  // Takes the job with `id` out; false when there is none.
  bool Take(uint64_t id, Job* job) {
    for (Turn turn = turns_.begin(); turn != turns_.end(); ++turn) {
      for (auto at = turn->jobs.begin(); at != turn->jobs.end(); ++at) {
        if (at->id != id) continue;
        *job = std::move(*at);
        turn->jobs.erase(at);
        --size_;
        Forget(turn);
        return true;
      }
    }
    return false;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t SizeOf(absl::string_view client) const {
    const auto found = clients_.find(client);
    return found == clients_.end() ? 0 : found->second->jobs.size();
  }

 private:
  struct Client {
    std::string name;
    std::deque<Job> jobs;  // never empty between calls
  };
  using Turn = typename std::list<Client>::iterator;

  // The client's place; a new one is made at `position`.
  Turn TurnOf(const std::string& client, Turn position) {
    const auto found = clients_.find(client);
    if (found != clients_.end()) return found->second;
    const Turn turn = turns_.insert(position, Client{client, {}});
    clients_.emplace(client, turn);
    return turn;
  }

  void Forget(Turn turn) {
    if (!turn->jobs.empty()) return;
    clients_.erase(turn->name);
    turns_.erase(turn);
  }

  std::list<Client> turns_;  // whose turn it is comes first
  absl::flat_hash_map<std::string, Turn> clients_;
  size_t size_ = 0;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_FAIR_LINE_H_
