#include "server/admin_rpc.h"

namespace ingot::server {

AdminRpc::Reactor* AdminRpc::Stats(Context* context, const Buffer* request,
                                   Buffer* response) {
  return Run<Role::kGet, When::kNow, v1::StatsRequest>(
      *context, *request, response,
      [this](const v1::StatsRequest& parsed) { return admin_.Stats(parsed); });
}

AdminRpc::Reactor* AdminRpc::List(Context* context, const Buffer* request,
                                  Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::ListRequest>(
      *context, *request, response,
      [this](const v1::ListRequest& parsed) { return admin_.List(parsed); });
}

AdminRpc::Reactor* AdminRpc::Describe(Context* context, const Buffer* request,
                                      Buffer* response) {
  return Run<Role::kGet, When::kNow, v1::DescribeRequest>(
      *context, *request, response, [this](const v1::DescribeRequest& parsed) {
        return admin_.Describe(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::Inspect(Context* context, const Buffer* request,
                                     Buffer* response) {
  return Run<Role::kGet, When::kOnThread, v1::InspectRequest>(
      *context, *request, response, [this](const v1::InspectRequest& parsed) {
        return admin_.Inspect(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::Delete(Context* context, const Buffer* request,
                                    Buffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::DeleteRequest>(
      *context, *request, response, [this](const v1::DeleteRequest& parsed) {
        return admin_.Delete(parsed);
      });
}

AdminRpc::Reactor* AdminRpc::Verify(Context* context, const Buffer* request,
                                    Buffer* response) {
  return Run<Role::kAdmin, When::kOnSlowThread, v1::VerifyRequest>(
      *context, *request, response,
      [this](const v1::VerifyRequest& parsed, const AdminCall& call) {
        return admin_.Verify(parsed, call);
      });
}

AdminRpc::Reactor* AdminRpc::Pin(Context* context, const Buffer* request,
                                 Buffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::PinRequest>(
      *context, *request, response,
      [this](const v1::PinRequest& parsed) { return admin_.Pin(parsed); });
}

AdminRpc::Reactor* AdminRpc::Collect(Context* context, const Buffer* request,
                                     Buffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::CollectRequest>(
      *context, *request, response, [this](const v1::CollectRequest& parsed) {
        return admin_.Collect(parsed);
      });
}

}  // namespace ingot::server
