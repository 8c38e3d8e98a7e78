// ingotctl explain, candidates: why a spec is answered as it is, and what else
// it could be tuned to.
#include <cstdio>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/spec_flags.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct ExplainFlags {
  SpecFlags spec;
  uint64_t pin_epoch = 0;
  uint32_t limit = 0;
};

std::string TuningText(
    const google::protobuf::RepeatedPtrField<v1::Tuning>& tunings) {
  std::string text;
  for (const v1::Tuning& tuning : tunings) {
    if (!text.empty()) text += ' ';
    text += tuning.name() + "=" + std::to_string(tuning.value());
  }
  return text.empty() ? "-" : text;
}

std::string ShortKey(const std::string& key) {
  return client::Hex(key).substr(0, 12);
}

// Long values, as fingerprints, by their beginning.
std::string ValueText(const std::string& value) {
  constexpr size_t kShown = 60;
  if (value.empty()) return "-";
  return value.size() <= kShown ? value : value.substr(0, kShown) + "...";
}

void PrintVariants(const v1::ExplainResponse& reply) {
  std::vector<std::vector<std::string>> rows = {
      {"", "VARIANT", "KERNELS", "TAKEN WHEN"}};
  for (const v1::ExplainedVariant& variant : reply.variants()) {
    std::string kernels;
    for (const uint32_t kernel : variant.kernels()) {
      if (!kernels.empty()) kernels += ' ';
      kernels += ShortKey(reply.kernels(static_cast<int>(kernel)).key());
    }
    rows.push_back({variant.matches() ? "*" : "", variant.name(), kernels,
                    variant.guards().empty() ? "always" : variant.guards()});
  }
  printf("\n%s", FormatTable(rows).c_str());
}

void PrintKernels(const v1::ExplainResponse& reply) {
  std::vector<std::vector<std::string>> rows = {{"KEY", "STATE", "SYMBOL"}};
  for (const v1::ExplainedKernel& kernel : reply.kernels()) {
    rows.push_back({ShortKey(kernel.key()),
                    kernel.refusal().empty() ? kernel.state() : "refused",
                    kernel.symbol()});
  }
  printf("\n%s", FormatTable(rows).c_str());
  for (const v1::ExplainedKernel& kernel : reply.kernels()) {
    const std::string key = ShortKey(kernel.key());
    if (!kernel.refusal().empty()) {
      printf("\n%s is refused: %s\n", key.c_str(), kernel.refusal().c_str());
    }
    if (kernel.state() != "missing") continue;
    if (kernel.nearest_key().empty()) {
      printf("\n%s is missing: nothing of the op is stored\n", key.c_str());
      continue;
    }
    printf("\n%s is missing: the nearest of %llu is %s %s, which has\n",
           key.c_str(), static_cast<unsigned long long>(reply.compared()),
           ShortKey(kernel.nearest_key()).c_str(),
           kernel.nearest_symbol().c_str());
    std::vector<std::vector<std::string>> fields = {
        {"  FIELD", "WANTED", "STORED"}};
    for (const v1::FieldDifference& difference : kernel.differences()) {
      fields.push_back({"  " + difference.field(),
                        ValueText(difference.wanted()),
                        ValueText(difference.stored())});
    }
    fputs(FormatTable(fields).c_str(), stdout);
  }
}

template <typename Response>
void PrintCandidates(const Response& reply) {
  std::vector<std::vector<std::string>> rows = {
      {"", "TUNING", "PREDICTED", "FITS"}};
  for (const v1::Candidate& candidate : reply.candidates()) {
    rows.push_back({candidate.chosen() ? "*" : "",
                    TuningText(candidate.tuning()),
                    candidate.predicted_us() == 0
                        ? "-"
                        : FormatMicroseconds(candidate.predicted_us()),
                    candidate.refusal().empty() ? "yes" : candidate.refusal()});
  }
  fputs(FormatTable(rows).c_str(), stdout);
}

Status RunExplain(const ExplainFlags& flags, const Globals& globals) {
  v1::ExplainRequest request;
  INGOT_CLIENT_RETURN_IF_ERROR(MakeSpec(flags.spec, request.mutable_spec()));
  request.set_pin_epoch(flags.pin_epoch);
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::ExplainResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Explain", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  printf("spec   %s\n", client::Hex(reply.spec_digest()).c_str());
  printf("epoch  %llu, tuned by",
         static_cast<unsigned long long>(reply.epoch()));
  if (reply.tuning().empty()) printf(" no record");
  for (const v1::TuningRecord& record : reply.tuning()) {
    printf(" record %llu (%s)", static_cast<unsigned long long>(record.epoch()),
           TuningText(record.tuning()).c_str());
  }
  printf("\n");
  PrintVariants(reply);
  PrintKernels(reply);
  printf("\ncandidates (ingotctl tune add stores a measured winner):\n");
  PrintCandidates(reply);
  return Status();
}

Status RunCandidates(const ExplainFlags& flags, const Globals& globals) {
  v1::CandidatesRequest request;
  INGOT_CLIENT_RETURN_IF_ERROR(MakeSpec(flags.spec, request.mutable_spec()));
  request.set_limit(flags.limit);
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::CandidatesResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/ListCandidates", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    PrintCandidates(reply);
  }
  return Status();
}

}  // namespace

void AddExplainCommands(const Registry& registry) {
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  CLI::App* explain = registry.app->add_subcommand(
      "explain",
      "why a spec hits or misses: its plan, what is stored of it, the nearest "
      "stored kernels; * marks what the plan takes");
  auto explained = std::make_shared<ExplainFlags>();
  explained->spec.Add(explain);
  explain->add_option("--pin-epoch", explained->pin_epoch,
                      "the answer of this tuning epoch");
  explain->callback(
      [=] { *run = [=] { return RunExplain(*explained, *globals); }; });

  CLI::App* candidates = registry.app->add_subcommand(
      "candidates", "what a spec could be tuned to, best first");
  auto listed = std::make_shared<ExplainFlags>();
  listed->spec.Add(candidates);
  candidates->add_option("--limit", listed->limit, "so many at most");
  candidates->callback(
      [=] { *run = [=] { return RunCandidates(*listed, *globals); }; });
}

}  // namespace ingot::ctl
