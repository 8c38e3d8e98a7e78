// The daemon's methods, typed: protobuf-c messages over a Channel. Thread-safe.
#ifndef INGOT_CLIENT_SRC_RPC_H_
#define INGOT_CLIENT_SRC_RPC_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/src/admin_messages.h"
#include "client/src/channel.h"
#include "client/src/status.h"
#include "ingot/v1/kernels.pb-c.h"

namespace ingot::client {

// Frees a message that was unpacked.
struct MessageDeleter {
  template <typename T>
  void operator()(T* message) const {
    protobuf_c_message_free_unpacked(
        reinterpret_cast<ProtobufCMessage*>(message), nullptr);
  }
};
template <typename T>
using Message = std::unique_ptr<T, MessageDeleter>;

// `on_bytes` is shown the answer as it came, before it is parsed.
Status GetKernel(Channel* channel, const Ingot__V1__GetKernelRequest& request,
                 Deadline deadline,
                 const std::function<void(std::string_view bytes)>& on_bytes,
                 Message<Ingot__V1__GetKernelResponse>* response);

// `on_results` is given each message of the stream, and the same as it came;
// what it returns, when not OK, ends the call. A stream that breaks after its
// first message is not repeated.
Status GetKernels(
    Channel* channel, const Ingot__V1__GetKernelsRequest& request,
    Deadline deadline,
    const std::function<Status(const Ingot__V1__GetKernelsResponse& results,
                               std::string_view bytes)>& on_results);

// The whole object, put together from chunks; a broken stream is taken up where
// it broke. `size` is what it must have. DATA_LOSS when chunks do not join.
Status ReadObject(Channel* channel, const std::string& digest, uint64_t size,
                  Deadline deadline, std::string* bytes);

Status GetCapabilities(Channel* channel, Deadline deadline,
                       Message<Ingot__V1__GetCapabilitiesResponse>* response);

Status Stats(Channel* channel, Deadline deadline,
             Message<Ingot__V1__StatsResponse>* response);

Status ListCandidates(Channel* channel,
                      const Ingot__V1__CandidatesRequest& request,
                      Deadline deadline,
                      Message<Ingot__V1__CandidatesResponse>* response);

Status Tune(Channel* channel, const Ingot__V1__TuneRequest& request,
            Deadline deadline, Message<Ingot__V1__TuneResponse>* response);

Status DeleteTuning(Channel* channel,
                    const Ingot__V1__DeleteTuningRequest& request,
                    Deadline deadline,
                    Message<Ingot__V1__DeleteTuningResponse>* response);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_RPC_H_
