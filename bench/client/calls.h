// libingot as the bench calls it: an rmsnorm, a client, and no patience with
// errors.
#ifndef INGOT_BENCH_CLIENT_CALLS_H_
#define INGOT_BENCH_CLIENT_CALLS_H_

#include <cstdint>
#include <string>

#include "ingot/client.h"

namespace ingot::bench {

// Ends the bench when a call failed.
void Expect(ingot_status status, const char* call);

// The spec of bench/problems.h as a C caller writes it.
class RmsnormSpecC {
 public:
  explicit RmsnormSpecC(int64_t n);
  RmsnormSpecC(const RmsnormSpecC&) = delete;
  RmsnormSpecC& operator=(const RmsnormSpecC&) = delete;

  const ingot_spec* get() const { return &spec_; }

 private:
  ingot_dim dims_[2] = {};
  ingot_operand operands_[3] = {};
  ingot_spec spec_ = {};
};

// `hip_library` as in ingot_client_options.
Client Connect(const std::string& socket, const char* hip_library = nullptr);

// With `flags` of ingot_prepare_options.
ingot_prepared* Prepare(Client& client, const RmsnormSpecC& spec,
                        uint32_t flags);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_CLIENT_CALLS_H_
