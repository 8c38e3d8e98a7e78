// ingotctl check: the whole way, once. A kernel is asked for cold and again
// warm, loaded, launched, and its numbers held against an f64 reference.
#include <chrono>
#include <cstdio>
#include <memory>

#include "client/ctl/command.h"
#include "client/ctl/launch_problem.h"
#include "client/ctl/problem.h"
#include "client/ctl/spec_structs.h"
#include "client/ctl/text_table.h"
#include "client/include/ingot/client.h"
#include "client/src/json_writer.h"

namespace ingot::ctl {
namespace {

struct CheckFlags {
  std::string op;
  ProblemFlags problem;
  bool no_launch = false;
  bool measure = false;
};

struct Outcome {
  double cold_us = 0;
  double compile_us = 0;  // 0: it was there already
  double warm_us = 0;
  uint64_t warm_compile_us = 0;
  uint32_t kernels = 0;
  double predicted_us = 0;  // 0: the op has no model, or nobody asked
  LaunchOutcome launch;
};

Status OpenClient(const Globals& globals, Client* client) {
  ingot_client_options options = {sizeof(options)};
  if (!globals.address.empty()) options.address = globals.address.c_str();
  options.call_timeout_ms = static_cast<uint32_t>(globals.timeout_s * 1000);
  options.tls_ca = globals.tls.ca.c_str();
  options.tls_certificate = globals.tls.certificate.c_str();
  options.tls_private_key = globals.tls.private_key.c_str();
  options.tls_server_name = globals.tls.server_name.c_str();
  return LastError(Client::Create(&options, client));
}

// A new client each time: what a process that starts pays.
Status Prepare(const Globals& globals, const ingot_spec* spec, Client* client,
               Prepared* prepared, double* microseconds,
               ingot_prepared_info* info) {
  INGOT_CLIENT_RETURN_IF_ERROR(OpenClient(globals, client));
  ingot_prepare_options options = {sizeof(options)};
  options.flags = INGOT_PREPARE_NO_LOAD;
  const Stopwatch watch;
  INGOT_CLIENT_RETURN_IF_ERROR(
      LastError(client->Prepare(spec, &options, prepared)));
  *microseconds = watch.Microseconds();
  *info = {sizeof(*info)};
  return LastError(ingot_prepared_describe(prepared->get(), info));
}

// What the model says of the best tile that the plan has.
Status ReadPrediction(Client* client, const ingot_spec* spec,
                      double* predicted_us) {
  Candidates candidates;
  INGOT_CLIENT_RETURN_IF_ERROR(
      LastError(client->ListCandidates(spec, 0, &candidates)));
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    ingot_candidate candidate;
    INGOT_CLIENT_RETURN_IF_ERROR(LastError(candidates.Get(i, &candidate)));
    if (candidate.chosen == 0) continue;
    *predicted_us = candidate.predicted_us;  // best first
    return Status();
  }
  return Status();
}

Status CheckOne(const Globals& globals, const CheckFlags& flags,
                Problem* problem, Outcome* outcome, std::string* device) {
  const SpecStructs structs(problem->spec);
  Client cold;
  Client warm;
  Prepared first;
  Prepared second;
  ingot_prepared_info info;
  INGOT_CLIENT_RETURN_IF_ERROR(Prepare(globals, structs.spec(), &cold, &first,
                                       &outcome->cold_us, &info));
  outcome->compile_us = static_cast<double>(info.compile_us);
  INGOT_CLIENT_RETURN_IF_ERROR(Prepare(globals, structs.spec(), &warm, &second,
                                       &outcome->warm_us, &info));
  outcome->warm_compile_us = info.compile_us;
  outcome->kernels = info.kernel_count;
  if (flags.no_launch) return Status();
  if (flags.measure) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ReadPrediction(&warm, structs.spec(), &outcome->predicted_us));
  }
  std::unique_ptr<Gpu> gpu;
  INGOT_CLIENT_RETURN_IF_ERROR(Gpu::Open(&gpu));
  *device = gpu->target();
  return LaunchProblem(*gpu, second.get(), problem, &outcome->launch,
                       flags.measure);
}

