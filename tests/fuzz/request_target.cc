#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "client/ctl/spec_structs.h"
#include "client/src/canonical.h"
#include "compiler/kernel_spec.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "google/protobuf/stubs/logging.h"
#include "ingot/v1/kernels.pb.h"
#include "server/request_view.h"
#include "server/wire.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

template <typename Views>
std::vector<std::string> Strings(const Views& views) {
  return {views.begin(), views.end()};
}

// What is seen in place is what a parser sees. It may see less: a parser checks
// what is inside the spec and that texts are UTF-8, a view does not; and it
// joins two specs, where a view takes the last.
void ExpectSeenAsParsed(const server::RequestView& view,
                        const v1::GetKernelRequest& parsed) {
  Expect(view.api_version == parsed.api_version());
  Expect(view.fetch == parsed.fetch());
  Expect(view.priority == parsed.priority());
  Expect(view.pin_epoch == parsed.pin_epoch());
  Expect(view.omit_bytes == parsed.omit_bytes());
  Expect(view.request_id == parsed.request_id());
  Expect(Strings(view.held_digests) == Strings(parsed.held_digests()));
  Expect(std::equal(view.variants.begin(), view.variants.end(),
                    parsed.variants().begin(), parsed.variants().end()));
}

void ExpectAnonymous(const std::string& request,
                     const server::RequestView& view) {
  std::string storage;
  const absl::string_view rest = server::WithoutRequestId(request, &storage);
  const absl::StatusOr<server::RequestView> again = server::ViewRequest(rest);
  Expect(again.ok() && again->request_id.empty());
  Expect(again->spec == view.spec && again->variants == view.variants &&
         again->held_digests == view.held_digests &&
         again->pin_epoch == view.pin_epoch);
}

// A C string ends where a protobuf string may go on.
bool FitsInC(const v1::Spec& spec) {
  const auto fits = [](const std::string& text) {
    return text.find('\0') == std::string::npos;
  };
  bool all = fits(spec.op()) && fits(spec.target());
  for (const v1::Dim& dim : spec.dims()) all = all && fits(dim.name());
  for (const v1::Operand& operand : spec.operands()) {
    all = all && fits(operand.name()) && fits(operand.dtype());
  }
  for (const v1::Attr& attr : spec.attrs()) {
    all = all && fits(attr.name()) && fits(attr.string_value());
  }
  for (const v1::Tuning& tuning : spec.tuning()) {
    all = all && fits(tuning.name());
  }
  return all;
}

void ExpectClientAgrees(const v1::Spec& wire,
                        const absl::StatusOr<Spec>& canonical) {
  if (!FitsInC(wire)) return;
  const ctl::SpecStructs structs(wire);
  uint8_t* data = nullptr;
  size_t size = 0;
  char error[512] = "";
  const ingot_status status = ingot_canonical_encode(
      structs.spec(), "gfx950", &data, &size, error, sizeof(error));
  Expect(status == static_cast<int>(canonical.status().code()));
  if (status != INGOT_OK) return;
  const std::string bytes(reinterpret_cast<char*>(data), size);
  std::free(data);
  Expect(bytes == EncodeSpec(*canonical));
}

void ExpectPlannable(const Spec& canonical) {
  const absl::StatusOr<Plan> plan = MakePlan(canonical);
  if (!plan.ok()) return;
  Expect(plan->spec_digest == SpecDigest(canonical));
  std::set<std::string> keys;
  for (const PlanKernel& kernel : plan->kernels) {
    const absl::StatusOr<KernelSpec> spec = DecodeKernelSpec(kernel.encoding);
    Expect(spec.ok() && EncodeKernelSpec(*spec) == kernel.encoding);
    Expect(kernel.key == KernelKey(kernel.encoding));
    Expect(keys.insert(kernel.key).second);
  }
  v1::Plan wire;
  server::PlanToWire(*plan, 0, &wire);
  Expect(wire.variants_size() == static_cast<int>(plan->variants.size()));
}

void ExpectCanonical(absl::string_view bytes) {
  v1::Spec wire;
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  const absl::StatusOr<Spec> spec = server::SpecFromWire(wire);
  if (!spec.ok()) return;
  const absl::StatusOr<Spec> canonical = Canonicalize(*spec);
  ExpectClientAgrees(wire, canonical);
  if (!canonical.ok()) return;
  const std::string encoding = EncodeSpec(*canonical);
  const absl::StatusOr<Spec> twice = Canonicalize(*canonical);
  Expect(twice.ok() && EncodeSpec(*twice) == encoding);
  v1::Spec sent;
  server::SpecToWire(*canonical, &sent);
  const absl::StatusOr<Spec> received = server::SpecFromWire(sent);
  Expect(received.ok() && EncodeSpec(*received) == encoding);
  ExpectPlannable(*canonical);
}

}  // namespace

void RequestBytes(const uint8_t* data, size_t size) {
  // Which would print a line for most inputs.
  const google::protobuf::LogSilencer silence;
  const std::string request(reinterpret_cast<const char*>(data), size);
  server::ViewBatch(request).IgnoreError();
  const absl::StatusOr<server::RequestView> view = server::ViewRequest(request);
  v1::GetKernelRequest parsed;
  const bool parses = parsed.ParseFromString(request);
  if (!view.ok()) return;
  if (parses) ExpectSeenAsParsed(*view, parsed);
  ExpectAnonymous(request, *view);
  ExpectCanonical(view->spec);
}

}  // namespace ingot::fuzz
