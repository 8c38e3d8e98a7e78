// ingotctl coverage: what share of recorded traffic a manifest or a model
// covers.
#include <algorithm>
#include <cstdio>

#include "client/ctl/command.h"
#include "client/ctl/coverage_report.h"
#include "client/ctl/manifest.h"
#include "client/ctl/spec_sources.h"
#include "client/ctl/text_table.h"
#include "client/src/json_writer.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::ctl {
namespace {

struct CoverageFlags {
  SpecSources sources;
  std::vector<std::string> recorded;
  std::string by = "specs";
  double at_least = 100;
  size_t limit = 20;
};

// Of all variants. Nothing for what the daemon refuses.
Status KeysOf(Daemon* daemon, const v1::Spec& spec,
              std::set<std::string>* keys) {
  v1::GetKernelRequest request;
  request.set_api_version(1);
  *request.mutable_spec() = spec;
  request.set_fetch(v1::FETCH_PLAN_ONLY);
  v1::GetKernelResponse reply;
  const Status status = daemon->Call("Kernels/GetKernel", request, &reply);
  if (status.code == INGOT_INVALID_ARGUMENT ||
      status.code == INGOT_UNIMPLEMENTED ||
      status.code == INGOT_FAILED_PRECONDITION) {
    return Status();
  }
  for (const v1::Variant& variant : reply.plan().variants()) {
    for (const v1::Step& step : variant.recipe().steps()) {
      if (step.has_launch()) keys->insert(step.launch().key());
    }
  }
  return status;
}

template <typename Coverage>
Status ReportWith(Coverage* coverage, const std::vector<NamedSpec>& listed,
                  const std::vector<v1::RecordedSpec>& recorded,
                  CoverageReport* report) {
  for (const NamedSpec& spec : listed) {
    INGOT_CLIENT_RETURN_IF_ERROR(coverage->Add(spec.spec));
  }
  return Report(
      recorded,
      [&](const v1::RecordedSpec& spec, bool* covered) {
        return coverage->Covers(spec, covered);
      },
      report);
}

// "gemm m n=4096 k=4096 a:bf16 b:bf16 d:bf16 layout=nt", as `get` takes it.
std::string SpecText(const v1::Spec& spec) {
  std::string text = spec.op();
  for (const v1::Dim& dim : spec.dims()) {
    text += " " + dim.name();
    if (dim.has_value()) text += "=" + std::to_string(dim.value());
    if (dim.range().max() != 0 || dim.range().min() != 0) {
      text += "=" + std::to_string(dim.range().min()) + ".." +
              std::to_string(dim.range().max());
    }
  }
  for (const v1::Operand& operand : spec.operands()) {
    text += " " + operand.name() + ":" + operand.dtype();
  }
  for (const v1::Attr& attr : spec.attrs()) {
    if (attr.has_string_value()) {
      text += " " + attr.name() + "=" + attr.string_value();
    }
  }
  return text;
}

std::string Percent(double share) {
  char text[32];
  // What is not all is not shown as all.
  const double percent = share < 1 ? std::min(share * 100, 99.9) : 100;
  snprintf(text, sizeof(text), "%.1f %%", percent);
  return text;
}

void PrintText(const CoverageReport& report, size_t limit) {
  printf("requests  %llu of %llu covered, %s\n",
         static_cast<unsigned long long>(report.requests_covered),
         static_cast<unsigned long long>(report.requests),
         Percent(report.RequestShare()).c_str());
  printf("specs     %llu of %llu covered, %s\n",
         static_cast<unsigned long long>(report.specs_covered),
         static_cast<unsigned long long>(report.specs),
         Percent(report.SpecShare()).c_str());
  if (report.uncovered.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"REQUESTS", "LAST", "DIGEST", "NOT COVERED"}};
  for (const v1::RecordedSpec& spec : report.uncovered) {
    if (limit != 0 && rows.size() > limit) break;
    rows.push_back({std::to_string(spec.traffic().requests()),
                    spec.traffic().last_result(),
                    client::Hex(spec.spec_digest()).substr(0, 12),
                    SpecText(spec.spec())});
  }
  const size_t hidden = report.uncovered.size() - (rows.size() - 1);
  printf("\n%s", FormatTable(rows).c_str());
  if (hidden > 0) printf("and %zu more: --limit 0 shows all\n", hidden);
}

void PrintJson(const CoverageReport& report) {
  client::JsonWriter json;
  json.OpenObject();
  json.Number("requests", report.requests);
  json.Number("requests_covered", report.requests_covered);
  json.Number("request_share", report.RequestShare());
  json.Number("specs", report.specs);
  json.Number("specs_covered", report.specs_covered);
  json.Number("spec_share", report.SpecShare());
  json.OpenArray("uncovered");
  for (const v1::RecordedSpec& spec : report.uncovered) {
    json.OpenObject();
    json.String("spec_digest", client::Hex(spec.spec_digest()));
    json.Number("requests", spec.traffic().requests());
    json.String("last_result", spec.traffic().last_result());
    json.String("spec", SpecText(spec.spec()));
    json.CloseObject();
  }
  json.CloseArray();
  json.CloseObject();
  puts(json.text().c_str());
}

Status RunCoverage(const CoverageFlags& flags, const Globals& globals,
                   int* exit_code) {
  if (flags.sources.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "coverage: found nothing that covers, allowed --model or "
                 "--manifest");
  }
  std::vector<NamedSpec> listed;
  INGOT_CLIENT_RETURN_IF_ERROR(ReadSpecs(flags.sources, &listed));
  std::vector<v1::RecordedSpec> recorded;
  INGOT_CLIENT_RETURN_IF_ERROR(ReadRecorded(flags.recorded, &recorded));
  CoverageReport report;
  if (flags.by == "specs") {
    SpecCoverage coverage;
    INGOT_CLIENT_RETURN_IF_ERROR(
        ReportWith(&coverage, listed, recorded, &report));
  } else {
    std::unique_ptr<Daemon> daemon;
    INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
    KernelCoverage coverage(
        [&](const v1::Spec& spec, std::set<std::string>* keys) {
          return KeysOf(daemon.get(), spec, keys);
        });
    INGOT_CLIENT_RETURN_IF_ERROR(
        ReportWith(&coverage, listed, recorded, &report));
  }
  if (globals.json()) {
    PrintJson(report);
  } else {
    PrintText(report, flags.limit);
  }
  if (report.RequestShare() * 100 < flags.at_least) *exit_code = kExitDisagrees;
  return Status();
}

}  // namespace

void AddCoverage(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "coverage",
      "what share of recorded requests a model or a manifest covers; exit "
      "code 6 when less than --at-least");
  auto flags = std::make_shared<CoverageFlags>();
  flags->sources.Add(app);
  app->add_option("--recorded", flags->recorded,
                  "files that `record` wrote; counts of one spec add up")
      ->required();
  app->add_option("--by", flags->by,
                  "specs: a request is covered by its spec, whatever its count "
                  "of tokens; kernels: by specs that need the same kernels, "
                  "of which a daemon is asked")
      ->check(CLI::IsMember({"specs", "kernels"}))
      ->capture_default_str();
  app->add_option("--at-least", flags->at_least, "percent of requests")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app->add_option("--limit", flags->limit,
                  "specs to list that are not covered; 0: all")
      ->capture_default_str();
  const Registry r = registry;
  app->callback([=] {
    *r.run = [=] { return RunCoverage(*flags, *r.globals, r.exit_code); };
  });
}

}  // namespace ingot::ctl
