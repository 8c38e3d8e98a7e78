#include "server/rpc_status.h"

#include "gtest/gtest.h"
#include "server/retry_info.h"
#include "server/wire_fields.h"

namespace ingot::server {
namespace {

TEST(RpcStatus, KeepsCodeAndMessage) {
  EXPECT_TRUE(ToRpc(absl::OkStatus()).ok());
  const grpc::Status status =
      ToRpc(absl::FailedPreconditionError("does not fit"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "does not fit");
  EXPECT_TRUE(status.error_details().empty());
}

TEST(RpcStatus, SomeCodesStayInside) {
  EXPECT_EQ(ToRpc(absl::UnknownError("")).error_code(),
            grpc::StatusCode::INTERNAL);
  EXPECT_EQ(ToRpc(absl::DataLossError("")).error_code(),
            grpc::StatusCode::INTERNAL);
}

TEST(RpcStatus, LongMessagesAreCut) {
  EXPECT_EQ(ToRpc(absl::InternalError(std::string(100000, 'x')))
                .error_message()
                .size(),
            2048u);
}

TEST(RpcStatus, RetryInfoIsADetail) {
  const grpc::Status status = ToRpc(WithRetryInfo(
      absl::ResourceExhaustedError("full"), std::chrono::milliseconds(2500)));
  const std::string& details = status.error_details();
  WireReader reader(details);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.number(), 8u);
  const absl::string_view any = FindBytes(details, 3);
  EXPECT_EQ(FindBytes(any, 1), "type.googleapis.com/google.rpc.RetryInfo");
  const absl::string_view duration = FindBytes(FindBytes(any, 2), 1);
  WireReader parts(duration);
  ASSERT_TRUE(parts.Next());
  EXPECT_EQ(parts.number(), 2u);
  ASSERT_TRUE(parts.Next());
  EXPECT_EQ(parts.number(), 500000000u);
}

}  // namespace
}  // namespace ingot::server
