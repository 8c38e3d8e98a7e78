// What a scraper reads of a daemon that has seen all kinds of requests.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "server/metrics.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;

// The body of GET /metrics on loopback; empty when nobody answers.
std::string Scrape(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0) {
    const std::string request =
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    (void)!write(fd, request.data(), request.size());
    char buffer[4096];
    for (ssize_t got = 0; (got = read(fd, buffer, sizeof(buffer))) > 0;) {
      answer.append(buffer, static_cast<size_t>(got));
    }
  }
  close(fd);
  return answer;
}

// Series and their values, "name{labels}" to number.
std::map<std::string, double> SeriesOf(const std::string& text) {
  std::map<std::string, double> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (line.rfind("ingot_", 0) != 0 || space == std::string::npos) continue;
    all[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return all;
}

class MetricsTest : public DaemonTest {};

TEST_F(MetricsTest, EveryMetricIsThereAndCounts) {
  StartFaultyDaemon({"--metrics=127.0.0.1:0"});
  const int port = PortFromLog("metrics_port");
  ASSERT_GT(port, 0);

  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());  // compiled
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());  // hit
  daemon().OrderFault("n=65", "refuse", 1);
  EXPECT_EQ(client().Get(RmsNorm(65)).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(client().Get(RmsNorm(65)).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(client().Get(RmsNorm(-1)).code(), StatusCode::INVALID_ARGUMENT);
  daemon().OrderFault("n=66", "abort", 1);
  ASSERT_TRUE(client().Get(RmsNorm(66)).ok());

  const std::string text = Scrape(port);
  const std::map<std::string, double> series = SeriesOf(text);
  const std::string rmsnorm =
      R"(ingot_requests_total{op="rmsnorm",target="gfx950",result=")";
  const std::map<std::string, double> expected = {
      {rmsnorm + "compiled\"}", 2},
      {rmsnorm + "hit_memory\"}", 1},
      {rmsnorm + "negative\"}", 2},
      {R"(ingot_requests_refused_total{code="INVALID_ARGUMENT"})", 1},
      {R"(ingot_requests_refused_total{code="FAILED_PRECONDITION"})", 2},
      {"ingot_negative_hits_total", 1},
      {"ingot_compiles_total", 2},
      {"ingot_compile_failures_total", 1},
      {"ingot_compile_retries_total", 1},
      {R"(ingot_worker_deaths_total{cause="crash"})", 1},
      {R"(ingot_compile_seconds_count{stage="all"})", 2},
      {R"(ingot_compile_seconds_count{stage="codegen"})", 2},
      {R"(ingot_compile_seconds_bucket{stage="all",le="+Inf"})", 2},
      {R"(ingot_queue_wait_seconds_count{priority="interactive"})", 4},
      {R"(ingot_queue_wait_seconds_count{priority="warmup"})", 0},
      {"ingot_store_entries", 2},
      {"ingot_queue_depth", 0},
      {"ingot_store_read_only", 0},
  };
  for (const auto& [name, value] : expected) {
    const auto found = series.find(name);
    ASSERT_NE(found, series.end()) << name << " is not in\n" << text;
    EXPECT_EQ(found->second, value) << name;
  }
  EXPECT_GT(series.at(R"(ingot_compile_seconds_sum{stage="all"})"), 0);
  EXPECT_GT(series.at("ingot_resident_bytes"), 1e6);
  EXPECT_GT(series.at("ingot_store_bytes"), 0);

  // All of the table is there, with its help; and nothing else.
  std::set<std::string> helped;
  const std::regex help("# HELP (ingot_[a-z_]+) ");
  for (std::sregex_iterator at(text.begin(), text.end(), help), end; at != end;
       ++at) {
    helped.insert((*at)[1]);
  }
  std::set<std::string> table;
  for (const MetricInfo& info : AllMetrics()) {
    table.insert(info.name);
    EXPECT_TRUE(helped.count(info.name)) << info.name;
    const bool has_series =
        series.lower_bound(info.name) != series.end() &&
        series.lower_bound(info.name)->first.rfind(info.name, 0) == 0;
    EXPECT_TRUE(has_series) << info.name << " has no series";
  }
  EXPECT_EQ(helped, table);
}

// Whatever Stats counts is exported, too.
TEST_F(MetricsTest, NoCounterIsForgotten) {
  StartFaultyDaemon();
  daemon().OrderFault("n=65", "internal", 1);
  (void)client().Get(RmsNorm(65));
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  std::set<std::string> table;
  for (const MetricInfo& info : AllMetrics()) table.insert(info.name);
  const v1::StatsResponse stats = client().Stats();
  for (const v1::Counter& counter : stats.counters()) {
    const std::string& series = counter.name();
    EXPECT_TRUE(table.count(series.substr(0, series.find('{')))) << series;
  }
}

TEST_F(MetricsTest, AnAddressInUseIsSaid) {
  StartFaultyDaemon({"--metrics=127.0.0.1:0"});
  testing::DaemonOptions options;
  options.flags = {"--metrics=127.0.0.1:" +
                   std::to_string(PortFromLog("metrics_port"))};
  const auto second = testing::Daemon::Start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("metrics: cannot listen on 127.0.0"),
            absl::string_view::npos)
      << second.status();
}

}  // namespace
}  // namespace ingot::server
