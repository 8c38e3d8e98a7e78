// A canonical spec for people: `gemm gfx950 k=4096 n=4096 a:bf16 …
// layout="nt"`.
#ifndef INGOT_SERVER_SPEC_TEXT_H_
#define INGOT_SERVER_SPEC_TEXT_H_

#include <string>

#include "compiler/spec.h"

namespace ingot::server {

// One field a line, in the order and with the omissions of the canonical
// encoding (proto/canonical.md).
std::string SpecText(const Spec& canonical);

}  // namespace ingot::server

#endif  // INGOT_SERVER_SPEC_TEXT_H_
