// One connection of a soak: asks, and holds every answer against what it must
// be.
#ifndef INGOT_BENCH_SOAK_CALLER_H_
#define INGOT_BENCH_SOAK_CALLER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/soak/objects.h"
#include "bench/soak/requests.h"
#include "client/src/channel.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::bench {

// What calls came to.
struct Tally {
  std::array<int64_t, 17> codes = {};  // of gRPC
  int64_t wrong = 0;       // answers that are not what was asked for
  int64_t stuck = 0;       // calls that no answer came to in their time
  int64_t unexpected = 0;  // codes that the fault at hand does not explain
  std::vector<std::string> examples;  // of the three above, a few
  std::array<std::vector<float>, kKinds> milliseconds;  // of right ends

  void Add(const Tally& other);
  // What should not have been, alone.
  void AddFaults(const Tally& other);
};

// Not thread-safe: a thread each.
class Caller {
 public:
  // Pauses `think_ms` on average between calls. All must outlive it.
  Caller(const std::string& address, Requests& requests, Objects& objects,
         uint64_t seed, int think_ms);

  void Run(const std::atomic<bool>& stop);
  // One call; its code.
  int Make(const Ask& ask);

  const Tally& tally() const { return tally_; }
  // Calls that libingot made again.
  uint64_t retries() const { return channel_.stats().retries.load(); }

 private:
  void Receive(const Ask& ask, const uint8_t* data, size_t size);
  void CheckKernels(int problem, const v1::GetKernelResponse& response);
  void CheckBatch(const Ask& ask, const v1::GetKernelsResponse& response);
  void CheckEnd(const Ask& ask);
  void CheckCode(const Ask& ask, int code, const std::string& message);
  void Note(int64_t Tally::* count, const std::string& what);

  Requests& requests_;
  Objects& objects_;
  client::Channel channel_;
  std::mt19937_64 random_;
  const int think_ms_;
  Tally tally_;
  // Of the call under way.
  bool disk_was_full_ = false;
  std::vector<bool> answered_;
  std::string object_;
  std::vector<std::string> stored_;
};

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_CALLER_H_
