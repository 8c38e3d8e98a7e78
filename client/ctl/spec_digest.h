// Spec digests of messages, and which spec's kernels serve which other spec.
#ifndef INGOT_CLIENT_CTL_SPEC_DIGEST_H_
#define INGOT_CLIENT_CTL_SPEC_DIGEST_H_

#include <string>

#include "client/src/status.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

// 32 bytes: proto/canonical.md. INVALID_ARGUMENT for what has no encoding.
client::Status DigestOf(const v1::Spec& spec, std::string* digest);

// `spec` with its token-like dims open: what specs have in common that differ
// in their counts of tokens alone.
v1::Spec WithOpenTokens(const v1::Spec& spec);

// Of two specs that are equal once open: whether every count of tokens that
// `inner` allows is one that `outer` allows, with the same multiples. A single
// value allows all: it is in no digest.
bool TokensContain(const v1::Spec& outer, const v1::Spec& inner);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_SPEC_DIGEST_H_
