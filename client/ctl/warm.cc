// ingotctl warm: has the daemon compile what a model, a manifest or recorded
// traffic needs, before anything that serves asks for it. Needs no GPU; what is
// there already costs a look, so an interrupted run goes on where it was.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/manifest.h"
#include "client/ctl/spec_sources.h"
#include "client/ctl/text_table.h"
#include "client/src/json_writer.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::ctl {
namespace {

struct WarmFlags {
  SpecSources sources;
  std::vector<std::string> recorded;
  std::vector<int64_t> batches;
  int jobs = 4;
  bool list = false;
};

// A dim that the spec leaves open: only those count tokens in what warms up.
v1::Dim* OpenDim(v1::Spec* spec) {
  for (v1::Dim& dim : *spec->mutable_dims()) {
    if (dim.has_range()) return &dim;
  }
  return nullptr;
}

// Equal specs once; with --batch one for each number of tokens. What was asked
// for most comes first.
Status CollectSpecs(const WarmFlags& flags, std::vector<NamedSpec>* all) {
  if (flags.sources.empty() && flags.recorded.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "warm: found nothing to warm, allowed --model, --manifest or "
                 "--recorded");
  }
  std::vector<NamedSpec> found;
  std::vector<v1::RecordedSpec> recorded;
  INGOT_CLIENT_RETURN_IF_ERROR(ReadRecorded(flags.recorded, &recorded));
  for (v1::RecordedSpec& spec : recorded) {
    found.push_back({spec.spec().op(), std::move(*spec.mutable_spec())});
  }
  INGOT_CLIENT_RETURN_IF_ERROR(ReadSpecs(flags.sources, &found));
  std::set<std::string> seen;
  for (NamedSpec& spec : found) {
    std::vector<NamedSpec> wanted;
    if (flags.batches.empty() || OpenDim(&spec.spec) == nullptr) {
      wanted.push_back(std::move(spec));
    } else {
      for (const int64_t tokens : flags.batches) {
        wanted.push_back(spec);
        OpenDim(&wanted.back().spec)->set_value(tokens);
      }
    }
    for (NamedSpec& one : wanted) {
      if (seen.insert(one.spec.SerializeAsString()).second) {
        all->push_back(std::move(one));
      }
    }
  }
  return Status();
}

// What came of all specs so far, and the bar that shows it.
class Progress {
 public:
  Progress(size_t count, bool bar) : count_(count), bar_(bar) {}

  void Add(const NamedSpec& spec, const Status& status,
           const v1::GetKernelResponse& reply) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool compiled = false;
    for (const v1::Kernel& kernel : reply.kernels()) {
      kernels_.insert(kernel.record().key());
      compiled |= kernel.source() == v1::SOURCE_COMPILED ||
                  kernel.source() == v1::SOURCE_COALESCED;
    }
    if (!status.ok()) {
      ++refused_;
      reasons_[std::string(ingot_status_name(status.code)) + ": " +
               status.message]
          .push_back(spec.name);
    } else {
      ++(compiled ? compiled_ : there_);
    }
    if (bar_) Draw();
  }

  size_t refused() const { return refused_; }

  void PrintText() const {
    if (bar_) fputs("\r\033[K", stderr);
    printf(
        "%zu specs, %zu kernels: %zu compiled, %zu already there, %zu "
        "refused, in %s\n",
        count_, kernels_.size(), compiled_, there_, refused_,
        FormatMicroseconds(Elapsed() * 1e6).c_str());
    for (const auto& [reason, names] : reasons_) {
      printf("refused, %zu as %s: %s\n", names.size(), names[0].c_str(),
             reason.c_str());
    }
  }

  void PrintJson() const {
    client::JsonWriter json;
    json.OpenObject();
    json.Number("specs", static_cast<uint64_t>(count_));
    json.Number("kernels", static_cast<uint64_t>(kernels_.size()));
    json.Number("compiled", static_cast<uint64_t>(compiled_));
    json.Number("already_there", static_cast<uint64_t>(there_));
    json.Number("refused", static_cast<uint64_t>(refused_));
    json.Number("seconds", Elapsed());
    json.OpenArray("refusals");
    for (const auto& [reason, names] : reasons_) {
      for (const std::string& name : names) {
        json.OpenObject();
        json.String("spec", name);
        json.String("reason", reason);
        json.CloseObject();
      }
    }
    json.CloseArray();
    json.CloseObject();
    puts(json.text().c_str());
  }

 private:
  double Elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start_)
        .count();
  }
  void Draw() const {
    constexpr size_t kWidth = 30;
    const size_t done = compiled_ + there_ + refused_;
    const size_t filled = done * kWidth / count_;
    const double left = Elapsed() / static_cast<double>(done) *
                        static_cast<double>(count_ - done);
    fprintf(stderr,
            "\r[%s%s] %zu/%zu  %zu compiled, %zu there, %zu refused, %.0f s "
            "left\033[K",
            std::string(filled, '#').c_str(),
            std::string(kWidth - filled, ' ').c_str(), done, count_, compiled_,
            there_, refused_, left);
  }

  const size_t count_;
  const bool bar_;
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
  std::mutex mutex_;
  size_t compiled_ = 0;
  size_t there_ = 0;
  size_t refused_ = 0;
  std::set<std::string> kernels_;
  std::map<std::string, std::vector<std::string>> reasons_;
};

