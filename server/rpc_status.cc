#include "server/rpc_status.h"

#include <string>

#include "server/wire_fields.h"

namespace ingot::server {
namespace {

#define INGOT_SAME_CODE(absl_code, rpc_code)                     \
  static_assert(static_cast<int>(absl::StatusCode::absl_code) == \
                static_cast<int>(grpc::StatusCode::rpc_code))
INGOT_SAME_CODE(kOk, OK);
INGOT_SAME_CODE(kCancelled, CANCELLED);
INGOT_SAME_CODE(kUnknown, UNKNOWN);
INGOT_SAME_CODE(kInvalidArgument, INVALID_ARGUMENT);
INGOT_SAME_CODE(kDeadlineExceeded, DEADLINE_EXCEEDED);
INGOT_SAME_CODE(kNotFound, NOT_FOUND);
INGOT_SAME_CODE(kAlreadyExists, ALREADY_EXISTS);
INGOT_SAME_CODE(kPermissionDenied, PERMISSION_DENIED);
INGOT_SAME_CODE(kResourceExhausted, RESOURCE_EXHAUSTED);
INGOT_SAME_CODE(kFailedPrecondition, FAILED_PRECONDITION);
INGOT_SAME_CODE(kAborted, ABORTED);
INGOT_SAME_CODE(kOutOfRange, OUT_OF_RANGE);
INGOT_SAME_CODE(kUnimplemented, UNIMPLEMENTED);
INGOT_SAME_CODE(kInternal, INTERNAL);
INGOT_SAME_CODE(kUnavailable, UNAVAILABLE);
INGOT_SAME_CODE(kDataLoss, DATA_LOSS);
INGOT_SAME_CODE(kUnauthenticated, UNAUTHENTICATED);
#undef INGOT_SAME_CODE

// A message travels in a header: gRPC escapes it there, and headers are limited
// to 8 KiB.
constexpr size_t kMaxMessage = 2048;

// google.rpc.Status { int32 code = 1; string message = 2; repeated Any = 3 },
// Any { string type_url = 1; bytes value = 2 }.
std::string Details(const absl::Status& status, const std::string& message) {
  std::string details;
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    std::string any;
    AppendField(&any, 1, url);
    AppendField(&any, 2, std::string(payload));
    if (details.empty()) {
      AppendField(&details, 1, static_cast<uint64_t>(status.code()));
      AppendField(&details, 2, message);
    }
    AppendField(&details, 3, any);
  });
  return details;
}

}  // namespace

grpc::Status ToRpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  auto code = static_cast<grpc::StatusCode>(status.code());
  if (code == grpc::StatusCode::UNKNOWN ||
      code == grpc::StatusCode::DATA_LOSS) {
    code = grpc::StatusCode::INTERNAL;
  }
  const std::string message(status.message().substr(0, kMaxMessage));
  return grpc::Status(code, message, Details(status, message));
}

}  // namespace ingot::server
