// A caller's spec as a protobuf-c message that borrows the caller's strings,
// and its digest.
#ifndef INGOT_CLIENT_SRC_SPEC_MESSAGE_H_
#define INGOT_CLIENT_SRC_SPEC_MESSAGE_H_

#include <string>
#include <vector>

#include "client/include/ingot/ingot.h"
#include "client/src/status.h"
#include "ingot/v1/spec.pb-c.h"

namespace ingot::client {

// 32 bytes. INVALID_ARGUMENT or UNIMPLEMENTED naming what is wrong with the
// spec, which may be null.
Status DigestSpec(const ingot_spec* spec, const std::string& default_target,
                  std::string* digest);

// Valid as long as the spec it was made of, which has passed DigestSpec.
class SpecMessage {
 public:
  SpecMessage(const ingot_spec& spec, const char* default_target);
  SpecMessage(const SpecMessage&) = delete;
  SpecMessage& operator=(const SpecMessage&) = delete;

  Ingot__V1__Spec* message() { return &message_; }

 private:
  void AddDims(const ingot_spec& spec);
  void AddOperands(const ingot_spec& spec);
  void AddAttrs(const ingot_spec& spec);
  void AddTuning(const ingot_spec& spec);

  Ingot__V1__Spec message_;
  std::vector<Ingot__V1__Dim> dims_;
  std::vector<Ingot__V1__DimRange> ranges_;
  std::vector<Ingot__V1__Operand> operands_;
  std::vector<Ingot__V1__Attr> attrs_;
  std::vector<Ingot__V1__Tuning> tuning_;
  std::vector<Ingot__V1__Dim*> dim_pointers_;
  std::vector<Ingot__V1__Operand*> operand_pointers_;
  std::vector<Ingot__V1__Attr*> attr_pointers_;
  std::vector<Ingot__V1__Tuning*> tuning_pointers_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_SPEC_MESSAGE_H_
