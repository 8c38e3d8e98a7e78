// The service ingot.v1.Admin: why answers are as they are, what failed, what
// was asked for.
#include "server/admin_rpc.h"

namespace ingot::server {

AdminRpc::Reactor* AdminRpc::Explain(Context* context, const Buffer* request,
                                     Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::ExplainRequest>(
      *context, *request, response, [this](const v1::ExplainRequest& parsed) {
        return admin_.Explain(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::ListCandidates(Context* context,
                                            const Buffer* request,
                                            Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::CandidatesRequest>(
      *context, *request, response,
      [this](const v1::CandidatesRequest& parsed) {
        return admin_.ListCandidates(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::ListRepros(Context* context, const Buffer* request,
                                        Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::ListReprosRequest>(
      *context, *request, response,
      [this](const v1::ListReprosRequest& parsed) {
        return admin_.ListRepros(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::GetRepro(Context* context, const Buffer* request,
                                      Buffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::GetReproRequest>(
      *context, *request, response, [this](const v1::GetReproRequest& parsed) {
        return admin_.GetRepro(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::ListSpecs(Context* context, const Buffer* request,
                                       Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::ListSpecsRequest>(
      *context, *request, response, [this](const v1::ListSpecsRequest& parsed) {
        return admin_.ListSpecs(parsed);
      });
}

}  // namespace ingot::server
