// The service ingot.v1.Admin: what must not be handed out.
#include "server/admin_rpc.h"

namespace ingot::server {

AdminRpc::Reactor* AdminRpc::Disable(Context* context, const Buffer* request,
                                     Buffer* response) {
  return Run<Role::kAdmin, When::kNow, v1::DisableRequest>(
      *context, *request, response,
      [this](const v1::DisableRequest& parsed, const AdminCall& call) {
        return admin_.Disable(parsed, call);
      });
}

AdminRpc::Reactor* AdminRpc::Enable(Context* context, const Buffer* request,
                                    Buffer* response) {
  return Run<Role::kAdmin, When::kNow, v1::EnableRequest>(
      *context, *request, response, [this](const v1::EnableRequest& parsed) {
        return admin_.Enable(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::ListDisabled(Context* context,
                                          const Buffer* request,
                                          Buffer* response) {
  return Run<Role::kGet, When::kNow, v1::ListDisabledRequest>(
      *context, *request, response,
      [this](const v1::ListDisabledRequest& parsed) {
        return admin_.ListDisabled(parsed);
      });
}

}  // namespace ingot::server