// A failure of the daemon or of the way to it, not of the spec.
bool EndsTheRun(const Status& status) {
  return status.code == INGOT_UNAVAILABLE ||
         status.code == INGOT_PERMISSION_DENIED ||
         status.code == INGOT_UNAUTHENTICATED;
}

v1::GetKernelRequest RequestOf(const v1::Spec& spec, bool matching) {
  v1::GetKernelRequest request;
  *request.mutable_spec() = spec;
  request.set_api_version(1);
  request.set_fetch(matching ? v1::FETCH_MATCHING : v1::FETCH_ALL);
  request.set_omit_bytes(true);
  request.set_priority(v1::PRIORITY_WARMUP);
  return request;
}

Status WarmAll(const std::vector<NamedSpec>& specs, const WarmFlags& flags,
               const Globals& globals, Progress* progress) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  Status ended;
  const auto work = [&] {
    std::unique_ptr<Daemon> daemon;
    Status status = Daemon::Open(globals, &daemon);
    while (status.ok()) {
      const size_t mine = next.fetch_add(1);
      if (mine >= specs.size()) return;
      v1::GetKernelResponse reply;
      const Status answer = daemon->Call(
          "Kernels/GetKernel",
          RequestOf(specs[mine].spec, !flags.batches.empty()), &reply);
      if (EndsTheRun(answer)) status = answer;
      if (status.ok()) progress->Add(specs[mine], answer, reply);
    }
    next = specs.size();
    const std::lock_guard<std::mutex> lock(mutex);
    if (ended.ok()) ended = status;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < flags.jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return ended;
}

Status RunWarm(const WarmFlags& flags, const Globals& globals, int* exit_code) {
  std::vector<NamedSpec> specs;
  INGOT_CLIENT_RETURN_IF_ERROR(CollectSpecs(flags, &specs));
  if (flags.list) {
    for (const NamedSpec& spec : specs) puts(ManifestLine(spec.spec).c_str());
    return Status();
  }
  Progress progress(specs.size(), !globals.json() && isatty(STDERR_FILENO));
  INGOT_CLIENT_RETURN_IF_ERROR(WarmAll(specs, flags, globals, &progress));
  if (globals.json()) {
    progress.PrintJson();
  } else {
    progress.PrintText();
  }
  if (progress.refused() > 0) *exit_code = kExitDisagrees;
  return Status();
}

}  // namespace

void AddWarm(const Registry& registry) {
  CLI::App* app = registry.app->add_subcommand(
      "warm",
      "compile what a model, a manifest or recorded traffic needs, before it "
      "is needed");
  auto flags = std::make_shared<WarmFlags>();
  flags->sources.Add(app);
  app->add_option("--recorded", flags->recorded,
                  "files that `record` wrote; most requested first");
  app->add_option("--batch", flags->batches,
                  "only what these numbers of tokens need (1,2,4); without it "
                  "every number is served")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app->add_option("--jobs", flags->jobs, "requests at a time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_flag("--list", flags->list,
                "print the specs as a manifest and ask nobody");
  const Registry r = registry;
  app->callback([=] {
    *r.run = [=] { return RunWarm(*flags, *r.globals, r.exit_code); };
  });
}

}  // namespace ingot::ctl
