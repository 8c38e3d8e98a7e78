// What a scraper reads: the daemon's statistics as Prometheus metrics.
#ifndef INGOT_SERVER_METRICS_H_
#define INGOT_SERVER_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <string>
#include <vector>

#include "ingot/v1/admin.pb.h"
#include "server/counters.h"

namespace ingot::server {

struct MetricInfo {
  enum class Kind { kCounter, kGauge, kHistogram };
  const char* name;
  Kind kind;
  const char* help;  // with the meaning of each label
};

// Every metric that there is, by name. One that is not in this table is not
// exported; one that is, always is, if need be with no series yet.
const std::vector<MetricInfo>& AllMetrics();

// `statistics` and `histograms` are asked at each scrape, from any thread.
class Metrics : public prometheus::Collectable {
 public:
  Metrics(
      std::function<v1::StatsResponse()> statistics,
      std::function<std::vector<std::pair<std::string, Histogram::Reading>>()>
          histograms);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<v1::StatsResponse()> statistics_;
  const std::function<std::vector<std::pair<std::string, Histogram::Reading>>()>
      histograms_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_METRICS_H_
