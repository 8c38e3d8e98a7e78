// The service ingot.v1.Admin: what live traffic asked for.
#include "server/admin_rpc.h"

namespace ingot::server {

AdminRpc::Reactor* AdminRpc::ListRecorded(Context* context,
                                          const Buffer* request,
                                          Buffer* response) {
  return Run<Role::kCompile, When::kOnThread, v1::ListRecordedRequest>(
      *context, *request, response,
      [this](const v1::ListRecordedRequest& parsed) {
        return admin_.ListRecorded(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::ResetRecorded(Context* context,
                                           const Buffer* request,
                                           Buffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::ResetRecordedRequest>(
      *context, *request, response,
      [this](const v1::ResetRecordedRequest& parsed) {
        return admin_.ResetRecorded(parsed);
      });
}

}  // namespace ingot::server
