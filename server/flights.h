// Single flight: however many callers want one key, it is built once. Each
// caller waits on its own terms; a build that failed leaves nothing behind.
#ifndef INGOT_SERVER_FLIGHTS_H_
#define INGOT_SERVER_FLIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "cache/store.h"
#include "proto/status.h"

namespace ingot::server {

struct Built {
  cache::Entry entry;
  bool compiled = false;  // false: it was in the store after all
  int64_t compile_us = 0;
};
using BuildOutcome = absl::StatusOr<Built>;

// Thread-safe. Callbacks run on the thread that finishes the flight, with no
// lock held.
class Flights {
 public:
  using Done = std::function<void(const BuildOutcome& outcome, bool owner)>;

  struct Ticket {
    std::string key;
    uint64_t flight = 0;
    uint64_t waiter = 0;
  };
  struct Joined {
    Ticket ticket;
    // The caller started this flight and must see to it that Finish is called.
    bool owner = false;
    // A speculative flight became a wanted one with this join.
    bool promoted = false;
  };

  // `speculative`: nobody needs the answer now (warm-up). A flight is
  // speculative while everybody who ever joined it said so.
  Joined Join(absl::string_view key, bool speculative, Done done);

  // The waiter's `done` will not start any more. True when that ended the
  // flight: it was speculative, nobody else waits, and Begin was not called.
  bool Leave(const Ticket& ticket);

  // Called before work on a flight starts. False when the flight has ended, so
  // the work is not to be done.
  bool Begin(absl::string_view key, uint64_t flight);

  // Whether nobody in the flight needs the answer now; true for an ended one.
  bool Speculative(absl::string_view key, uint64_t flight) const;

  // Ends the flight and tells everybody. Does nothing for one that has ended.
  void Finish(absl::string_view key, uint64_t flight,
              const BuildOutcome& outcome);

  // Ends every flight with `outcome`.
  void FinishAll(const BuildOutcome& outcome);

  size_t size() const;

 private:
  struct Waiter {
    Done done;
    bool owner = false;
  };
  struct Flight {
    uint64_t id = 0;
    bool speculative = true;
    bool begun = false;
    std::map<uint64_t, Waiter> waiters;
  };

  mutable std::mutex mutex_;
  uint64_t next_id_ = 1;
  absl::flat_hash_map<std::string, Flight> flights_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_FLIGHTS_H_
