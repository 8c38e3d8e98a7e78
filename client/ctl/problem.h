// A computation with known inputs and its f64 reference, for `ingotctl check`.
#ifndef INGOT_CLIENT_CTL_PROBLEM_H_
#define INGOT_CLIENT_CTL_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/ctl/numbers.h"
#include "client/src/status.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

// How far a result is from the unrounded reference.
struct Comparison {
  uint64_t elements = 0;
  uint64_t beyond = 0;  // elements above their tolerance, NaNs included
  double largest_error = 0;
  double share = 0;  // the largest error as a share of its tolerance

  void Add(double found, double reference, double tolerance);
};

struct ProblemOperand {
  std::string name;
  const Format* format = nullptr;  // null: integers
  bool output = false;
  std::vector<uint8_t> bytes;
};

struct Problem {
  v1::Spec spec;
  std::string title;
  std::map<std::string, int64_t> dims;
  std::vector<ProblemOperand> operands;  // in the spec's order
  std::map<std::string, double> scalars;
  // Given the operands after the launch.
  std::function<Comparison(const std::vector<ProblemOperand>&)> compare;
};

// What a command line may choose; 0 and "" take the op's own default.
struct ProblemFlags {
  std::vector<std::string> dims;  // m=64
  std::string dtype = "bf16";
  std::string out_dtype;
  std::string layout = "nt";
  uint64_t seed = 1;
};

// INVALID_ARGUMENT for an op without a reference, or flags that it cannot take.
client::Status MakeProblem(const std::string& op, const ProblemFlags& flags,
                           Problem* problem);

// The ops that have a reference.
const std::vector<std::string>& ProblemOps();

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_PROBLEM_H_
