// libingot against a real ingotd, with specs of the ops that every build has.
#ifndef INGOT_TESTS_E2E_CLIENT_FIXTURE_H_
#define INGOT_TESTS_E2E_CLIENT_FIXTURE_H_

#include <memory>
#include <string>

#include "client/include/ingot/client.h"
#include "client/testing/spec_text.h"
#include "gtest/gtest.h"
#include "tests/support/daemon.h"

namespace ingot::testing {

inline client::OwnedSpec RmsNormSpec(int64_t rows, int64_t n,
                                     const std::string& dtype = "bf16") {
  client::OwnedSpec spec;
  spec.SetOp("rmsnorm");
  spec.AddDim("rows", rows);
  spec.AddDim("n", n);
  spec.AddOperand("x", dtype);
  spec.AddOperand("y", dtype);
  return spec;
}

class ClientFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    DaemonOptions options;
    options.flags = {"--workers", "2"};
    auto daemon = Daemon::Start(options);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    address_ = daemon_->address();
  }

  Client NewClient(const char* target = nullptr) const {
    ingot_client_options options = {sizeof(options)};
    options.address = address_.c_str();
    options.target = target;
    options.call_timeout_ms = 60000;
    Client client;
    EXPECT_EQ(Client::Create(&options, &client), INGOT_OK)
        << ingot_last_error();
    return client;
  }

  static ingot_client_stats Stats(const Client& client) {
    ingot_client_stats stats = {sizeof(stats)};
    EXPECT_EQ(ingot_stats(client.get(), &stats), INGOT_OK);
    return stats;
  }

  static ingot_prepared_info Describe(const Prepared& prepared) {
    ingot_prepared_info info = {sizeof(info)};
    EXPECT_EQ(ingot_prepared_describe(prepared.get(), &info), INGOT_OK)
        << ingot_last_error();
    return info;
  }

  static ingot_prepare_options With(uint32_t flags,
                                    uint32_t fetch = INGOT_FETCH_ALL) {
    ingot_prepare_options options = {sizeof(options)};
    options.flags = flags;
    options.fetch = fetch;
    return options;
  }

  // `name` of the daemon's counters.
  static double Counter(Client* client, const std::string& name) {
    char* json = nullptr;
    EXPECT_EQ(ingot_daemon_stats(client->get(), &json), INGOT_OK)
        << ingot_last_error();
    if (json == nullptr) return -1;
    const std::string text = json;
    ingot_free(json);
    const std::string quoted = "\"" + name + "\":";
    const size_t at = text.find(quoted);
    EXPECT_NE(at, std::string::npos) << name << " in " << text;
    if (at == std::string::npos) return -1;
    return std::stod(text.substr(at + quoted.size()));
  }

  std::unique_ptr<Daemon> daemon_;
  std::string address_;
};

}  // namespace ingot::testing

#endif  // INGOT_TESTS_E2E_CLIENT_FIXTURE_H_
