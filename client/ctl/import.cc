// ingotctl import: a bundle into a daemon's store.
#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "client/ctl/command.h"
#include "client/ctl/text_table.h"
#include "client/src/bundle_file.h"
#include "client/src/json_writer.h"
#include "ingot/v1/bundle.pb.h"
#include "ingot/v1/plan.pb.h"

namespace ingot::ctl {
namespace {

// Of one request.
constexpr size_t kMessageBytes = 1 << 20;
constexpr size_t kMostEntries = 256;
// How often an object is sent that the daemon forgets for want of space.
constexpr int kAttempts = 5;
constexpr size_t kShown = 20;

struct ImportFlags {
  std::string file;
  bool dry_run = false;
};

struct Counts {
  uint64_t imported = 0;
  uint64_t present = 0;
  uint64_t refused = 0;
};

struct Report {
  Counts kernels;
  Counts plans;
  uint64_t objects_sent = 0;
  uint64_t bytes_sent = 0;
  std::vector<std::pair<std::string, std::string>> refused;  // what, why
};

// One import. An error ends it; what was imported before stays, and another
// run goes on from there.
class Sender {
 public:
  Sender(Daemon* daemon, const client::BundleFile& file, bool dry_run)
      : daemon_(daemon), file_(file), dry_run_(dry_run) {}

  Status SendKernels() {
    const std::vector<client::BundleKernel>& kernels = file_.kernels();
    for (size_t next = 0; next < kernels.size();) {
      std::vector<Kernel> batch;
      size_t bytes = 0;
      while (next < kernels.size() && batch.size() < kMostEntries &&
             bytes < kMessageBytes) {
        Kernel kernel = {&kernels[next++], ""};
        INGOT_CLIENT_RETURN_IF_ERROR(
            file_.ReadRecord(*kernel.entry, &kernel.record));
        bytes += kernel.record.size();
        batch.push_back(std::move(kernel));
      }
      INGOT_CLIENT_RETURN_IF_ERROR(Offer(batch));
    }
    return Status();
  }

  Status SendPlans() {
    v1::ImportRequest request = NewRequest();
    std::vector<std::string> names;
    size_t bytes = 0;
    for (const client::BundlePlan& entry : file_.plans()) {
      std::string plan;
      INGOT_CLIENT_RETURN_IF_ERROR(file_.ReadPlan(entry, &plan));
      const std::string name =
          "plan of spec " + client::Hex(client::BytesOf(entry.spec_digest));
      if (LaunchesRefused(plan)) {
        Refuse(&report_.plans, name, "a kernel of it was refused");
        continue;
      }
      bytes += plan.size();
      request.add_plans(std::move(plan));
      names.push_back(name);
      if (bytes < kMessageBytes) continue;
      INGOT_CLIENT_RETURN_IF_ERROR(SendPlans(request, names));
      request.clear_plans();
      names.clear();
      bytes = 0;
    }
    return request.plans().empty() ? Status() : SendPlans(request, names);
  }

  const Report& report() const { return report_; }

 private:
  struct Kernel {
    const client::BundleKernel* entry;
    std::string record;
  };

  v1::ImportRequest NewRequest() const {
    v1::ImportRequest request;
    request.set_dry_run(dry_run_);
    return request;
  }

  Status Call(const v1::ImportRequest& request, v1::ImportResponse* response) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        daemon_->Call("Admin/Import", request, response));
    if (response->kernels_size() == request.kernels_size() &&
        response->plans_size() == request.plans_size() &&
        response->held_size() == request.parts_size()) {
      return Status();
    }
    return Error(INGOT_INTERNAL, "import: the daemon left entries unanswered");
  }

  void Refuse(Counts* counts, const std::string& what, const std::string& why) {
    ++counts->refused;
    report_.refused.emplace_back(what, why);
  }

  // False when the entry still has to be sent.
  bool Count(const v1::ImportResult& result, const std::string& what,
             Counts* counts) {
    switch (result.state()) {
      case v1::IMPORT_WANTED:
        return false;
      case v1::IMPORT_PRESENT:
        ++counts->present;
        return true;
      case v1::IMPORT_IMPORTED:
        ++counts->imported;
        return true;
      default:
        Refuse(counts, what, result.reason());
        return true;
    }
  }

  bool CountKernel(const v1::ImportResult& result, const Kernel& kernel) {
    const std::string key = client::BytesOf(kernel.entry->key);
    const uint64_t before = report_.kernels.refused;
    const bool done =
        Count(result, "kernel " + client::Hex(key), &report_.kernels);
    if (report_.kernels.refused > before) refused_keys_.insert(key);
    return done;
  }

