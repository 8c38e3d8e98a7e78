#include "client/src/rpc.h"

#include <vector>

namespace ingot::client {
namespace {

template <typename T>
std::vector<uint8_t> Pack(const T& message) {
  const auto* base = reinterpret_cast<const ProtobufCMessage*>(&message);
  std::vector<uint8_t> bytes(protobuf_c_message_get_packed_size(base));
  protobuf_c_message_pack(base, bytes.data());
  return bytes;
}

template <typename T>
Status Unpack(const ProtobufCMessageDescriptor& descriptor, const uint8_t* data,
              size_t size, Message<T>* message) {
  message->reset(reinterpret_cast<T*>(
      protobuf_c_message_unpack(&descriptor, nullptr, size, data)));
  if (*message != nullptr) return Status();
  return Error(INGOT_INTERNAL, "the daemon's %s cannot be read",
               descriptor.name);
}

std::string_view View(const uint8_t* data, size_t size) {
  return std::string_view(reinterpret_cast<const char*>(data), size);
}

// A call whose answer is exactly one message.
template <typename Response>
Status Unary(Channel* channel, const char* method,
             const std::vector<uint8_t>& request, Deadline deadline,
             const ProtobufCMessageDescriptor& descriptor,
             Message<Response>* response,
             const std::function<void(std::string_view)>& on_bytes = nullptr) {
  Call call;
  call.method = method;
  call.request = request.data();
  call.request_size = request.size();
  call.deadline = deadline;
  call.on_message = [&](const uint8_t* data, size_t size) {
    if (*response != nullptr) {
      return Error(INGOT_INTERNAL, "%s was answered twice", method);
    }
    if (on_bytes) on_bytes(View(data, size));
    return Unpack(descriptor, data, size, response);
  };
  INGOT_CLIENT_RETURN_IF_ERROR(channel->Invoke(call));
  if (*response != nullptr) return Status();
  return Error(INGOT_INTERNAL, "%s was answered without a message", method);
}

}  // namespace

Status GetKernel(Channel* channel, const Ingot__V1__GetKernelRequest& request,
                 Deadline deadline,
                 const std::function<void(std::string_view)>& on_bytes,
                 Message<Ingot__V1__GetKernelResponse>* response) {
  return Unary(channel, "/ingot.v1.Kernels/GetKernel", Pack(request), deadline,
               ingot__v1__get_kernel_response__descriptor, response, on_bytes);
}

Status GetKernels(
    Channel* channel, const Ingot__V1__GetKernelsRequest& request,
    Deadline deadline,
    const std::function<Status(const Ingot__V1__GetKernelsResponse&,
                               std::string_view)>& on_results) {
  const std::vector<uint8_t> bytes = Pack(request);
  Call call;
  call.method = "/ingot.v1.Kernels/GetKernels";
  call.request = bytes.data();
  call.request_size = bytes.size();
  call.deadline = deadline;
  call.on_message = [&](const uint8_t* data, size_t size) {
    Message<Ingot__V1__GetKernelsResponse> results;
    INGOT_CLIENT_RETURN_IF_ERROR(Unpack(
        ingot__v1__get_kernels_response__descriptor, data, size, &results));
    return on_results(*results, View(data, size));
  };
  return channel->Invoke(call);
}

Status ReadObject(Channel* channel, const std::string& digest, uint64_t size,
                  Deadline deadline, std::string* bytes) {
  bytes->clear();
  const auto take = [&](const uint8_t* data, size_t length) {
    Message<Ingot__V1__ObjectChunk> chunk;
    INGOT_CLIENT_RETURN_IF_ERROR(
        Unpack(ingot__v1__object_chunk__descriptor, data, length, &chunk));
    if (chunk->offset != bytes->size() || chunk->total != size ||
        chunk->data.len > size - bytes->size()) {
      return Error(INGOT_DATA_LOSS, "object %s: chunks do not join",
                   Hex(digest).c_str());
    }
    bytes->append(reinterpret_cast<const char*>(chunk->data.data),
                  chunk->data.len);
    return Status();
  };
  Ingot__V1__ReadObjectRequest request;
  ingot__v1__read_object_request__init(&request);
  request.digest.data =
      reinterpret_cast<uint8_t*>(const_cast<char*>(digest.data()));
  request.digest.len = digest.size();
  while (bytes->size() < size) {
    const size_t before = bytes->size();
    request.offset = before;
    const std::vector<uint8_t> packed = Pack(request);
    Call call;
    call.method = "/ingot.v1.Kernels/ReadObject";
    call.request = packed.data();
    call.request_size = packed.size();
    call.deadline = deadline;
    call.on_message = take;
    const Status status = channel->Invoke(call);
    const bool progress = bytes->size() > before;
    if (status.ok() && !progress) {
      return Error(INGOT_DATA_LOSS, "object %s: found %zu bytes, expected %llu",
                   Hex(digest).c_str(), bytes->size(),
                   static_cast<unsigned long long>(size));
    }
    if (!status.ok() && !(status.code == INGOT_UNAVAILABLE && progress)) {
      return status;
    }
  }
  return Status();
}

Status GetCapabilities(Channel* channel, Deadline deadline,
                       Message<Ingot__V1__GetCapabilitiesResponse>* response) {
  Ingot__V1__GetCapabilitiesRequest request;
  ingot__v1__get_capabilities_request__init(&request);
  return Unary(channel, "/ingot.v1.Kernels/GetCapabilities", Pack(request),
               deadline, ingot__v1__get_capabilities_response__descriptor,
               response);
}

Status Stats(Channel* channel, Deadline deadline,
             Message<Ingot__V1__StatsResponse>* response) {
  Ingot__V1__StatsRequest request;
  ingot__v1__stats_request__init(&request);
  return Unary(channel, "/ingot.v1.Admin/Stats", Pack(request), deadline,
               ingot__v1__stats_response__descriptor, response);
}

Status ListCandidates(Channel* channel,
                      const Ingot__V1__CandidatesRequest& request,
                      Deadline deadline,
                      Message<Ingot__V1__CandidatesResponse>* response) {
  return Unary(channel, "/ingot.v1.Admin/ListCandidates", Pack(request),
               deadline, ingot__v1__candidates_response__descriptor, response);
}

Status Tune(Channel* channel, const Ingot__V1__TuneRequest& request,
            Deadline deadline, Message<Ingot__V1__TuneResponse>* response) {
  return Unary(channel, "/ingot.v1.Admin/Tune", Pack(request), deadline,
               ingot__v1__tune_response__descriptor, response);
}

Status DeleteTuning(Channel* channel,
                    const Ingot__V1__DeleteTuningRequest& request,
                    Deadline deadline,
                    Message<Ingot__V1__DeleteTuningResponse>* response) {
  return Unary(channel, "/ingot.v1.Admin/DeleteTuning", Pack(request), deadline,
               ingot__v1__delete_tuning_response__descriptor, response);
}

}  // namespace ingot::client
