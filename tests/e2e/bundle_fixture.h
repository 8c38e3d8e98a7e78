// Bundles made by a real daemon, for tests of who uses them without one.
#ifndef INGOT_TESTS_E2E_BUNDLE_FIXTURE_H_
#define INGOT_TESTS_E2E_BUNDLE_FIXTURE_H_

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "client/testing/bundles.h"
#include "tests/e2e/client_fixture.h"
#include "tests/support/child.h"

namespace ingot::testing {

class BundleFixture : public ClientFixture {
 protected:
  static std::string CtlProgram() {
    const std::string daemon = DaemonProgram();
    return daemon.substr(0, daemon.rfind('/')) + "/ingotctl";
  }

  // Runs ingotctl of this build to its end; its exit code. What it printed is
  // in `output()`.
  int Ctl(std::vector<std::string> arguments) {
    std::vector<std::string> argv = {CtlProgram(), "--address", address_};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const std::string log = folder_ / "ctl";
    unlink(log.c_str());
    const absl::StatusOr<pid_t> child = StartChild(argv, log);
    EXPECT_TRUE(child.ok()) << child.status();
    int status = -1;
    if (child.ok()) waitpid(*child, &status, 0);
    output_ = client::ReadAll(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const std::string& output() const { return output_; }

  std::string Export(const std::string& name,
                     std::vector<std::string> filters = {}) {
    std::vector<std::string> arguments = {"export", "--to", folder_ / name};
    arguments.insert(arguments.end(), filters.begin(), filters.end());
    EXPECT_EQ(Ctl(arguments), 0) << output();
    return folder_ / name;
  }

  // A client with this bundle, that may ask the daemon at `address`.
  Client ClientWith(const std::string& bundle, const std::string& address,
                    uint32_t timeout_ms = 60000) {
    ingot_client_options options = {sizeof(options)};
    options.address = address.c_str();
    options.bundle_dir = bundle.c_str();
    options.call_timeout_ms = timeout_ms;
    Client client;
    EXPECT_EQ(Client::Create(&options, &client), INGOT_OK)
        << ingot_last_error();
    return client;
  }
  // One that reaches no daemon.
  Client AloneWith(const std::string& bundle) {
    return ClientWith(bundle, "unix:" + folder_.path() + "/nobody");
  }

  // Compiles, without a GPU.
  void Make(client::OwnedSpec spec) {
    Client client = NewClient();
    const ingot_prepare_options warm = With(INGOT_PREPARE_NO_BYTES);
    Prepared prepared;
    ASSERT_EQ(client.Prepare(spec.spec(), &warm, &prepared), INGOT_OK)
        << ingot_last_error();
  }

  static uint32_t SourceOf(const Prepared& prepared) {
    ingot_kernel_info info = {sizeof(info)};
    EXPECT_EQ(ingot_prepared_kernel(prepared.get(), 0, &info), INGOT_OK);
    return info.source;
  }

  client::TestFolder folder_;

 private:
  std::string output_;
};

}  // namespace ingot::testing

#endif  // INGOT_TESTS_E2E_BUNDLE_FIXTURE_H_
