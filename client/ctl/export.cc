// ingotctl export: what a daemon holds, as a bundle.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "client/ctl/bundle_writer.h"
#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/keys.h"
#include "client/ctl/manifest.h"
#include "client/ctl/spec_flags.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/bundle.pb.h"

namespace ingot::ctl {
namespace {

// Of the specs in one call; far below the limit of a request.
constexpr size_t kMostSpecs = 1 << 20;
// An export is one long call.
constexpr double kLeastSeconds = 3600;
constexpr size_t kShown = 10;

struct ExportFlags {
  std::string to;
  std::string op;
  std::string target;
  std::vector<std::string> keys;
  std::vector<std::string> specs;
  std::string manifest;
  bool all_fingerprints = false;
  bool partial = false;
};

struct Missing {
  std::vector<std::string> names;  // of specs and keys
  uint64_t plans = 0;
  uint64_t disabled = 0;  // kernels
};

// Puts a stream of ExportResponse into a bundle.
class Receiver {
 public:
  explicit Receiver(BundleWriter* writer) : writer_(writer) {}

  Status Take(const v1::ExportResponse& response) {
    if (!response.daemon().empty()) daemon_ = response.daemon();
    for (const v1::ObjectPart& part : response.parts()) {
      INGOT_CLIENT_RETURN_IF_ERROR(TakePart(part));
    }
    for (const std::string& record : response.records()) {
      INGOT_CLIENT_RETURN_IF_ERROR(writer_->AddRecord(record));
    }
    for (const v1::ExportedPlan& plan : response.plans()) {
      INGOT_CLIENT_RETURN_IF_ERROR(
          writer_->AddPlan(plan.plan(), plan.serving()));
    }
    if (response.has_summary()) summary_ = response.summary();
    ended_ |= response.has_summary();
    return Status();
  }

  bool ended() const { return ended_; }
  const std::string& daemon() const { return daemon_; }
  const v1::ExportSummary& summary() const { return summary_; }

 private:
  Status TakePart(const v1::ObjectPart& part) {
    if (part.offset() == 0) object_.clear();
    if (part.offset() != object_.size()) {
      return Error(INGOT_DATA_LOSS, "export: parts of an object do not join");
    }
    object_ += part.data();
    if (object_.size() < part.total()) return Status();
    return writer_->AddObject(part.digest(), object_);
  }

