// Admin: builds that failed, and what it takes to see them again.
#include "compiler/kernel_spec.h"
#include "server/admin.h"

namespace ingot::server {
namespace {

void FillRepro(absl::string_view id, const Bundle& bundle, v1::Repro* repro) {
  repro->set_id(std::string(id));
  repro->set_key(KernelKey(bundle.key_encoding));
  const absl::StatusOr<KernelSpec> spec = DecodeKernelSpec(bundle.key_encoding);
  if (spec.ok()) repro->set_symbol(spec->symbol);
  repro->set_reason(bundle.reason);
  repro->set_quarantined(bundle.quarantined);
}

}  // namespace

absl::StatusOr<v1::ListReprosResponse> Admin::ListRepros(
    const v1::ListReprosRequest&) {
  v1::ListReprosResponse response;
  for (const std::string& id : parts_.bundles.List()) {
    const absl::StatusOr<Bundle> bundle = parts_.bundles.Load(id);
    if (bundle.ok()) FillRepro(id, *bundle, response.add_repros());
  }
  return response;
}

absl::StatusOr<v1::GetReproResponse> Admin::GetRepro(
    const v1::GetReproRequest& request) {
  INGOT_ASSIGN_OR_RETURN(Bundle bundle, parts_.bundles.Load(request.id()));
  v1::GetReproResponse response;
  v1::Repro* repro = response.mutable_repro();
  FillRepro(request.id(), bundle, repro);
  repro->set_key_encoding(std::move(bundle.key_encoding));
  repro->set_log(std::move(bundle.log));
  repro->set_ir(std::move(bundle.ir));
  return response;
}

}  // namespace ingot::server
