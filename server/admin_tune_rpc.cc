// The service ingot.v1.Admin: what autotuners measured.
#include "server/admin_rpc.h"

namespace ingot::server {

AdminRpc::Reactor* AdminRpc::Tune(Context* context, const Buffer* request,
                                  Buffer* response) {
  return Run<Role::kTune, When::kOnThread, v1::TuneRequest>(
      *context, *request, response,
      [this](const v1::TuneRequest& parsed, const AdminCall& call) {
        return admin_.Tune(parsed, call);
      });
}

AdminRpc::Reactor* AdminRpc::ListTuning(Context* context, const Buffer* request,
                                        Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::ListTuningRequest>(
      *context, *request, response,
      [this](const v1::ListTuningRequest& parsed) {
        return admin_.ListTuning(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::DeleteTuning(Context* context,
                                          const Buffer* request,
                                          Buffer* response) {
  return Run<Role::kTune, When::kOnThread, v1::DeleteTuningRequest>(
      *context, *request, response,
      [this](const v1::DeleteTuningRequest& parsed) {
        return admin_.DeleteTuning(parsed);
      });
}

}  // namespace ingot::server
