// ingotctl get: asks for a kernel and shows what came.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/spec_flags.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::ctl {
namespace {

struct GetFlags {
  SpecFlags spec;
  std::string fetch = "all";
  std::string save;
  bool warmup = false;
};

v1::Fetch FetchOf(const std::string& word) {
  if (word == "matching") return v1::FETCH_MATCHING;
  if (word == "plan") return v1::FETCH_PLAN_ONLY;
  return v1::FETCH_ALL;
}

const char* SourceName(v1::Source source) {
  switch (source) {
    case v1::SOURCE_MEMORY:
      return "memory";
    case v1::SOURCE_STORE:
      return "store";
    case v1::SOURCE_COMPILED:
      return "compiled";
    case v1::SOURCE_COALESCED:
      return "coalesced";
    case v1::SOURCE_REMOTE:
      return "remote";
    default:
      return "-";
  }
}

Status ReadLarge(Daemon* daemon, v1::Kernel* kernel) {
  v1::ReadObjectRequest request;
  request.set_digest(kernel->record().digest());
  v1::ObjectChunk chunk;
  return daemon->Stream("Kernels/ReadObject", request, &chunk, [&] {
    kernel->mutable_object()->append(chunk.data());
    return Status();
  });
}

Status Save(Daemon* daemon, const std::string& folder,
            v1::GetKernelResponse* reply) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (v1::Kernel& kernel : *reply->mutable_kernels()) {
    if (kernel.bytes_follow()) {
      INGOT_CLIENT_RETURN_IF_ERROR(ReadLarge(daemon, &kernel));
    }
    const std::string path =
        folder + "/" + kernel.record().description().symbol() + "." +
        client::Hex(kernel.record().key()).substr(0, 12) + ".hsaco";
    std::ofstream file(path, std::ios::binary);
    file << kernel.object();
    file.close();
    if (!file) {
      return Error(INGOT_FAILED_PRECONDITION, "%s cannot be written",
                   path.c_str());
    }
    fprintf(stderr, "wrote %s\n", path.c_str());
  }
  return Status();
}

// Launches and fills of a variant, by the names of its kernels.
std::string Steps(const v1::Variant& variant) {
  std::string text;
  for (const v1::Step& step : variant.recipe().steps()) {
    if (!text.empty()) text += ", ";
    text += step.has_fill() ? "fill" : step.launch().symbol();
  }
  return text;
}

void PrintText(const v1::GetKernelResponse& reply, double microseconds) {
  const v1::Plan& plan = reply.plan();
  printf("spec %s  %s for %s\n", client::Hex(plan.spec_digest()).c_str(),
         plan.resolved_spec().op().c_str(),
         plan.resolved_spec().target().c_str());
  printf("answered in %s, compiling took %s\n\n",
         FormatMicroseconds(microseconds).c_str(),
         FormatMicroseconds(static_cast<double>(reply.compile_us())).c_str());
  std::vector<std::vector<std::string>> variants = {{"VARIANT", "STEPS"}};
  for (const v1::Variant& variant : plan.variants()) {
    variants.push_back({variant.name(), Steps(variant)});
  }
  fputs(FormatTable(variants).c_str(), stdout);
  std::vector<std::vector<std::string>> kernels = {
      {"KEY", "SOURCE", "SIZE", "VGPRS", "LDS", "SYMBOL"}};
  for (const v1::Kernel& kernel : reply.kernels()) {
    const v1::Description& d = kernel.record().description();
    kernels.push_back({client::Hex(kernel.record().key()).substr(0, 12),
                       SourceName(kernel.source()),
                       FormatBytes(static_cast<double>(kernel.record().size())),
                       std::to_string(d.vgprs()), std::to_string(d.lds_bytes()),
                       d.symbol()});
  }
  if (kernels.size() > 1) printf("\n%s", FormatTable(kernels).c_str());
}

Status RunGet(const GetFlags& flags, const Globals& globals) {
  v1::GetKernelRequest request;
  INGOT_CLIENT_RETURN_IF_ERROR(MakeSpec(flags.spec, request.mutable_spec()));
  request.set_api_version(1);
  request.set_fetch(FetchOf(flags.fetch));
  request.set_omit_bytes(flags.save.empty());
  if (flags.warmup) request.set_priority(v1::PRIORITY_WARMUP);
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::GetKernelResponse reply;
  const auto start = std::chrono::steady_clock::now();
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Kernels/GetKernel", request, &reply));
  const std::chrono::duration<double, std::micro> took =
      std::chrono::steady_clock::now() - start;
  if (!flags.save.empty()) {
    INGOT_CLIENT_RETURN_IF_ERROR(Save(daemon.get(), flags.save, &reply));
  }
  if (globals.json()) {
    for (v1::Kernel& kernel : *reply.mutable_kernels()) kernel.clear_object();
    puts(ToJson(reply).c_str());
  } else {
    PrintText(reply, took.count());
  }
  return Status();
}

}  // namespace

void AddGet(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "get", "ask for a kernel, compiling it when it is not there");
  auto flags = std::make_shared<GetFlags>();
  flags->spec.Add(app);
  app->add_option("--fetch", flags->fetch,
                  "all kernels of the plan, those of the matching variant, or "
                  "the plan alone (compiles nothing)")
      ->check(CLI::IsMember({"all", "matching", "plan"}))
      ->capture_default_str();
  app->add_option("--save", flags->save, "write the code objects to a folder");
  app->add_flag("--warmup", flags->warmup,
                "queue behind the requests of running programs");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  app->callback([=] { *run = [=] { return RunGet(*flags, *globals); }; });
}

}  // namespace ingot::ctl
