// ingotctl record: writes what live traffic asks a daemon for, in lines that
// `warm` and `coverage` read.
#include <algorithm>
#include <cstdio>
#include <map>

#include "client/ctl/command.h"
#include "client/ctl/interrupt.h"
#include "client/ctl/json.h"
#include "client/ctl/manifest.h"
#include "client/src/json_writer.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

constexpr double kLookSeconds = 1;

struct RecordFlags {
  std::string out;
  double seconds = 0;
  bool follow = false;
  bool reset = false;
};

// What a daemon has recorded, by digest.
struct Recording {
  std::map<std::string, v1::RecordedSpec> specs;
  int64_t since_unix_ms = 0;
  uint64_t unrecorded = 0;
};

Status Look(Daemon* daemon, Recording* recording) {
  v1::ListRecordedRequest request;
  do {
    v1::ListRecordedResponse page;
    INGOT_CLIENT_RETURN_IF_ERROR(
        daemon->Call("Admin/ListRecorded", request, &page));
    for (v1::RecordedSpec& spec : *page.mutable_specs()) {
      recording->specs[spec.spec_digest()] = std::move(spec);
    }
    recording->since_unix_ms = page.since_unix_ms();
    recording->unrecorded = page.unrecorded();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return Status();
}

// Takes away what was counted before.
void Subtract(const v1::SpecTraffic& before, v1::SpecTraffic* traffic) {
  traffic->set_requests(traffic->requests() - before.requests());
  traffic->set_hits(traffic->hits() - before.hits());
  traffic->set_compiled(traffic->compiled() - before.compiled());
  traffic->set_refused(traffic->refused() - before.refused());
  traffic->set_abandoned(traffic->abandoned() - before.abandoned());
}

// What came between two looks, most requests first. A recording that began
// anew meanwhile is all of it.
std::vector<v1::RecordedSpec> Between(const Recording& before,
                                      const Recording& now) {
  std::vector<v1::RecordedSpec> specs;
  const bool anew = before.since_unix_ms != now.since_unix_ms;
  for (const auto& [digest, spec] : now.specs) {
    v1::RecordedSpec more = spec;
    const auto found = before.specs.find(digest);
    if (!anew && found != before.specs.end()) {
      Subtract(found->second.traffic(), more.mutable_traffic());
    }
    if (more.traffic().requests() > 0) specs.push_back(std::move(more));
  }
  std::stable_sort(specs.begin(), specs.end(),
                   [](const v1::RecordedSpec& a, const v1::RecordedSpec& b) {
                     return a.traffic().requests() > b.traffic().requests();
                   });
  return specs;
}

// The file of --out, or standard output.
class Output {
 public:
  ~Output() {
    if (file_ != nullptr && file_ != stdout) fclose(file_);
  }
  Status Open(const std::string& path) {
    path_ = path;
    file_ = path.empty() ? stdout : fopen(path.c_str(), "we");
    if (file_ != nullptr) return Status();
    return Error(INGOT_INVALID_ARGUMENT,
                 "--out: found \"%s\", allowed a file that can be written",
                 path.c_str());
  }
  Status Write(const std::vector<v1::RecordedSpec>& specs) {
    for (const v1::RecordedSpec& spec : specs) {
      fprintf(file_, "%s\n", RecordedLine(spec).c_str());
      requests_ += spec.traffic().requests();
    }
    lines_ += specs.size();
    if (fflush(file_) == 0) return Status();
    return Error(INGOT_FAILED_PRECONDITION, "%s cannot be written",
                 path_.empty() ? "standard output" : path_.c_str());
  }
  void Summarize(bool as_json) const {
    if (path_.empty()) return;
    if (!as_json) {
      printf("wrote %s: %llu lines, %llu requests\n", path_.c_str(),
             static_cast<unsigned long long>(lines_),
             static_cast<unsigned long long>(requests_));
      return;
    }
    client::JsonWriter json;
    json.OpenObject();
    json.String("file", path_);
    json.Number("lines", lines_);
    json.Number("requests", requests_);
    json.CloseObject();
    puts(json.text().c_str());
  }

 private:
  std::string path_;
  FILE* file_ = nullptr;
  uint64_t lines_ = 0;
  uint64_t requests_ = 0;
};

Status Follow(Daemon* daemon, double seconds, Recording* before,
              Output* output) {
  const bool bounded = seconds > 0;
  bool goes_on = true;
  while (goes_on && (!bounded || seconds > 0)) {
    const double wait =
        bounded ? std::min(kLookSeconds, seconds) : kLookSeconds;
    goes_on = WaitSeconds(wait);
    seconds -= wait;
    Recording now;
    INGOT_CLIENT_RETURN_IF_ERROR(Look(daemon, &now));
    INGOT_CLIENT_RETURN_IF_ERROR(output->Write(Between(*before, now)));
    *before = std::move(now);
  }
  return Status();
}

void PrintJson(const std::vector<v1::RecordedSpec>& specs,
               const Recording& recording) {
  v1::ListRecordedResponse all;
  for (const v1::RecordedSpec& spec : specs) *all.add_specs() = spec;
  all.set_since_unix_ms(recording.since_unix_ms);
  all.set_unrecorded(recording.unrecorded);
  puts(ToJson(all).c_str());
}

Status RunRecord(const RecordFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  Output output;
  INGOT_CLIENT_RETURN_IF_ERROR(output.Open(flags.out));
  Recording before;
  if (flags.follow || flags.seconds > 0) {
    CatchInterrupts();
    INGOT_CLIENT_RETURN_IF_ERROR(Look(daemon.get(), &before));
  }
  Recording now;
  if (flags.follow) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        Follow(daemon.get(), flags.seconds, &before, &output));
    now = std::move(before);
    output.Summarize(globals.json());
  } else {
    if (flags.seconds > 0) (void)WaitSeconds(flags.seconds);
    INGOT_CLIENT_RETURN_IF_ERROR(Look(daemon.get(), &now));
    const std::vector<v1::RecordedSpec> specs = Between(before, now);
    if (globals.json() && flags.out.empty()) {
      PrintJson(specs, now);
    } else {
      INGOT_CLIENT_RETURN_IF_ERROR(output.Write(specs));
      output.Summarize(globals.json());
    }
  }
  if (now.unrecorded > 0) {
    fprintf(stderr,
            "ingotctl: %llu requests are in no line: the daemon's record was "
            "full (--record-specs)\n",
            static_cast<unsigned long long>(now.unrecorded));
  }
  if (!flags.reset) return Status();
  v1::ResetRecordedResponse reset;
  return daemon->Call("Admin/ResetRecorded", v1::ResetRecordedRequest(),
                      &reset);
}

}  // namespace

void AddRecord(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "record",
      "write what live traffic asked for, most requests first, in lines for "
      "`warm --recorded` and `coverage`");
  auto flags = std::make_shared<RecordFlags>();
  app->add_option("--out", flags->out, "a file, instead of standard output");
  app->add_option("--seconds", flags->seconds,
                  "only what is asked for in the next seconds, or until "
                  "interrupted; else all since the daemon started or was reset")
      ->check(CLI::Range(0.0, 1e6));
  app->add_flag("--follow", flags->follow,
                "a line each second for each spec asked for since the last, "
                "until interrupted or --seconds are over");
  CLI::Option* reset = app->add_flag(
      "--reset", flags->reset, "then have the daemon forget it (role admin)");
  reset->excludes("--follow")->excludes("--seconds");
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  app->callback([=] { *run = [=] { return RunRecord(*flags, *globals); }; });
}

}  // namespace ingot::ctl
