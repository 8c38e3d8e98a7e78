#include "client/ctl/coverage_report.h"

#include <algorithm>

#include "client/ctl/spec_digest.h"

namespace ingot::ctl {
namespace {

using client::Status;

double Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return 1;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double CoverageReport::RequestShare() const {
  return Share(requests_covered, requests);
}

double CoverageReport::SpecShare() const { return Share(specs_covered, specs); }

Status Report(const std::vector<v1::RecordedSpec>& recorded,
              const Covers& covers, CoverageReport* report) {
  for (const v1::RecordedSpec& spec : recorded) {
    bool covered = false;
    INGOT_CLIENT_RETURN_IF_ERROR(covers(spec, &covered));
    const uint64_t requests = spec.traffic().requests();
    ++report->specs;
    report->requests += requests;
    if (covered) {
      ++report->specs_covered;
      report->requests_covered += requests;
    } else {
      report->uncovered.push_back(spec);
    }
  }
  return Status();
}

Status SpecCoverage::Add(const v1::Spec& spec) {
  std::string digest;
  INGOT_CLIENT_RETURN_IF_ERROR(DigestOf(spec, &digest));
  digests_.insert(digest);
  INGOT_CLIENT_RETURN_IF_ERROR(DigestOf(WithOpenTokens(spec), &digest));
  by_open_digest_[digest].push_back(spec);
  return Status();
}

Status SpecCoverage::Covers(const v1::RecordedSpec& spec, bool* covered) const {
  *covered = digests_.count(spec.spec_digest()) > 0;
  if (*covered) return Status();
  std::string open;
  INGOT_CLIENT_RETURN_IF_ERROR(DigestOf(WithOpenTokens(spec.spec()), &open));
  const auto found = by_open_digest_.find(open);
  if (found == by_open_digest_.end()) return Status();
  *covered = std::any_of(found->second.begin(), found->second.end(),
                         [&](const v1::Spec& listed) {
                           return TokensContain(listed, spec.spec());
                         });
  return Status();
}

Status KernelCoverage::Add(const v1::Spec& spec) {
  return keys_of_(spec, &keys_);
}

Status KernelCoverage::Covers(const v1::RecordedSpec& spec,
                              bool* covered) const {
  std::set<std::string> needed;
  INGOT_CLIENT_RETURN_IF_ERROR(keys_of_(spec.spec(), &needed));
  *covered = !needed.empty() && std::includes(keys_.begin(), keys_.end(),
                                              needed.begin(), needed.end());
  return Status();
}

}  // namespace ingot::ctl
