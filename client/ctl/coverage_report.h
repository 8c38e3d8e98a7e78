// What share of recorded traffic a list of specs covers.
#ifndef INGOT_CLIENT_CTL_COVERAGE_REPORT_H_
#define INGOT_CLIENT_CTL_COVERAGE_REPORT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/src/status.h"
#include "ingot/v1/recorded.pb.h"

namespace ingot::ctl {

// Whether a recorded spec is covered.
using Covers =
    std::function<client::Status(const v1::RecordedSpec& spec, bool* covered)>;

struct CoverageReport {
  uint64_t specs = 0;
  uint64_t specs_covered = 0;
  uint64_t requests = 0;
  uint64_t requests_covered = 0;
  std::vector<v1::RecordedSpec> uncovered;  // as they came

  // 1 when there is nothing to cover.
  double RequestShare() const;
  double SpecShare() const;
};

client::Status Report(const std::vector<v1::RecordedSpec>& recorded,
                      const Covers& covers, CoverageReport* report);

// Covered is what has the digest of a listed spec, or differs from one by
// narrower ranges of token-like dims alone: its variants are among that one's.
class SpecCoverage {
 public:
  // INVALID_ARGUMENT for a spec that has no encoding.
  client::Status Add(const v1::Spec& spec);
  client::Status Covers(const v1::RecordedSpec& spec, bool* covered) const;

 private:
  std::set<std::string> digests_;
  std::map<std::string, std::vector<v1::Spec>> by_open_digest_;
};

// Covered is what needs no kernel that none of the listed specs needs.
class KernelCoverage {
 public:
  // Keys of the kernels of all variants of a spec's plan.
  using KeysOf = std::function<client::Status(const v1::Spec& spec,
                                              std::set<std::string>* keys)>;
  explicit KernelCoverage(KeysOf keys_of) : keys_of_(std::move(keys_of)) {}

  client::Status Add(const v1::Spec& spec);
  // What a daemon refuses is covered by nothing.
  client::Status Covers(const v1::RecordedSpec& spec, bool* covered) const;

 private:
  const KeysOf keys_of_;
  std::set<std::string> keys_;
};

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_COVERAGE_REPORT_H_
