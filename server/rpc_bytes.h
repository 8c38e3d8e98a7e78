// grpc::ByteBuffer to contiguous bytes and back, copying only where it must.
#ifndef INGOT_SERVER_RPC_BYTES_H_
#define INGOT_SERVER_RPC_BYTES_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <string>

#include "absl/strings/string_view.h"
#include "cache/store.h"

namespace ingot::server {

// The bytes of a received message. Keeps what it points into.
class MessageBytes {
 public:
  explicit MessageBytes(const grpc::ByteBuffer& buffer) {
    // A message that came in one piece is looked at where it lies.
    if (!buffer.TrySingleSlice(&slice_).ok()) buffer.DumpToSingleSlice(&slice_);
  }
  absl::string_view view() const {
    return absl::string_view(reinterpret_cast<const char*>(slice_.begin()),
                             slice_.size());
  }

 private:
  grpc::Slice slice_;
};

// A slice of `size` bytes at `data`, inside what `owner` holds.
inline grpc::Slice SliceOf(cache::Bytes owner, const char* data, size_t size) {
  return grpc::Slice(
      const_cast<char*>(data), size,
      [](void* held) { delete static_cast<cache::Bytes*>(held); },
      new cache::Bytes(std::move(owner)));
}

inline grpc::Slice SliceOf(const cache::Bytes& bytes) {
  return SliceOf(bytes, bytes->data(), bytes->size());
}

inline grpc::ByteBuffer BufferOf(const cache::Bytes& bytes) {
  const grpc::Slice slice = SliceOf(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

inline grpc::ByteBuffer BufferOf(std::string bytes) {
  return BufferOf(
      cache::Bytes(std::make_shared<const std::string>(std::move(bytes))));
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_RPC_BYTES_H_
