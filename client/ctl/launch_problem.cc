#include "client/ctl/launch_problem.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ingot::ctl {

using client::Status;

Status LastError(ingot_status code) {
  return code == INGOT_OK ? Status()
                          : client::Error(code, "%s", ingot_last_error());
}

Status LaunchProblem(const Gpu& gpu, const ingot_prepared* prepared,
                     Problem* problem, LaunchOutcome* outcome, bool measure) {
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::map<std::string, void*> pointers;
  for (const ProblemOperand& operand : problem->operands) {
    buffers.push_back(std::make_unique<GuardedBuffer>());
    INGOT_CLIENT_RETURN_IF_ERROR(buffers.back()->Create(gpu, operand.bytes));
    pointers[operand.name] = buffers.back()->data();
  }
  ingot_prepared_info info = {sizeof(info)};
  INGOT_CLIENT_RETURN_IF_ERROR(
      LastError(ingot_prepared_describe(prepared, &info)));
  std::vector<int64_t> dims;
  for (uint32_t i = 0; i < info.dim_count; ++i) {
    dims.push_back(problem->dims[ingot_prepared_dim(prepared, i)]);
  }
  std::vector<void*> operands;
  for (uint32_t i = 0; i < info.operand_count; ++i) {
    operands.push_back(pointers[ingot_prepared_operand(prepared, i)]);
  }
  std::vector<ingot_scalar> scalars;
  for (uint32_t i = 0; i < info.scalar_count; ++i) {
    scalars.push_back({problem->scalars[ingot_prepared_scalar(prepared, i)]});
  }
  ingot_launch_args args = {sizeof(args)};
  args.dims = dims.data();
  args.dim_count = info.dim_count;
  args.operands = operands.data();
  args.operand_count = info.operand_count;
  args.scalars = scalars.data();
  args.scalar_count = info.scalar_count;
  INGOT_CLIENT_RETURN_IF_ERROR(LastError(
      ingot_workspace_bytes(prepared, &args, &args.workspace_bytes, nullptr)));
  GuardedBuffer workspace;
  INGOT_CLIENT_RETURN_IF_ERROR(
      workspace.Create(gpu, std::vector<uint8_t>(args.workspace_bytes)));
  args.workspace = workspace.data();
  INGOT_CLIENT_RETURN_IF_ERROR(LastError(ingot_prepared_load(prepared)));
  const Stopwatch watch;
  INGOT_CLIENT_RETURN_IF_ERROR(
      LastError(ingot_launch(prepared, nullptr, &args)));
  INGOT_CLIENT_RETURN_IF_ERROR(gpu.Synchronize());
  outcome->microseconds = watch.Microseconds();
  for (size_t i = 0; i < buffers.size(); ++i) {
    INGOT_CLIENT_RETURN_IF_ERROR(buffers[i]->Read(&problem->operands[i].bytes));
  }
  outcome->comparison = problem->compare(problem->operands);
  if (!measure) return Status();
  const ingot_launch_args* sets[1] = {&args};
  ingot_measurement measurement = {sizeof(measurement)};
  INGOT_CLIENT_RETURN_IF_ERROR(LastError(
      ingot_measure(prepared, nullptr, sets, 1, nullptr, &measurement)));
  outcome->device_us = measurement.median_us;
  return Status();
}

}  // namespace ingot::ctl