  // Records first: objects follow only where they are wanted.
  Status Offer(const std::vector<Kernel>& batch) {
    v1::ImportRequest request = NewRequest();
    for (const Kernel& kernel : batch) {
      request.add_kernels()->set_record(kernel.record);
    }
    v1::ImportResponse response;
    INGOT_CLIENT_RETURN_IF_ERROR(Call(request, &response));
    std::vector<const Kernel*> wanted;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!CountKernel(response.kernels(static_cast<int>(i)), batch[i])) {
        wanted.push_back(&batch[i]);
      }
    }
    return SendWanted(wanted);
  }

  Status SendWanted(const std::vector<const Kernel*>& wanted) {
    std::vector<const Kernel*> batch;
    v1::ImportRequest request = NewRequest();
    size_t bytes = 0;
    const auto flush = [&] {
      if (batch.empty()) return Status();
      INGOT_CLIENT_RETURN_IF_ERROR(SendInline(request, batch));
      request.clear_kernels();
      batch.clear();
      bytes = 0;
      return Status();
    };
    for (const Kernel* kernel : wanted) {
      const client::BundleObject& object =
          file_.objects()[kernel->entry->object];
      const uint64_t size = kernel->record.size() + object.size;
      if (size > kMessageBytes) {
        INGOT_CLIENT_RETURN_IF_ERROR(SendInParts(*kernel, object));
        continue;
      }
      if (bytes + size > kMessageBytes) INGOT_CLIENT_RETURN_IF_ERROR(flush());
      v1::ImportKernel* out = request.add_kernels();
      out->set_record(kernel->record);
      INGOT_CLIENT_RETURN_IF_ERROR(
          file_.ReadObject(object, out->mutable_object()));
      batch.push_back(kernel);
      bytes += size;
      CountSent(object.size);
    }
    return flush();
  }

  void CountSent(uint64_t bytes) {
    ++report_.objects_sent;
    report_.bytes_sent += bytes;
  }

  Status SendInline(const v1::ImportRequest& request,
                    const std::vector<const Kernel*>& batch) {
    v1::ImportResponse response;
    INGOT_CLIENT_RETURN_IF_ERROR(Call(request, &response));
    for (size_t i = 0; i < batch.size(); ++i) {
      if (CountKernel(response.kernels(static_cast<int>(i)), *batch[i])) {
        continue;
      }
      return Error(INGOT_INTERNAL, "import: the daemon wants what it was sent");
    }
    return Status();
  }

  // From where an earlier attempt ended.
  Status SendInParts(const Kernel& kernel, const client::BundleObject& object) {
    std::string bytes;
    INGOT_CLIENT_RETURN_IF_ERROR(file_.ReadObject(object, &bytes));
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      uint64_t held = 0;
      bool asked = false;  // how much is there
      while (!asked || held < bytes.size()) {
        v1::ImportRequest request = NewRequest();
        v1::ObjectPart* part = request.add_parts();
        part->set_digest(client::BytesOf(object.digest));
        part->set_offset(held);
        part->set_total(bytes.size());
        if (asked) part->set_data(bytes.substr(held, kMessageBytes));
        v1::ImportResponse response;
        INGOT_CLIENT_RETURN_IF_ERROR(Call(request, &response));
        const uint64_t now = response.held(0);
        if (asked && now <= held) break;  // forgotten meanwhile
        if (asked) report_.bytes_sent += now - held;
        held = now;
        asked = true;
      }
      v1::ImportRequest request = NewRequest();
      request.add_kernels()->set_record(kernel.record);
      v1::ImportResponse response;
      INGOT_CLIENT_RETURN_IF_ERROR(Call(request, &response));
      if (CountKernel(response.kernels(0), kernel)) {
        ++report_.objects_sent;
        return Status();
      }
    }
    return Error(INGOT_RESOURCE_EXHAUSTED,
                 "import: the daemon has no room for an object of %zu bytes",
                 bytes.size());
  }

  bool LaunchesRefused(const std::string& bytes) const {
    v1::Plan plan;
    if (refused_keys_.empty() || !plan.ParseFromString(bytes)) return false;
    for (const v1::Variant& variant : plan.variants()) {
      for (const v1::Step& step : variant.recipe().steps()) {
        if (refused_keys_.count(step.launch().key()) > 0) return true;
      }
    }
    return false;
  }

  Status SendPlans(const v1::ImportRequest& request,
                   const std::vector<std::string>& names) {
    v1::ImportResponse response;
    INGOT_CLIENT_RETURN_IF_ERROR(Call(request, &response));
    for (size_t i = 0; i < names.size(); ++i) {
      if (!Count(response.plans(static_cast<int>(i)), names[i],
                 &report_.plans)) {
        return Error(INGOT_INTERNAL,
                     "import: the daemon wants a plan's object");
      }
    }
    return Status();
  }

  Daemon* const daemon_;
  const client::BundleFile& file_;
  const bool dry_run_;
  Report report_;
  std::set<std::string> refused_keys_;
};

