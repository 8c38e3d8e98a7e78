// grpc::ByteBuffer to contiguous bytes and back, copying only where it must.
#ifndef INGOT_SERVER_RPC_BYTES_H_
#define INGOT_SERVER_RPC_BYTES_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "cache/bytes.h"
#include "server/message.h"

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

inline grpc::ByteBuffer BufferOf(const Message& message) {
  // Below this, sharing costs more than it saves.
  constexpr size_t kCopied = 64;
  absl::InlinedVector<grpc::Slice, 3> slices;
  for (const cache::Bytes& piece : message.pieces()) {
    if (piece->size() < kCopied) {
      slices.emplace_back(piece->data(), piece->size());
    } else {
      slices.push_back(SliceOf(piece));
    }
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

inline grpc::ByteBuffer BufferOf(std::string bytes) {
  return BufferOf(Message(std::move(bytes)));
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_RPC_BYTES_H_
