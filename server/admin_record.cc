// Admin: what live traffic asked for.
#include "server/admin.h"

namespace ingot::server {

absl::StatusOr<v1::ListRecordedResponse> Admin::ListRecorded(
    const v1::ListRecordedRequest& request) {
  return parts_.recorder.List(request);
}

absl::StatusOr<v1::ResetRecordedResponse> Admin::ResetRecorded(
    const v1::ResetRecordedRequest&) {
  v1::ResetRecordedResponse response;
  response.set_forgotten(parts_.recorder.Forget());
  // Kept replies hold lines that are forgotten.
  parts_.lookup.ForgetReplies();
  return response;
}

}  // namespace ingot::server
