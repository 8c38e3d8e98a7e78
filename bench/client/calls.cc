#include "bench/client/calls.h"

#include "absl/strings/str_cat.h"
#include "bench/process.h"

namespace ingot::bench {

void Expect(ingot_status status, const char* call) {
  if (status != INGOT_OK) Die(absl::StrCat(call, ": ", ingot_last_error()));
}

RmsnormSpecC::RmsnormSpecC(int64_t n) {
  dims_[0] = {sizeof(ingot_dim), INGOT_DIM_RANGE, "rows"};
  dims_[1] = {sizeof(ingot_dim), INGOT_DIM_VALUE, "n", n};
  const char* names[] = {"x", "weight", "y"};
  for (int i = 0; i < 3; ++i) {
    operands_[i] = {sizeof(ingot_operand), INGOT_STRIDES_DENSE, names[i],
                    "bf16"};
  }
  spec_.size = sizeof(spec_);
  spec_.op = "rmsnorm";
  spec_.dims = dims_;
  spec_.dim_count = 2;
  spec_.operands = operands_;
  spec_.operand_count = 3;
}

Client Connect(const std::string& socket, const char* hip_library) {
  const std::string address = "unix:" + socket;
  ingot_client_options options = {};
  options.size = sizeof(options);
  options.address = address.c_str();
  options.hip_library = hip_library;
  Client client;
  Expect(Client::Create(&options, &client), "ingot_client_create");
  return client;
}

ingot_prepared* Prepare(Client& client, const RmsnormSpecC& spec,
                        uint32_t flags) {
  ingot_prepare_options options = {};
  options.size = sizeof(options);
  options.flags = flags;
  ingot_prepared* prepared = nullptr;
  Expect(ingot_prepare(client.get(), spec.get(), &options, &prepared),
         "ingot_prepare");
  return prepared;
}

}  // namespace ingot::bench