  BundleWriter* const writer_;
  std::string object_;
  std::string daemon_;
  v1::ExportSummary summary_;
  bool ended_ = false;
};

Status ExportOnce(Daemon* daemon, const v1::ExportRequest& request,
                  Receiver* receiver) {
  v1::ExportResponse response;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Stream("Admin/Export", request, &response,
                     [&] { return receiver->Take(response); }));
  if (receiver->ended()) return Status();
  return Error(INGOT_DATA_LOSS, "export: the daemon's stream ended too early");
}

Status ReadSpecs(const ExportFlags& flags, std::vector<v1::Spec>* specs) {
  for (const std::string& file : flags.specs) {
    SpecFlags spec;
    spec.file = file;
    specs->emplace_back();
    INGOT_CLIENT_RETURN_IF_ERROR(MakeSpec(spec, &specs->back()));
  }
  if (flags.manifest.empty()) return Status();
  return ReadManifest(flags.manifest, specs);
}

// A call for as many specs as fit a request, until all were asked for.
Status ExportSpecs(Daemon* daemon, const std::vector<v1::Spec>& specs,
                   BundleWriter* writer, std::string* version,
                   Missing* missing) {
  for (size_t next = 0; next < specs.size();) {
    const size_t first = next;
    v1::ExportRequest request;
    for (size_t bytes = 0; next < specs.size() && bytes < kMostSpecs; ++next) {
      bytes += specs[next].ByteSizeLong();
      *request.add_specs() = specs[next];
    }
    Receiver receiver(writer);
    INGOT_CLIENT_RETURN_IF_ERROR(ExportOnce(daemon, request, &receiver));
    *version = receiver.daemon();
    missing->plans += receiver.summary().incomplete_plans();
    missing->disabled += receiver.summary().disabled();
    for (const uint32_t index : receiver.summary().missing_specs()) {
      missing->names.push_back("spec " + std::to_string(first + index + 1) +
                               " (" + specs[first + index].op() + ")");
    }
  }
  return Status();
}

Status ExportMatching(Daemon* daemon, const ExportFlags& flags,
                      BundleWriter* writer, std::string* version,
                      Missing* missing) {
  v1::ExportRequest request;
  request.set_op(flags.op);
  request.set_target(flags.target);
  request.set_all_fingerprints(flags.all_fingerprints);
  for (const std::string& text : flags.keys) {
    INGOT_CLIENT_RETURN_IF_ERROR(ResolveKey(daemon, text, request.add_keys()));
  }
  Receiver receiver(writer);
  INGOT_CLIENT_RETURN_IF_ERROR(ExportOnce(daemon, request, &receiver));
  *version = receiver.daemon();
  missing->plans = receiver.summary().incomplete_plans();
  missing->disabled = receiver.summary().disabled();
  for (const std::string& key : receiver.summary().missing_keys()) {
    missing->names.push_back("key " + client::Hex(key));
  }
  return Status();
}

Status TellMissing(const Missing& missing) {
  std::string text;
  for (size_t i = 0; i < std::min(missing.names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + missing.names[i];
  }
  if (missing.names.size() > kShown) text += ", ...";
  if (missing.disabled > 0) {
    text += "; " + std::to_string(missing.disabled) +
            " kernels are disabled (ingotctl disabled)";
  }
  return Error(INGOT_NOT_FOUND,
               "not all that was asked for is stored, so no bundle was "
               "written: %s; have them compiled first (ingotctl get), or give "
               "--partial",
               text.c_str());
}

void PrintText(const ExportFlags& flags, const v1::BundleManifest& manifest,
               const Missing& missing) {
  std::vector<std::vector<std::string>> rows = {
      {"OP", "PLANS", "KERNELS", "STATE", "FINGERPRINT"}};
  for (const v1::BundleContent& content : manifest.contents()) {
    rows.push_back({content.op(), std::to_string(content.plans()),
                    std::to_string(content.kernels()),
                    content.serving() ? "serving" : "kept",
                    client::Hex(content.fingerprint())});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  printf("wrote %s: %llu plans, %llu kernels, %llu objects of %s\n",
         flags.to.c_str(), static_cast<unsigned long long>(manifest.plans()),
         static_cast<unsigned long long>(manifest.kernels()),
         static_cast<unsigned long long>(manifest.objects()),
         FormatBytes(static_cast<double>(manifest.object_bytes())).c_str());
  if (missing.plans > 0) {
    printf("left out %llu plans, of which not all kernels are stored\n",
           static_cast<unsigned long long>(missing.plans));
  }
  if (missing.disabled > 0) {
    printf("left out %llu kernels, which are disabled\n",
           static_cast<unsigned long long>(missing.disabled));
  }
  for (const std::string& name : missing.names) {
    printf("not stored: %s\n", name.c_str());
  }
}

void PrintJson(const v1::BundleManifest& manifest, const Missing& missing) {
  client::JsonWriter json;
  json.OpenObject();
  WriteFields(manifest, &json);
  json.Number("incomplete_plans", missing.plans);
  json.Number("disabled_kernels", missing.disabled);
  json.OpenArray("missing");
  for (const std::string& name : missing.names) json.String(nullptr, name);
  json.CloseArray();
  json.CloseObject();
  puts(json.text().c_str());
}

Status RunExport(const ExportFlags& flags, Globals globals) {
  globals.timeout_s = std::max(globals.timeout_s, kLeastSeconds);
  std::vector<v1::Spec> specs;
  INGOT_CLIENT_RETURN_IF_ERROR(ReadSpecs(flags, &specs));
  const bool by_spec = !flags.specs.empty() || !flags.manifest.empty();
  if (by_spec && (!flags.op.empty() || !flags.target.empty() ||
                  !flags.keys.empty() || flags.all_fingerprints)) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "export: found --spec or --manifest with other filters, "
                 "allowed alone");
  }
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  std::unique_ptr<BundleWriter> writer;
  INGOT_CLIENT_RETURN_IF_ERROR(BundleWriter::Create(flags.to, &writer));
  std::string version;
  Missing missing;
  INGOT_CLIENT_RETURN_IF_ERROR(
      by_spec
          ? ExportSpecs(daemon.get(), specs, writer.get(), &version, &missing)
          : ExportMatching(daemon.get(), flags, writer.get(), &version,
                           &missing));
  if (!missing.names.empty() && !flags.partial) return TellMissing(missing);
  if (writer->empty() && !flags.partial) {
    return Error(INGOT_NOT_FOUND,
                 "nothing that matches is stored, so no bundle was written");
  }
  v1::BundleManifest manifest;
  manifest.set_tool(std::string("ingotctl ") + ingot_version());
  manifest.set_daemon("ingotd " + version);
  manifest.set_created_unix_ms(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
  INGOT_CLIENT_RETURN_IF_ERROR(writer->Finish(&manifest));
  if (globals.json()) {
    PrintJson(manifest, missing);
  } else {
    PrintText(flags, manifest, missing);
  }
  return Status();
}

}  // namespace

void AddExport(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "export",
      "write plans, kernels and code objects to a bundle, a file that other "
      "daemons import and that clients use in place; exit code 5 if something "
      "that was asked for is not stored");
  auto flags = std::make_shared<ExportFlags>();
  app->add_option("--to", flags->to, "the file; replaced in one step")
      ->required();
  app->add_option("--op", flags->op, "only of this op");
  app->add_option("--target", flags->target, "only for this target");
  app->add_option("--key", flags->keys,
                  "only these kernels: keys, or their first digits");
  app->add_option("--spec", flags->specs,
                  "only what this spec needs: a file with the JSON form of "
                  "ingot.v1.Spec; can be repeated");
  app->add_option("--manifest", flags->manifest,
                  "only what these specs need: a file with one on each line");
  app->add_flag("--all-fingerprints", flags->all_fingerprints,
                "also what other versions of the ops compiled");
  app->add_flag("--partial", flags->partial,
                "write what is there, even if something is missing");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  app->callback([=] { *run = [=] { return RunExport(*flags, *globals); }; });
}

}  // namespace ingot::ctl