void PrintText(const Problem& problem, const Outcome& outcome,
               const std::string& device, bool good) {
  printf("%s\n", problem.title.c_str());
  printf("  first   %s", FormatMicroseconds(outcome.cold_us).c_str());
  if (outcome.compile_us > 0) {
    printf(", %s of it compiling %u kernel%s\n",
           FormatMicroseconds(outcome.compile_us).c_str(), outcome.kernels,
           outcome.kernels == 1 ? "" : "s");
  } else {
    printf(", nothing compiled\n");
  }
  printf(
      "  again   %s by a new client%s\n",
      FormatMicroseconds(outcome.warm_us).c_str(),
      outcome.warm_compile_us == 0 ? ", nothing compiled" : ", COMPILED AGAIN");
  if (device.empty()) return;
  printf("  launch  %s on %s\n",
         FormatMicroseconds(outcome.launch.microseconds).c_str(),
         device.c_str());
  if (outcome.launch.device_us > 0) {
    printf("  device  %s, the model says %s\n",
           FormatMicroseconds(outcome.launch.device_us).c_str(),
           outcome.predicted_us > 0
               ? FormatMicroseconds(outcome.predicted_us).c_str()
               : "nothing");
  }
  printf(
      "  numbers %llu elements, largest error %.3g, %.0f %% of what is "
      "tolerated: %s\n",
      static_cast<unsigned long long>(outcome.launch.comparison.elements),
      outcome.launch.comparison.largest_error,
      outcome.launch.comparison.share * 100,
      good ? "agree with the f64 reference" : "WRONG");
}

void AppendJson(const Problem& problem, const Outcome& outcome,
                const std::string& device, bool good,
                client::JsonWriter& json) {
  json.OpenObject();
  json.String("problem", problem.title);
  json.Number("first_us", outcome.cold_us);
  json.Number("compile_us", outcome.compile_us);
  json.Number("again_us", outcome.warm_us);
  json.Number("again_compile_us", outcome.warm_compile_us);
  json.Number("kernels", uint64_t{outcome.kernels});
  json.String("device", device);
  json.Number("launch_us", outcome.launch.microseconds);
  json.Number("device_us", outcome.launch.device_us);
  json.Number("predicted_us", outcome.predicted_us);
  json.Number("elements", outcome.launch.comparison.elements);
  json.Number("beyond_tolerance", outcome.launch.comparison.beyond);
  json.Number("largest_error", outcome.launch.comparison.largest_error);
  json.Number("share_of_tolerance", outcome.launch.comparison.share);
  json.Bool("agrees", good);
  json.CloseObject();
}

Status RunCheck(const CheckFlags& flags, const Globals& globals,
                int* exit_code) {
  std::vector<std::string> ops = ProblemOps();
  if (!flags.op.empty()) ops = {flags.op};
  client::JsonWriter json;
  json.OpenObject();
  json.OpenArray("checks");
  for (const std::string& op : ops) {
    Problem problem;
    INGOT_CLIENT_RETURN_IF_ERROR(MakeProblem(op, flags.problem, &problem));
    Outcome outcome;
    std::string device;
    Status status = CheckOne(globals, flags, &problem, &outcome, &device);
    if (!status.ok()) return client::Annotate(status, problem.title);
    const bool good =
        outcome.launch.comparison.beyond == 0 && outcome.warm_compile_us == 0;
    if (!good) *exit_code = kExitDisagrees;
    if (globals.json()) {
      AppendJson(problem, outcome, device, good, json);
    } else {
      PrintText(problem, outcome, device, good);
    }
  }
  json.CloseArray();
  json.CloseObject();
  if (globals.json()) puts(json.text().c_str());
  return Status();
}

}  // namespace

void AddCheck(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "check",
      "get, load and launch a kernel and check its numbers; exit code "
      "6 if they disagree");
  auto flags = std::make_shared<CheckFlags>();
  app->add_option("op", flags->op,
                  "gemm, grouped_gemm, rmsnorm or silu_mul; all when left out");
  app->add_option("dims", flags->problem.dims,
                  "m=64 n=256 k=256, total_m=100 n=256 k=256 "
                  "g=4, or rows=17 n=4096");
  app->add_option(
         "--dtype", flags->problem.dtype,
         "bf16, f16 or f32; gemm: also e4m3fn and e5m2, with scales of "
         "rows and columns")
      ->capture_default_str();
  app->add_option("--out-dtype", flags->problem.out_dtype, "products: of d");
  app->add_option("--layout", flags->problem.layout,
                  "products: nn, nt, tn or tt")
      ->capture_default_str();
  app->add_option("--seed", flags->problem.seed, "of the random inputs")
      ->capture_default_str();
  app->add_flag("--measure", flags->measure,
                "time more launches on the device, beside the model's time");
  app->add_flag("--no-launch", flags->no_launch,
                "ask for the kernels only; needs no GPU");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  int* exit_code = registry.exit_code;
  app->callback(
      [=] { *run = [=] { return RunCheck(*flags, *globals, exit_code); }; });
}

}  // namespace ingot::ctl
