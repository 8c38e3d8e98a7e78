// For tests: specs of gemm.
#ifndef INGOT_TESTS_DAEMON_GEMM_SPEC_H_
#define INGOT_TESTS_DAEMON_GEMM_SPEC_H_

#include <cstdint>
#include <string>

#include "ingot/v1/spec.pb.h"

namespace ingot::server {

// bf16, n by n for any m; a `layout` that is empty is the op's default.
inline v1::Spec Gemm(int64_t n, const std::string& layout = "") {
  v1::Spec spec;
  spec.set_op("gemm");
  spec.set_target("gfx950");
  spec.add_dims()->set_name("m");
  for (const char* name : {"n", "k"}) {
    v1::Dim* dim = spec.add_dims();
    dim->set_name(name);
    dim->set_value(n);
  }
  for (const char* name : {"a", "b", "d"}) {
    v1::Operand* operand = spec.add_operands();
    operand->set_name(name);
    operand->set_dtype("bf16");
  }
  if (layout.empty()) return spec;
  v1::Attr* attr = spec.add_attrs();
  attr->set_name("layout");
  attr->set_string_value(layout);
  return spec;
}

}  // namespace ingot::server

#endif  // INGOT_TESTS_DAEMON_GEMM_SPEC_H_
