// Kernels that a daemon holds, and the calls that ask for them.
#ifndef INGOT_BENCH_SERVICE_WARM_SET_H_
#define INGOT_BENCH_SERVICE_WARM_SET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/service/load.h"
#include "ingot/v1/kernels.grpc.pb.h"

namespace ingot::bench {

// A request for the kernel of RmsnormSpec(n).
v1::GetKernelRequest RmsnormRequest(int64_t n, bool omit_bytes);

// One GetKernel; ends the bench when it fails.
v1::GetKernelResponse GetKernel(const std::string& socket,
                                const v1::GetKernelRequest& request);

// Calls of `requests` in turn over `channel`. Each reply must come from
// `source` and carry `object_bytes` bytes of code object.
std::unique_ptr<Subject> HitSubject(
    const std::shared_ptr<grpc::Channel>& channel,
    std::vector<v1::GetKernelRequest> requests, v1::Source source,
    size_t object_bytes);

// The empty call.
std::unique_ptr<Subject> EchoSubject(
    const std::shared_ptr<grpc::Channel>& channel);

// In the store under `folder`, whose daemon is not running: makes the objects
// of `kernels` (with their bytes) `bytes` long, by adding bytes behind the ELF
// that no loader reads, with records to match, signed with the keys of the file
// `signing_key`.
void ResizeObjects(const std::string& folder, const std::string& signing_key,
                   const std::vector<v1::Kernel>& kernels, size_t bytes);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SERVICE_WARM_SET_H_
