// What libingot costs the process it lives in: ingot_prepare of a spec that the
// client knows, and of one that only the daemon knows.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "bench/service/daemon.h"
#include "ingot/ingot.h"

namespace ingot::bench {
namespace {

constexpr int kHandles = 1000;

void Expect(ingot_status status, const char* call) {
  if (status != INGOT_OK) Die(absl::StrCat(call, ": ", ingot_last_error()));
}

// The spec of bench/problems.h as a C caller writes it.
class RmsnormSpecC {
 public:
  explicit RmsnormSpecC(int64_t n) {
    dims_[0] = {sizeof(ingot_dim), INGOT_DIM_RANGE, "rows"};
    dims_[1] = {sizeof(ingot_dim), INGOT_DIM_VALUE, "n", n};
    const char* names[] = {"x", "weight", "y"};
    for (int i = 0; i < 3; ++i) {
      operands_[i] = {sizeof(ingot_operand), INGOT_STRIDES_DENSE, names[i],
                      "bf16"};
    }
    spec_.size = sizeof(spec_);
    spec_.op = "rmsnorm";
    spec_.dims = dims_;
    spec_.dim_count = 2;
    spec_.operands = operands_;
    spec_.operand_count = 3;
  }
  RmsnormSpecC(const RmsnormSpecC&) = delete;
  RmsnormSpecC& operator=(const RmsnormSpecC&) = delete;

  const ingot_spec* get() const { return &spec_; }

 private:
  ingot_dim dims_[2] = {};
  ingot_operand operands_[3] = {};
  ingot_spec spec_ = {};
};

class Client {
 public:
  explicit Client(const std::string& socket) {
    const std::string address = "unix:" + socket;
    ingot_client_options options = {};
    options.size = sizeof(options);
    options.address = address.c_str();
    Expect(ingot_client_create(&options, &client_), "ingot_client_create");
  }
  ~Client() { ingot_client_destroy(client_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Without the GPU runtime: what is measured is the client and the call.
  ingot_prepared* Prepare(const RmsnormSpecC& spec) {
    ingot_prepare_options options = {};
    options.size = sizeof(options);
    options.flags = INGOT_PREPARE_NO_LOAD;
    ingot_prepared* prepared = nullptr;
    Expect(ingot_prepare(client_, spec.get(), &options, &prepared),
           "ingot_prepare");
    return prepared;
  }

 private:
  ingot_client* client_ = nullptr;
};

// Nanoseconds of one ingot_prepare, releases not counted.
double KnownSpec(Client& client, const RmsnormSpecC& spec) {
  std::vector<ingot_prepared*> handles(kHandles);
  const double seconds = Seconds([&] {
    for (ingot_prepared*& handle : handles) handle = client.Prepare(spec);
  });
  for (ingot_prepared* handle : handles) ingot_prepared_release(handle);
  return seconds / kHandles * 1e9;
}

// Microseconds of the first ingot_prepare of a client, connection included, and
// of a second spec on that connection.
void NewSpecs(const Daemon& daemon, const RmsnormSpecC& first,
              const RmsnormSpecC& second, std::vector<double>& connecting,
              std::vector<double>& connected) {
  Client client(daemon.socket());
  ingot_prepared* handle = nullptr;
  connecting.push_back(Seconds([&] { handle = client.Prepare(first); }) * 1e6);
  ingot_prepared_release(handle);
  connected.push_back(Seconds([&] { handle = client.Prepare(second); }) * 1e6);
  ingot_prepared_release(handle);
}

int Main(int argc, char** argv) {
  bool json = false;
  int runs = 201;
  CLI::App app("What ingot_prepare costs the process that calls it");
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--runs", runs, "of which medians are reported")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  Report report(absl::StrJoin(argv, argv + argc, " "), json);
  const TemporaryDirectory folder;
  const Daemon daemon(folder.path());
  const RmsnormSpecC first(4096);
  const RmsnormSpecC second(8192);
  Client client(daemon.socket());
  ingot_prepared_release(client.Prepare(first));
  ingot_prepared_release(client.Prepare(second));

  std::vector<double> known;
  std::vector<double> connecting;
  std::vector<double> connected;
  for (int run = 0; run < runs; ++run) {
    known.push_back(KnownSpec(client, first));
    NewSpecs(daemon, first, second, connecting, connected);
  }
  report.Section(absl::StrCat("ingot_prepare, median of ", runs));
  report.Add({"known to the client", Median(known), "ns", AtMost(200)});
  report.Add({"known to the daemon, with kernels", Median(connected), "us",
              std::nullopt});
  report.Add({"first of a client, connection included", Median(connecting),
              "us", std::nullopt});
  report.Finish();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
