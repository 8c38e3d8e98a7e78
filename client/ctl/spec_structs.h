// A spec message as the structs of ingot.h.
#ifndef INGOT_CLIENT_CTL_SPEC_STRUCTS_H_
#define INGOT_CLIENT_CTL_SPEC_STRUCTS_H_

#include <vector>

#include "client/include/ingot/ingot.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

// Borrows strings from the message, which must outlive it.
class SpecStructs {
 public:
  explicit SpecStructs(const v1::Spec& message);
  SpecStructs(const SpecStructs&) = delete;
  SpecStructs& operator=(const SpecStructs&) = delete;

  const ingot_spec* spec() const { return &spec_; }

 private:
  std::vector<ingot_dim> dims_;
  std::vector<ingot_operand> operands_;
  std::vector<ingot_attr> attrs_;
  std::vector<ingot_tuning> tuning_;
  ingot_spec spec_ = {};
};

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_SPEC_STRUCTS_H_