void AppendCounts(const char* name, const Counts& counts,
                  client::JsonWriter* json) {
  json->OpenObject(name);
  json->Number("imported", counts.imported);
  json->Number("present", counts.present);
  json->Number("refused", counts.refused);
  json->CloseObject();
}

void PrintJson(const Report& report, bool dry_run) {
  client::JsonWriter json;
  json.OpenObject();
  json.Bool("dry_run", dry_run);
  AppendCounts("kernels", report.kernels, &json);
  AppendCounts("plans", report.plans, &json);
  json.Number("objects_sent", report.objects_sent);
  json.Number("bytes_sent", report.bytes_sent);
  json.OpenArray("refused");
  for (const auto& [what, why] : report.refused) {
    json.OpenObject();
    json.String("entry", what);
    json.String("reason", why);
    json.CloseObject();
  }
  json.CloseArray();
  json.CloseObject();
  puts(json.text().c_str());
}

void PrintText(const Report& report, bool dry_run) {
  const auto row = [](const char* name, const Counts& counts) {
    return std::vector<std::string>{name, std::to_string(counts.imported),
                                    std::to_string(counts.present),
                                    std::to_string(counts.refused)};
  };
  const std::string table = FormatTable(
      {{"", dry_run ? "WOULD IMPORT" : "IMPORTED", "ALREADY THERE", "REFUSED"},
       row("kernels", report.kernels),
       row("plans", report.plans)});
  fputs(table.c_str(), stdout);
  if (report.kernels.imported + report.plans.imported == 0 &&
      report.refused.empty()) {
    puts("nothing new");
  }
  printf("sent %llu objects, %s\n",
         static_cast<unsigned long long>(report.objects_sent),
         FormatBytes(static_cast<double>(report.bytes_sent)).c_str());
  for (size_t i = 0; i < std::min(report.refused.size(), kShown); ++i) {
    printf("refused %s: %s\n", report.refused[i].first.c_str(),
           report.refused[i].second.c_str());
  }
  if (report.refused.size() > kShown) {
    printf("and %zu more; --output json shows all\n",
           report.refused.size() - kShown);
  }
}

Status RunImport(const ImportFlags& flags, const Globals& globals,
                 int* exit_code) {
  std::shared_ptr<const client::BundleFile> file;
  INGOT_CLIENT_RETURN_IF_ERROR(client::BundleFile::Open(flags.file, &file));
  // Nothing of a damaged bundle is sent.
  INGOT_CLIENT_RETURN_IF_ERROR(file->CheckAll());
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  Sender sender(daemon.get(), *file, flags.dry_run);
  Status status = sender.SendKernels();
  if (status.ok()) status = sender.SendPlans();
  if (!status.ok()) {
    status.message += "\n" + std::to_string(sender.report().kernels.imported) +
                      " kernels and " +
                      std::to_string(sender.report().plans.imported) +
                      " plans were imported before; the same command goes on "
                      "from there";
    return status;
  }
  if (globals.json()) {
    PrintJson(sender.report(), flags.dry_run);
  } else {
    PrintText(sender.report(), flags.dry_run);
  }
  if (!sender.report().refused.empty()) *exit_code = kExitDisagrees;
  return Status();
}

}  // namespace

void AddImport(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "import",
      "put what a bundle holds into the daemon's store, each entry checked "
      "first; can be repeated, and goes on where it was interrupted; exit code "
      "6 if entries were refused");
  auto flags = std::make_shared<ImportFlags>();
  app->add_option("bundle", flags->file, "what `ingotctl export` wrote")
      ->required();
  app->add_flag("--dry-run", flags->dry_run,
                "check everything and change nothing");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  int* exit_code = registry.exit_code;
  app->callback(
      [=] { *run = [=] { return RunImport(*flags, *globals, exit_code); }; });
}

}  // namespace ingot::ctl
