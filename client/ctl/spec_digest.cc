#include "client/ctl/spec_digest.h"

#include <cstdint>
#include <cstdlib>

#include "client/ctl/spec_structs.h"
#include "client/src/canonical.h"
#include "client/src/code_object.h"

namespace ingot::ctl {
namespace {

v1::DimRange RangeOf(const v1::Spec& spec, const std::string& name) {
  v1::DimRange range;
  for (const v1::Dim& dim : spec.dims()) {
    if (dim.name() == name && dim.has_range()) range = dim.range();
  }
  if (range.multiple_of() == 1) range.clear_multiple_of();
  return range;
}

bool Contains(const v1::DimRange& outer, const v1::DimRange& inner) {
  const bool below =
      outer.max() == 0 || (inner.max() != 0 && inner.max() <= outer.max());
  return inner.multiple_of() == outer.multiple_of() &&
         inner.min() >= outer.min() && below;
}

}  // namespace

client::Status DigestOf(const v1::Spec& spec, std::string* digest) {
  const SpecStructs structs(spec);
  uint8_t* data = nullptr;
  size_t size = 0;
  char error[512] = "";
  const ingot_status status = ingot_canonical_encode(
      structs.spec(), "gfx950", &data, &size, error, sizeof(error));
  if (status != INGOT_OK) return client::Error(status, "%s", error);
  *digest = client::Sha256(data, size);
  free(data);
  return client::Status();
}

v1::Spec WithOpenTokens(const v1::Spec& spec) {
  v1::Spec open = spec;
  for (v1::Dim& dim : *open.mutable_dims()) {
    if (ingot_is_token_dim(dim.name().c_str())) dim.clear_extent();
  }
  return open;
}

bool TokensContain(const v1::Spec& outer, const v1::Spec& inner) {
  for (const v1::Dim& dim : outer.dims()) {
    if (!ingot_is_token_dim(dim.name().c_str())) continue;
    if (!Contains(RangeOf(outer, dim.name()), RangeOf(inner, dim.name()))) {
      return false;
    }
  }
  return true;
}

}  // namespace ingot::ctl
