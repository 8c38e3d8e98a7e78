#include "server/object_rpc.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "ingot/v1/kernels.pb.h"
#include "server/kernels_rpc.h"
#include "server/rpc_bytes.h"
#include "server/rpc_status.h"
#include "server/wire_fields.h"

namespace ingot::server {
namespace {

class ReadReactor : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ReadReactor(Lookup& lookup, const grpc::ByteBuffer& request) {
    const absl::Status opened = Open(lookup, MessageBytes(request).view());
    if (opened.ok()) {
      WriteNext();
    } else {
      Finish(ToRpc(opened));
    }
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller is gone"));
    } else if (offset_ < object_->size()) {
      WriteNext();
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnDone() override { delete this; }

 private:
  absl::Status Open(Lookup& lookup, absl::string_view message) {
    v1::ReadObjectRequest request;
    if (!request.ParseFromArray(message.data(),
                                static_cast<int>(message.size()))) {
      return absl::InvalidArgumentError(
          "ReadObjectRequest: the message is malformed");
    }
    if (request.digest().size() != 32) {
      return absl::InvalidArgumentError(absl::StrCat(
          "digest: found ", request.digest().size(), " bytes, allowed 32"));
    }
    INGOT_ASSIGN_OR_RETURN(object_, lookup.Object(request.digest()));
    offset_ = request.offset();
    if (offset_ > object_->size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "offset: found ", offset_, ", allowed 0 to ", object_->size()));
    }
    return absl::OkStatus();
  }

  void WriteNext() {
    const size_t size =
        std::min<size_t>(kChunkBytes, object_->size() - offset_);
    std::string header;
    AppendField(&header, v1::ObjectChunk::kOffsetFieldNumber, offset_);
    AppendField(&header, v1::ObjectChunk::kTotalFieldNumber,
                uint64_t{object_->size()});
    AppendHeader(&header, v1::ObjectChunk::kDataFieldNumber, size);
    const grpc::Slice slices[] = {
        grpc::Slice(header), SliceOf(object_, object_->data() + offset_, size)};
    chunk_ = grpc::ByteBuffer(slices, 2);
    offset_ += size;
    StartWrite(&chunk_);
  }

  cache::Bytes object_;
  uint64_t offset_ = 0;
  grpc::ByteBuffer chunk_;  // must live until OnWriteDone
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartRead(
    Lookup& lookup, const grpc::ByteBuffer& request) {
  return new ReadReactor(lookup, request);
}

}  // namespace ingot::server
