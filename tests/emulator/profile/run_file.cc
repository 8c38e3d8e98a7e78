#include "tests/emulator/profile/run_file.h"

#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/emulator/profile/arguments.h"
#include "tests/emulator/program.h"

namespace ingot::profile {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  }
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

absl::Status ParseAxes(const char* flag, const std::string& text,
                       uint32_t (&axes)[3]) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  bool good = parts.size() <= 3;
  for (size_t n = 0; good && n < parts.size(); ++n) {
    good = absl::SimpleAtoi(parts[n], &axes[n]) && axes[n] > 0;
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": found \"", text,
                   "\", allowed one to three positive numbers: X,Y,Z"));
}

absl::StatusOr<const emulator::KernelInfo*> Choose(
    const emulator::CodeObject& object, const FileRequest& request) {
  const emulator::KernelInfo* kernel =
      request.kernel.empty() && object.kernels.size() == 1
          ? &object.kernels[0]
          : object.FindKernel(request.kernel);
  if (kernel != nullptr) return kernel;
  return absl::InvalidArgumentError(absl::StrCat(
      "--kernel: found \"", request.kernel, "\", allowed in ", request.path,
      ": ",
      absl::StrJoin(object.kernels, ", ",
                    [](std::string* out, const emulator::KernelInfo& k) {
                      out->append(k.name);
                    })));
}

absl::StatusOr<std::vector<Argument>> Arguments(const FileRequest& request) {
  if (!request.arguments_file.empty()) {
    INGOT_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(request.arguments_file));
    return ParseArgumentsJson(text);
  }
  std::vector<Argument> arguments;
  for (const std::string& text : request.arguments) {
    INGOT_ASSIGN_OR_RETURN(Argument argument, ParseArgument(text));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

absl::Status StatusOf(const emulator::RunResult& result) {
  switch (result.status) {
    case emulator::RunStatus::kOk:
      return absl::OkStatus();
    case emulator::RunStatus::kInvalidLaunch:
      return absl::InvalidArgumentError(result.report);
    case emulator::RunStatus::kIllegalAddress:
    case emulator::RunStatus::kLaunchFailure:
      break;
  }
  return absl::AbortedError(result.report);
}

absl::StatusOr<Profile> ProfileFile(const FileRequest& request) {
  INGOT_ASSIGN_OR_RETURN(const std::string object, ReadFile(request.path));
  ProfileRequest run;
  INGOT_RETURN_IF_ERROR(ParseAxes("--grid", request.grid, run.config.grid));
  INGOT_RETURN_IF_ERROR(ParseAxes("--block", request.block, run.config.block));
  run.config.dynamic_lds = request.lds;
  run.most_groups = request.most_groups;
  emulator::Device device;
  emulator::LoadError error = emulator::LoadError::kNone;
  std::string message;
  run.program = device.Load(object.data(), object.size(), &error, &message);
  if (run.program == nullptr) {
    return absl::DataLossError(absl::StrCat(request.path, ": ", message));
  }
  INGOT_ASSIGN_OR_RETURN(run.kernel, Choose(run.program->object(), request));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Argument> arguments,
                         Arguments(request));
  INGOT_ASSIGN_OR_RETURN(const std::string kernarg,
                         LayOut(arguments, *run.kernel, device));
  run.kernarg = kernarg.data();
  run.kernarg_bytes = kernarg.size();
  run.buffers = BuffersOf(device.memory(), kernarg);
  Profile profile;
  INGOT_RETURN_IF_ERROR(
      StatusOf(RunProfiled(device, run, ProfileOptions(), &profile)));
  return profile;
}

}  // namespace ingot::profile
