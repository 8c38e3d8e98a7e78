// Specs from a command line.
#ifndef INGOT_CLIENT_CTL_SPEC_FLAGS_H_
#define INGOT_CLIENT_CTL_SPEC_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/src/status.h"
#include "ingot/v1/spec.pb.h"

namespace ingot::ctl {

struct SpecFlags {
  std::string op;
  std::vector<std::string> dims;      // m=4096, m=1..4096, m=1..4096/16, m
  std::vector<std::string> operands;  // a:bf16, a:bf16:dynamic@2, a:bf16:8,1
  std::vector<std::string> attrs;     // layout=nt, eps=1e-6, flag=true
  std::vector<std::string> tuning;    // tile_m=128
  std::string target = "gfx950";
  std::string file;  // JSON of ingot.v1.Spec; "-": standard input
  // Shorthand for the operands of the ops that ingotctl knows.
  std::string dtype = "bf16";
  std::string out_dtype;
  std::vector<std::string> with;  // optional operands: c, bias, weight, ...

  // Adds the flags to a subcommand.
  void Add(CLI::App* app);
};

// INVALID_ARGUMENT naming the flag, what was found and what is allowed.
client::Status MakeSpec(const SpecFlags& flags, v1::Spec* spec);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_SPEC_FLAGS_H_
