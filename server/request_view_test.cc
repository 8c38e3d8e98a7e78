#include "server/request_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::GetKernelRequest Full() {
  v1::GetKernelRequest request;
  request.set_api_version(1);
  request.mutable_spec()->set_op("gemm");
  request.set_fetch(v1::FETCH_LISTED);
  request.add_variants(3);
  request.add_variants(300);
  request.add_held_digests(std::string(32, 'h'));
  request.set_priority(v1::PRIORITY_WARMUP);
  request.set_pin_epoch(7);
  request.set_omit_bytes(true);
  request.set_request_id("id-1");
  return request;
}

TEST(RequestView, SeesEveryField) {
  const v1::GetKernelRequest request = Full();
  const std::string bytes = request.SerializeAsString();
  const absl::StatusOr<RequestView> view = ViewRequest(bytes);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->api_version, 1u);
  EXPECT_EQ(view->spec, request.spec().SerializeAsString());
  EXPECT_EQ(view->fetch, v1::FETCH_LISTED);
  EXPECT_THAT(view->variants, ElementsAre(3, 300));
  EXPECT_THAT(view->held_digests, ElementsAre(std::string(32, 'h')));
  EXPECT_EQ(view->priority, v1::PRIORITY_WARMUP);
  EXPECT_EQ(view->pin_epoch, 7u);
  EXPECT_TRUE(view->omit_bytes);
  EXPECT_EQ(view->request_id, "id-1");
}

TEST(RequestView, VariantsOneByOne) {
  const absl::StatusOr<RequestView> view =
      ViewRequest(absl::string_view("\x08\x01\x20\x05\x20\x06", 6));
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_THAT(view->variants, ElementsAre(5, 6));
}

TEST(RequestView, ALaterClientsFieldIsIgnored) {
  std::string bytes = Full().SerializeAsString();
  bytes += "\x7a\x01x";     // field 15, bytes
  bytes += "\xf8\x01\x01";  // field 31, a number
  EXPECT_TRUE(ViewRequest(bytes).ok());
}

TEST(RequestView, AWrongTypeIsMalformed) {
  for (const absl::string_view bytes :
       {absl::string_view("\x08\x01\x10\x01", 4),       // spec as a number
        absl::string_view("\x0a\x01x", 3),              // version as bytes
        absl::string_view("\x0d\x01\0\0\0", 5),         // version, 32 bits
        absl::string_view("\x08\x01\x21vvvvvvvv", 11),  // variant, 64 bits
        absl::string_view("\x08\x01\x22\x01\x80", 5),   // half a packed number
        absl::string_view("\x08", 1)}) {
    const absl::Status status = ViewRequest(bytes).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("malformed"));
  }
}

TEST(RequestView, RequestIdsDoNotTellRequestsApart) {
  v1::GetKernelRequest one = Full();
  v1::GetKernelRequest other = Full();
  other.set_request_id("id-2");
  v1::GetKernelRequest none = Full();
  none.clear_request_id();
  std::string a, b, c;
  const std::string one_bytes = one.SerializeAsString();
  const std::string other_bytes = other.SerializeAsString();
  const std::string none_bytes = none.SerializeAsString();
  EXPECT_EQ(WithoutRequestId(one_bytes, &a), none_bytes);
  EXPECT_EQ(WithoutRequestId(other_bytes, &b), none_bytes);
  EXPECT_EQ(WithoutRequestId(none_bytes, &c), none_bytes);
  EXPECT_TRUE(c.empty());
}

TEST(RequestView, SplitsABatch) {
  v1::GetKernelsRequest batch;
  *batch.add_requests() = Full();
  batch.add_requests();
  const std::string bytes = batch.SerializeAsString();
  const auto requests = ViewBatch(bytes);
  ASSERT_TRUE(requests.ok());
  EXPECT_THAT(*requests, ElementsAre(Full().SerializeAsString(), ""));
  EXPECT_TRUE(absl::IsInvalidArgument(ViewBatch("\x08\x01").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ViewBatch("\x0a\x05").status()));
}

}  // namespace
}  // namespace ingot::server
