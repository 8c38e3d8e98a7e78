#include "server/metrics.h"

#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/fingerprint.h"

namespace ingot::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Kind = MetricInfo::Kind;

// The labels of a series name{label="value",...}; values of ours hold no quote.
std::vector<ClientMetric::Label> LabelsOf(absl::string_view series) {
  std::vector<ClientMetric::Label> labels;
  const size_t brace = series.find('{');
  if (brace == absl::string_view::npos) return labels;
  absl::string_view inside = series.substr(brace + 1);
  absl::ConsumeSuffix(&inside, "}");
  for (const absl::string_view label : absl::StrSplit(inside, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(label, absl::MaxSplits('=', 1));
    absl::string_view value = parts.second;
    absl::ConsumePrefix(&value, "\"");
    absl::ConsumeSuffix(&value, "\"");
    labels.push_back({std::string(parts.first), std::string(value)});
  }
  return labels;
}

std::string NameOf(absl::string_view series) {
  return std::string(series.substr(0, series.find('{')));
}

ClientMetric Value(Kind kind, absl::string_view series, double value) {
  ClientMetric metric;
  metric.label = LabelsOf(series);
  (kind == Kind::kCounter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

ClientMetric Distribution(absl::string_view series,
                          const Histogram::Reading& reading) {
  ClientMetric metric;
  metric.label = LabelsOf(series);
  uint64_t total = 0;
  for (size_t n = 0; n <= Histogram::kBounds; ++n) {
    total += reading.counts[n];
    metric.histogram.bucket.push_back(
        {total, n < Histogram::kBounds
                    ? Histogram::UpperBound(n)
                    : std::numeric_limits<double>::infinity()});
  }
  metric.histogram.sample_count = total;
  metric.histogram.sample_sum = reading.sum_seconds;
  return metric;
}

MetricType TypeOf(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return MetricType::Counter;
    case Kind::kGauge:
      return MetricType::Gauge;
    case Kind::kHistogram:
      return MetricType::Histogram;
  }
  return MetricType::Untyped;
}

}  // namespace

const std::vector<MetricInfo>& AllMetrics() {
  static const auto* const kMetrics = new std::vector<MetricInfo>{
      {"ingot_build_info", Kind::kGauge,
       "1; labels: version of the daemon, compiler that its workers hold"},
      {"ingot_builds_in_flight", Kind::kGauge,
       "kernels that are queued or being compiled"},
      {"ingot_coalesced_total", Kind::kCounter,
       "requests that joined a compile which another had started"},
      {"ingot_compile_failures_total", Kind::kCounter,
       "compiles that ended in an error"},
      {"ingot_compile_retries_total", Kind::kCounter,
       "compiles repeated after a worker died"},
      {"ingot_compile_seconds", Kind::kHistogram,
       "time of compiles that succeeded; stage: one of the compiler's, or all"},
      {"ingot_compiles_total", Kind::kCounter, "compiles that succeeded"},
      {"ingot_disabled", Kind::kGauge,
       "ops and kernels that an operator forbade to hand out"},
      {"ingot_exported_bytes_total", Kind::kCounter,
       "bytes of objects, records and plans that were exported"},
      {"ingot_exported_kernels_total", Kind::kCounter,
       "kernels that were exported"},
      {"ingot_exported_plans_total", Kind::kCounter,
       "plans that were exported"},
      {"ingot_imported_total", Kind::kCounter,
       "what imports brought; kind: kernel, plan; result: imported, present "
       "(was there before), refused"},
      {"ingot_key_mismatches_total", Kind::kCounter,
       "entries found under a key that is not theirs; must stay 0"},
      {"ingot_memory_cache_bytes", Kind::kGauge,
       "kernels and replies kept in memory"},
      {"ingot_negative_hits_total", Kind::kCounter,
       "requests refused because the same one was refused before"},
      {"ingot_publish_errors_total", Kind::kCounter,
       "kernels that were compiled and could not be stored"},
      {"ingot_quarantined_total", Kind::kCounter,
       "kernels that killed their workers and are not tried again"},
      {"ingot_queue_depth", Kind::kGauge, "compiles that wait for a worker"},
      {"ingot_queue_wait_seconds", Kind::kHistogram,
       "how long compiles waited for a worker; priority: interactive, warmup"},
      {"ingot_recorded_specs", Kind::kGauge,
       "specs of live traffic that `ingotctl record` would write"},
      {"ingot_requests_refused_total", Kind::kCounter,
       "requests that ended in an error; code: the gRPC status"},
      {"ingot_requests_total", Kind::kCounter,
       "kernel requests by op and target; result: hit_memory, hit_store, "
       "compiled, coalesced, planned (no kernel asked for), negative, "
       "disabled, "
       "error"},
      {"ingot_resident_bytes", Kind::kGauge,
       "memory of the daemon without its workers"},
      {"ingot_signature_checks_total", Kind::kCounter,
       "records and plans looked at for signatures; result: trusted, unsigned "
       "(accepted without a trusted one), refused; the last must stay 0"},
      {"ingot_signature_key_errors_total", Kind::kCounter,
       "times that a key file had changed and could not be used"},
      {"ingot_signatures_made_total", Kind::kCounter,
       "signatures that this daemon made"},
      {"ingot_store_bytes", Kind::kGauge, "size of the store"},
      {"ingot_store_damaged_total", Kind::kCounter,
       "stored entries that were found damaged and dropped"},
      {"ingot_store_dropped_writes_total", Kind::kCounter,
       "writes given up because the disk was full or failed"},
      {"ingot_store_entries", Kind::kGauge, "kernels in the store"},
      {"ingot_store_errors_total", Kind::kCounter, "errors of the store"},
      {"ingot_store_evictions_total", Kind::kCounter,
       "entries removed to keep the quota or the floor of free space"},
      {"ingot_store_read_errors_total", Kind::kCounter,
       "reads that failed and were answered by a compile"},
      {"ingot_store_read_only", Kind::kGauge,
       "1 while nothing is written, for lack of space or after an error"},
      {"ingot_trusted_keys", Kind::kGauge,
       "public keys whose signatures count"},
      {"ingot_tuning_ended_total", Kind::kCounter,
       "tuning records no longer in force; why: replaced, deleted, expired, "
       "unusable"},
      {"ingot_tuning_epoch", Kind::kGauge,
       "grows with each change of tuning records"},
      {"ingot_tuning_records", Kind::kGauge, "tuning records in force"},
      {"ingot_unrecorded_requests_total", Kind::kCounter,
       "live requests for specs that found the record full"},
      {"ingot_uptime_seconds", Kind::kGauge, "since the daemon started"},
      {"ingot_worker_deaths_total", Kind::kCounter,
       "workers that died at work; cause: crash, limit, outside"},
      {"ingot_worker_recycled_total", Kind::kCounter,
       "workers replaced for their age or size"},
      {"ingot_worker_sandbox_layers", Kind::kGauge,
       "layers of the sandbox that hold in the worker started last, of 3"},
      {"ingot_worker_start_failures_total", Kind::kCounter,
       "workers that did not come up"},
      {"ingot_worker_starts_total", Kind::kCounter, "workers started"},
      {"ingot_workers", Kind::kGauge, "compiles that can run at once"},
      {"ingot_workers_busy", Kind::kGauge, "compiles that run now"},
      {"ingot_workers_warm", Kind::kGauge, "workers ready for work or at it"},
  };
  return *kMetrics;
}

Metrics::Metrics(
    std::function<v1::StatsResponse()> statistics,
    std::function<std::vector<std::pair<std::string, Histogram::Reading>>()>
        histograms)
    : statistics_(std::move(statistics)), histograms_(std::move(histograms)) {}

std::vector<MetricFamily> Metrics::Collect() const {
  const v1::StatsResponse stats = statistics_();
  std::vector<std::pair<std::string, double>> values = {
      {absl::StrCat("ingot_build_info{version=\"", stats.version(),
                    "\",compiler=\"", CompilerVersion(), "\"}"),
       1},
      {"ingot_memory_cache_bytes", stats.memory_bytes()},
      {"ingot_queue_depth", stats.queued()},
      {"ingot_resident_bytes", stats.daemon_rss_bytes()},
      {"ingot_store_bytes", stats.store_bytes()},
      {"ingot_store_entries", stats.entries()},
      {"ingot_uptime_seconds", 1e-3 * static_cast<double>(stats.uptime_ms())},
      {"ingot_workers", stats.workers()},
      {"ingot_workers_busy", stats.workers_busy()},
  };
  for (const v1::Counter& counter : stats.counters()) {
    values.emplace_back(counter.name(), counter.value());
  }
  std::map<std::string, std::vector<ClientMetric>> by_name;
  std::map<std::string, Kind> kinds;
  for (const MetricInfo& info : AllMetrics()) kinds[info.name] = info.kind;
  for (const auto& [series, value] : values) {
    const std::string name = NameOf(series);
    const auto kind = kinds.find(name);
    if (kind == kinds.end()) continue;
    by_name[name].push_back(Value(kind->second, series, value));
  }
  for (const auto& [series, reading] : histograms_()) {
    by_name[NameOf(series)].push_back(Distribution(series, reading));
  }
  std::vector<MetricFamily> families;
  for (const MetricInfo& info : AllMetrics()) {
    families.push_back({info.name, info.help, TypeOf(info.kind),
                        std::move(by_name[info.name])});
  }
  return families;
}

}  // namespace ingot::server
