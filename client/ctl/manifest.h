// A manifest: a file of specs, the JSON form of an ingot.v1.Spec on each line.
#ifndef INGOT_CLIENT_CTL_MANIFEST_H_
#define INGOT_CLIENT_CTL_MANIFEST_H_

#include <string>
#include <vector>

#include "client/src/status.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

// Adds the specs of `file` to `*specs`; "-" is standard input. Empty lines are
// skipped. INVALID_ARGUMENT names file and line.
client::Status ReadManifest(const std::string& file,
                            std::vector<v1::Spec>* specs);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_MANIFEST_H_
