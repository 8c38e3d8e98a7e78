// Admin: what must not be handed out.
#include "compiler/ops/op.h"
#include "server/admin.h"
#include "server/record_scan.h"

namespace ingot::server {
namespace {

constexpr size_t kMaxReason = 1024;

// Of a DisableRequest or EnableRequest, whose names are checked.
template <typename Request>
absl::StatusOr<Disabled::Items> ItemsOf(const Request& request) {
  Disabled::Items items;
  for (const std::string& op : request.ops()) {
    if (FindOp(op) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("ops: found ", op, ", which this build does not have"));
    }
    items.emplace_back().set_op(op);
  }
  for (const std::string& key : request.keys()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("keys", key));
    items.emplace_back().set_key(key);
  }
  return items;
}

}  // namespace

absl::StatusOr<v1::DisableResponse> Admin::Disable(
    const v1::DisableRequest& request, const AdminCall& call) {
  INGOT_ASSIGN_OR_RETURN(Disabled::Items items, ItemsOf(request));
  if (items.empty()) {
    return absl::InvalidArgumentError(
        "disable: found neither ops nor keys, allowed one or more");
  }
  if (request.reason().empty() || request.reason().size() > kMaxReason) {
    return absl::InvalidArgumentError(
        absl::StrCat("reason: found ", request.reason().size(),
                     " bytes, allowed 1 to ", kMaxReason));
  }
  v1::DisableResponse response;
  for (v1::DisabledItem& item : items) {
    item.set_reason(request.reason());
    item.set_who(call.caller->name);
    item.set_since_unix_ms(UnixMillis());
    *response.add_disabled() = item;
  }
  const absl::Status written = parts_.disabled.Add(items);
  if (!written.ok()) response.set_not_durable(std::string(written.message()));
  parts_.lookup.ForgetReplies();
  return response;
}

absl::StatusOr<v1::EnableResponse> Admin::Enable(
    const v1::EnableRequest& request) {
  INGOT_ASSIGN_OR_RETURN(const Disabled::Items items, ItemsOf(request));
  if (request.all() != items.empty()) {
    return absl::InvalidArgumentError(
        "enable: found neither or both of names and all, allowed one");
  }
  INGOT_ASSIGN_OR_RETURN(const Disabled::Items enabled,
                         parts_.disabled.Remove(items, request.all()));
  v1::EnableResponse response;
  for (const v1::DisabledItem& item : enabled) *response.add_enabled() = item;
  return response;
}

absl::StatusOr<v1::ListDisabledResponse> Admin::ListDisabled(
    const v1::ListDisabledRequest&) {
  v1::ListDisabledResponse response;
  for (const v1::DisabledItem& item : parts_.disabled.List()) {
    *response.add_disabled() = item;
  }
  return response;
}

}  // namespace ingot::server
