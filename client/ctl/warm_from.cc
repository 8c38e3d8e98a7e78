// ingotctl warm-from: has a daemon compile what another one was asked for, so
// that a new version has its kernels before it serves.
#include <cstdio>

#include "client/ctl/command.h"
#include "client/src/json_writer.h"
#include "ingot/v1/admin.pb.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::ctl {
namespace {

struct WarmFlags {
  std::string from;
  std::string op;
};

struct Outcome {
  uint64_t specs = 0;
  uint64_t compiled = 0;  // specs that needed a compile
  uint64_t present = 0;
  std::vector<std::string> refusals;
};

void Count(const v1::IndexedResult& result, Outcome* outcome) {
  if (result.code() != 0) {
    outcome->refusals.push_back(result.message());
    return;
  }
  bool compiled = false;
  for (const v1::Kernel& kernel : result.response().kernels()) {
    compiled = compiled || kernel.source() == v1::SOURCE_COMPILED ||
               kernel.source() == v1::SOURCE_COALESCED;
  }
  ++(compiled ? outcome->compiled : outcome->present);
}

// One page of the other daemon's specs.
Status WarmPage(Daemon* into, const v1::ListSpecsResponse& page,
                Outcome* outcome) {
  v1::GetKernelsRequest batch;
  for (const v1::Spec& spec : page.specs()) {
    v1::GetKernelRequest* request = batch.add_requests();
    request->set_api_version(1);
    *request->mutable_spec() = spec;
    request->set_priority(v1::PRIORITY_WARMUP);
    request->set_omit_bytes(true);
  }
  outcome->specs += static_cast<uint64_t>(page.specs_size());
  v1::GetKernelsResponse part;
  return into->Stream("Kernels/GetKernels", batch, &part, [&] {
    for (const v1::IndexedResult& result : part.results()) {
      Count(result, outcome);
    }
    return Status();
  });
}

void Print(const Outcome& outcome, const Globals& globals) {
  if (globals.json()) {
    client::JsonWriter json;
    json.OpenObject(nullptr);
    json.Number("specs", outcome.specs);
    json.Number("compiled", outcome.compiled);
    json.Number("present", outcome.present);
    json.OpenArray("refusals");
    for (const std::string& why : outcome.refusals) json.String(nullptr, why);
    json.CloseArray();
    json.CloseObject();
    puts(json.text().c_str());
    return;
  }
  printf("%llu specs: %llu compiled, %llu already there, %zu refused\n",
         static_cast<unsigned long long>(outcome.specs),
         static_cast<unsigned long long>(outcome.compiled),
         static_cast<unsigned long long>(outcome.present),
         outcome.refusals.size());
  for (const std::string& why : outcome.refusals) {
    printf("refused: %s\n", why.c_str());
  }
}

Status RunWarm(const WarmFlags& flags, const Globals& globals, int* exit_code) {
  Globals source = globals;
  source.address = flags.from;
  std::unique_ptr<Daemon> from;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(source, &from));
  std::unique_ptr<Daemon> into;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &into));
  Outcome outcome;
  v1::ListSpecsRequest request;
  request.set_op(flags.op);
  do {
    v1::ListSpecsResponse page;
    INGOT_CLIENT_RETURN_IF_ERROR(from->Call("Admin/ListSpecs", request, &page));
    INGOT_CLIENT_RETURN_IF_ERROR(WarmPage(into.get(), page, &outcome));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (!outcome.refusals.empty()) *exit_code = kExitDisagrees;
  Print(outcome, globals);
  return Status();
}

}  // namespace

void AddWarmFrom(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "warm-from", "compile on this daemon what another one was asked for");
  auto flags = std::make_shared<WarmFlags>();
  app->add_option("other", flags->from,
                  "address of the daemon whose specs are taken")
      ->required();
  app->add_option("--op", flags->op, "only of this op");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  int* exit_code = registry.exit_code;
  app->callback(
      [=] { *run = [=] { return RunWarm(*flags, *globals, exit_code); }; });
}

}  // namespace ingot::ctl
