// Admin: what leaves this store, and what comes from others.
#include <memory>
#include <utility>

#include "server/admin.h"

namespace ingot::server {

absl::StatusOr<std::unique_ptr<Exporter>> Admin::Export(
    const v1::ExportRequest& request) {
  return Exporter::Make(
      {parts_.store.tiers(), parts_.lookup.plans(), exports_,
       [this](absl::string_view key, absl::string_view record) {
         return parts_.trust.CheckRecord(key, record);
       },
       [this](absl::string_view op, absl::string_view key) {
         return parts_.disabled.Check(op, key);
       }},
      request);
}

absl::StatusOr<v1::ImportResponse> Admin::Import(
    const v1::ImportRequest& request) {
  absl::StatusOr<v1::ImportResponse> response = importer_.Import(request);
  // A daemon that signs nothing may have handed these plans out unsigned.
  if (!request.plans().empty() && !request.dry_run()) {
    parts_.lookup.plans().Forget();
    parts_.lookup.ForgetReplies();
  }
  return response;
}

ImportParts Admin::ForImports() {
  return {parts_.store.tiers(), parts_.counters,
          [this](absl::string_view key, absl::string_view record) {
            return parts_.trust.CheckRecord(key, record);
          },
          [this](absl::string_view plan_key, absl::string_view plan) {
            return parts_.trust.CheckPlan(plan_key, plan);
          },
          [this](absl::string_view key) { parts_.builder.Forgive(key); }};
}

}  // namespace ingot::server
