// ingot-profile: what a kernel does, instruction by instruction, and what
// bounds it. Needs neither GPU nor daemon.
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/ctl/spec_flags.h"
#include "google/protobuf/stubs/common.h"
#include "server/wire.h"
#include "tests/emulator/profile/arguments.h"
#include "tests/emulator/profile/print.h"
#include "tests/emulator/profile/run_file.h"
#include "tests/emulator/profile/run_op.h"

namespace ingot::profile {
namespace {

// Documented in --help; never renumber.
enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitNoCodeObject = 3,
};

constexpr char kFooter[] =
    "A launch of an op is compiled in this process:\n"
    "  ingot-profile gemm m=64 n=4096 k=4096 --dtype bf16 --layout nt\n"
    "A code object, from whatever compiler, is launched as told:\n"
    "  ingot-profile add.hsaco --kernel add --grid 4 --block 256 \\\n"
    "      --arg ptr:4K:random-f32 --arg ptr:4K --arg i32:1024\n"
    "Counts are exact. Clocks, times and bounds are modelled from published\n"
    "rates of gfx950 (tests/emulator/profile/rates.h), without latency and\n"
    "stalls: nothing is measured on a GPU.\n"
    "\n"
    "Exit codes:\n"
    "  0  success\n"
    "  1  the kernel faulted or could not be compiled\n"
    "  2  bad flags, arguments or spec, or a launch that the device refuses\n"
    "  3  the file is not a code object for gfx950\n";

struct Flags {
  ctl::SpecFlags spec;
  FileRequest file;
  std::string output = "text";
  size_t top = 10;
};

void AddFlags(Flags* flags, CLI::App* app) {
  flags->spec.Add(app);
  app->get_option("op")->description(
      "an op of the compiler, such as gemm, or a file that holds a code "
      "object");
  FileRequest& file = flags->file;
  app->add_option("--kernel", file.kernel,
                  "of a file; needed when it holds several");
  app->add_option("--grid", file.grid, "of a file: workgroups, X[,Y[,Z]]");
  app->add_option("--block", file.block,
                  "of a file: work-items of a workgroup, X[,Y[,Z]]");
  app->add_option("--lds", file.lds, "of a file: bytes of dynamic LDS");
  app->add_option(
      "--arg", file.arguments,
      std::string("of a file, once for each argument: ") + kArgumentForms);
  app->add_option("--args-json", file.arguments_file,
                  "a file with all arguments: [{\"type\": \"ptr\", \"bytes\": "
                  "4096, \"fill\": \"zero\", \"offset\": 0}, {\"type\": "
                  "\"i32\", \"value\": 5}, ...]");
  app->add_option("--groups", file.most_groups,
                  "run this many workgroups of a launch, spread evenly; 0: all")
      ->capture_default_str();
  app->add_option("--output", flags->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app->add_option("--top", flags->top, "lines of each list of instructions")
      ->capture_default_str();
}

absl::StatusOr<OpRequest> RequestOf(const Flags& flags) {
  v1::Spec wire;
  const client::Status made = ctl::MakeSpec(flags.spec, &wire);
  if (!made.ok()) return absl::InvalidArgumentError(made.message);
  OpRequest request;
  INGOT_ASSIGN_OR_RETURN(request.spec, server::SpecFromWire(wire));
  for (const v1::Dim& dim : wire.dims()) {
    if (dim.has_value()) request.dims[dim.name()] = dim.value();
  }
  request.most_groups = flags.file.most_groups;
  return request;
}

void Print(const Flags& flags, const std::vector<Profile>& profiles) {
  if (flags.output == "json") {
    puts(ToJson(profiles, flags.top).c_str());
    return;
  }
  for (size_t n = 0; n < profiles.size(); ++n) {
    if (n > 0) puts("");
    fputs(ToText(profiles[n], flags.top).c_str(), stdout);
  }
}

// No op has a dot or a slash in its name.
bool IsFile(const std::string& what) {
  std::error_code ignored;
  return what.find_first_of("./") != std::string::npos ||
         std::filesystem::is_regular_file(what, ignored);
}

// Flags of the other kind would be passed over: FILE's of an op, and back.
absl::Status CheckFlags(const CLI::App& app, bool file) {
  const std::initializer_list<const char*> of_file = {
      "--kernel", "--grid", "--block", "--lds", "--arg", "--args-json"};
  const std::initializer_list<const char*> of_op = {
      "dims",   "--dim",   "--operand",   "--attr", "--tune",  "--target",
      "--spec", "--dtype", "--out-dtype", "--with", "--layout"};
  for (const char* name : file ? of_op : of_file) {
    if (app.get_option(name)->count() == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not allowed for ", file ? "a file" : "an op"));
  }
  return absl::OkStatus();
}

absl::Status Run(const CLI::App& app, Flags flags) {
  const bool file = IsFile(flags.spec.op);
  INGOT_RETURN_IF_ERROR(CheckFlags(app, file));
  if (file) {
    flags.file.path = flags.spec.op;
    INGOT_ASSIGN_OR_RETURN(Profile profile, ProfileFile(flags.file));
    Print(flags, {std::move(profile)});
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(const OpRequest request, RequestOf(flags));
  INGOT_ASSIGN_OR_RETURN(const OpProfile profile, ProfileOp(request));
  if (flags.output == "text") {
    printf("variant %s, %zu launch%s\n\n", profile.variant.c_str(),
           profile.launches.size(), profile.launches.size() == 1 ? "" : "es");
  }
  Print(flags, profile.launches);
  return absl::OkStatus();
}

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kFailedPrecondition:
      return kExitUsage;
    case absl::StatusCode::kDataLoss:
      return kExitNoCodeObject;
    default:
      return kExitFailed;
  }
}

int Main(int argc, char** argv) {
  google::protobuf::SetLogHandler(nullptr);  // errors are told once
  CLI::App app(
      "Runs a kernel on the emulated gfx950 and says what it does: mix of "
      "instructions, loops, bytes, bank conflicts, occupancy, bounds.",
      "ingot-profile");
  app.footer(kFooter);
  Flags flags;
  AddFlags(&flags, &app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  const absl::Status status = Run(app, std::move(flags));
  if (!status.ok()) {
    fprintf(stderr, "ingot-profile: %s\n",
            std::string(status.message()).c_str());
  }
  return ExitCodeOf(status);
}

}  // namespace
}  // namespace ingot::profile

int main(int argc, char** argv) { return ingot::profile::Main(argc, argv); }
