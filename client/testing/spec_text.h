// A spec in memory that owns what its C structs point to, and a reader of the
// lines of proto/vectors. For tests.
#ifndef INGOT_CLIENT_TESTING_SPEC_TEXT_H_
#define INGOT_CLIENT_TESTING_SPEC_TEXT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "client/include/ingot/ingot.h"

namespace ingot::client {

// Moving keeps what the structs point to; copying would not.
class OwnedSpec {
 public:
  OwnedSpec() = default;
  OwnedSpec(OwnedSpec&&) = default;
  OwnedSpec& operator=(OwnedSpec&&) = default;

  void SetOp(const std::string& op) { op_ = op; }
  void SetTarget(const std::string& target) { target_ = target; }
  void AddDim(const std::string& name, int64_t value);
  void AddRange(const std::string& name, int64_t min, int64_t max,
                int64_t multiple_of);
  void AddOperand(const std::string& name, const std::string& dtype,
                  uint32_t stride_mode = INGOT_STRIDES_DENSE,
                  uint32_t alignment = 0, std::vector<int64_t> strides = {});
  void AddBool(const std::string& name, bool value);
  void AddInt(const std::string& name, int64_t value);
  void AddFloat(const std::string& name, double value);
  void AddString(const std::string& name, const std::string& value);
  void AddTuning(const std::string& name, int64_t value);

  // Valid until the next change.
  const ingot_spec* spec();

 private:
  const char* Keep(const std::string& text);
  ingot_attr* AddAttr(const std::string& name, uint32_t kind);

  std::string op_;
  std::string target_ = "gfx950";
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> strides_;
  std::vector<ingot_dim> dims_;
  std::vector<ingot_operand> operands_;
  std::vector<ingot_attr> attrs_;
  std::vector<ingot_tuning> tuning_;
  ingot_spec spec_ = {};
};

struct Vector {
  OwnedSpec spec;
  bool refused = false;
  std::string encoding;  // hexadecimal
  std::string digest;
};

// Reads a file of proto/vectors; fails the running test when it is malformed.
Vector ReadVector(const std::string& path);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_TESTING_SPEC_TEXT_H_
