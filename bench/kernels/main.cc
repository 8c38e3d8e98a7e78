// bench_kernels: what every kernel of a manifest is made of and how long it
// should take, beside other compilers' kernels for the same problems. Kernels
// are run by the emulated device; times are modelled (tests/emulator/profile),
// ours and theirs by the same model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/kernels/judgement.h"
#include "bench/kernels/rows.h"

namespace ingot::bench {
namespace {

struct Flags {
  std::vector<std::string> manifests;
  std::string only;
  std::string peers;
  std::string markdown;
};

struct Judged {
  const Row* row = nullptr;
  std::optional<Judgement> ours;
  std::string why_not;                     // when ours is missing
  std::map<std::string, Judgement> peers;  // the best configuration of each

  double Ratio(const Judgement& peer) const {
    return peer.microseconds / ours->microseconds;
  }
};

double Geomean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0
                        : std::exp(sum / static_cast<double>(values.size()));
}

void Print(const char* who, const Judgement& j, double flops) {
  printf(
      "  %-6s %-34s %9.2f us %6.0f TF  %6llu wg x %llu waves, %d a CU  %3d+%3d "
      "VGPR %6u LDS%s\n",
      who, j.name.c_str(), j.microseconds, flops / j.microseconds * 1e-6,
      static_cast<unsigned long long>(j.groups),
      static_cast<unsigned long long>(j.waves), j.groups_per_cu, j.vgprs,
      j.agprs, j.lds_bytes, j.clean ? "" : "  SPILLS");
  printf(
      "         loop %.0f: %s; LDS degree %.3g; %.2fx requested, %.2fx "
      "fetched, %.3fx streamed\n",
      j.loop_all, LoopText(j).c_str(), j.lds_degree, j.requested, j.fetched,
      j.streamed);
}

std::map<std::string, Judgement> BestPeers(const std::vector<PeerLaunch>& peers,
                                           const std::string& id) {
  std::map<std::string, Judgement> best;
  for (const PeerLaunch& peer : peers) {
    if (peer.id != id) continue;
    const absl::StatusOr<profile::Profile> profile =
        profile::ProfileFile(peer.file);
    if (!profile.ok()) {
      fprintf(stderr, "bench_kernels: %s, %s %s: %s\n", peer.id.c_str(),
              peer.peer.c_str(), peer.config.c_str(),
              std::string(profile.status().message()).c_str());
      continue;
    }
    Judgement judged = Judge(peer.config, {*profile});
    const auto [known, first] = best.try_emplace(peer.peer, judged);
    if (!first && judged.microseconds < known->second.microseconds) {
      known->second = std::move(judged);
    }
  }
  return best;
}

Judged JudgeRow(const Row& row, const std::vector<PeerLaunch>& peers) {
  Judged judged{.row = &row};
  const absl::StatusOr<profile::OpProfile> ours =
      profile::ProfileOp(row.request);
  if (ours.ok()) {
    judged.ours = Judge(ours->variant, ours->launches);
  } else {
    judged.why_not = std::string(ours.status().message());
  }
  judged.peers = BestPeers(peers, row.id);
  printf("%s\n", row.id.c_str());
  if (judged.ours) {
    Print("ingot", *judged.ours, row.flops);
  } else {
    printf("  ingot  none: %s\n", judged.why_not.c_str());
  }
  for (const auto& [name, peer] : judged.peers) {
    Print(name.c_str(), peer, row.flops);
    if (judged.ours) {
      printf("         %.3fx its speed\n", judged.Ratio(peer));
    }
  }
  fflush(stdout);
  return judged;
}

void SummarizeBeside(const std::string& peer, const std::vector<Judged>& all) {
  std::vector<double> ratios, matrix_ratios;
  int slower = 0;
  for (const Judged& row : all) {
    const auto found = row.peers.find(peer);
    if (!row.ours || found == row.peers.end()) continue;
    const double ratio = row.Ratio(found->second);
    ratios.push_back(ratio);
    slower += ratio < 1;
    if (row.row->matrix_bound) matrix_ratios.push_back(ratio);
  }
  if (ratios.empty()) return;
  printf("beside %s, modelled: %zu rows, %d slower, worst %.3fx, geomean %.3fx",
         peer.c_str(), ratios.size(), slower,
         *std::min_element(ratios.begin(), ratios.end()), Geomean(ratios));
  if (!matrix_ratios.empty()) {
    printf("; of them bound by matrix units: %zu, geomean %.3fx",
           matrix_ratios.size(), Geomean(matrix_ratios));
  }
  printf("\n");
}

std::set<std::string> PeersOf(const std::vector<Judged>& all) {
  std::set<std::string> names;
  for (const Judged& row : all) {
    for (const auto& [name, peer] : row.peers) names.insert(name);
  }
  return names;
}

void Summarize(const std::vector<Judged>& all) {
  int missing = 0, conflicts = 0, spills = 0;
  double streamed = 0;
  for (const Judged& row : all) {
    if (!row.ours) {
      ++missing;
      continue;
    }
    conflicts += row.ours->lds_degree > 1;
    spills += !row.ours->clean;
    if (row.row->skinny) streamed = std::max(streamed, row.ours->streamed);
  }
  printf(
      "\n%zu rows, %d without a plan, %d with LDS conflicts in the hot loop, "
      "%d "
      "with spills\n",
      all.size(), missing, conflicts, spills);
  if (streamed > 0) {
    printf("rows of m <= 64 stream at most %.3fx their operands\n", streamed);
  }
  for (const std::string& peer : PeersOf(all)) SummarizeBeside(peer, all);
}

// For bench/README.md: a line a row.
void WriteMarkdown(const std::string& path, const std::vector<Judged>& all) {
  FILE* file = fopen(path.c_str(), "w");
  if (file == nullptr) return;
  const std::set<std::string> peers = PeersOf(all);
  fprintf(file,
          "| problem | plan | registers | LDS | loop | degree | fetched | "
          "streamed | us modelled | TFLOP/s |");
  for (const std::string& peer : peers) {
    fprintf(file, " best of %s | us | ratio |", peer.c_str());
  }
  fprintf(file, "\n|---|---|---|---|---|---|---|---|---|---|");
  for (size_t i = 0; i < peers.size(); ++i) fprintf(file, "---|---|---|");
  fprintf(file, "\n");
  for (const Judged& row : all) {
    if (!row.ours) {
      fprintf(file, "| %s | none: %s |\n", row.row->id.c_str(),
              row.why_not.c_str());
      continue;
    }
    const Judgement& j = *row.ours;
    fprintf(file,
            "| %s | %s | %d+%d | %u | %s | %.3g | %.2f | %.3f | %.2f | %.0f |",
            row.row->id.c_str(), j.name.c_str(), j.vgprs, j.agprs, j.lds_bytes,
            LoopText(j).c_str(), j.lds_degree, j.fetched, j.streamed,
            j.microseconds, row.row->flops / j.microseconds * 1e-6);
    for (const std::string& name : peers) {
      const auto peer = row.peers.find(name);
      if (peer == row.peers.end()) {
        fprintf(file, " | | |");
      } else {
        fprintf(file, " %s | %.2f | %.2f |", peer->second.name.c_str(),
                peer->second.microseconds, row.Ratio(peer->second));
      }
    }
    fprintf(file, "\n");
  }
  fclose(file);
}

absl::Status Run(const Flags& flags) {
  std::vector<PeerLaunch> peers;
  if (!flags.peers.empty()) {
    INGOT_ASSIGN_OR_RETURN(peers, ReadPeers(flags.peers));
  }
  std::vector<Row> rows;
  for (const std::string& path : flags.manifests) {
    INGOT_ASSIGN_OR_RETURN(const std::vector<Row> more, ReadRows(path));
    for (const Row& row : more) {
      if (absl::StrContains(row.id, flags.only)) rows.push_back(row);
    }
  }
  std::vector<Judged> judged;
  for (const Row& row : rows) judged.push_back(JudgeRow(row, peers));
  Summarize(judged);
  if (!flags.markdown.empty()) WriteMarkdown(flags.markdown, judged);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Counts what the kernels of a manifest do and models their time on an "
      "MI355X, beside other compilers' code objects by the same model.",
      "bench_kernels");
  Flags flags;
  app.add_option("manifest", flags.manifests,
                 "files of problems, as tests/data/manifests has them")
      ->required();
  app.add_option("--only", flags.only, "rows whose name holds this");
  app.add_option("--peers", flags.peers,
                 "launches of other code objects (bench/peers/*_rows.py)");
  app.add_option("--markdown", flags.markdown, "write a table to this file");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Run(flags);
  if (status.ok()) return 0;
  fprintf(stderr, "bench_kernels: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
