// A manifest: a file of specs, the JSON form of an ingot.v1.Spec on each line.
// One that `ingotctl record` wrote has beside the spec's fields one named
// "recorded", an ingot.v1.SpecTraffic: what was asked for, and how often.
#ifndef INGOT_CLIENT_CTL_MANIFEST_H_
#define INGOT_CLIENT_CTL_MANIFEST_H_

#include <string>
#include <vector>

#include "client/src/status.h"
#include "ingot/v1/recorded.pb.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

// Adds the specs of `file` to `*specs`; "-" is standard input. Empty lines are
// skipped. INVALID_ARGUMENT names file and line.
client::Status ReadManifest(const std::string& file,
                            std::vector<v1::Spec>* specs);

// The same with what was recorded; a line that has nothing of it counts as one
// request. The digest is computed here, and lines of one spec, of all files,
// are added up. Those with most requests first.
client::Status ReadRecorded(const std::vector<std::string>& files,
                            std::vector<v1::RecordedSpec>* specs);

// Lines as they are read here, without the line's end.
std::string ManifestLine(const v1::Spec& spec);
std::string RecordedLine(const v1::RecordedSpec& spec);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_MANIFEST_H_
