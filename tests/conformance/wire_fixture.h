// A folder for a socket, channels to it, and calls that carry an order for the
// reference server.
#ifndef INGOT_TESTS_CONFORMANCE_WIRE_FIXTURE_H_
#define INGOT_TESTS_CONFORMANCE_WIRE_FIXTURE_H_

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "client/src/channel.h"
#include "gtest/gtest.h"
#include "tests/conformance/reference_server.h"

namespace ingot::testing {

class WireTest : public ::testing::Test {
 protected:
  WireTest() {
    char name[] = "/tmp/ingot-wire-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~WireTest() override { std::filesystem::remove_all(folder_); }

  std::string Socket() const { return "unix:" + folder_ + "/s"; }

  static std::unique_ptr<client::Channel> Open(const std::string& address) {
    client::ChannelOptions options;
    EXPECT_TRUE(ParseAddress(address, &options.address).ok());
    return std::make_unique<client::Channel>(std::move(options));
  }

  static client::Status Call(client::Channel* channel, const std::string& order,
                             v1::GetKernelResponse* response,
                             int64_t timeout_ms = 20000,
                             const std::string& padding = "") {
    v1::GetKernelRequest request;
    request.set_request_id(order);
    if (!padding.empty()) request.add_held_digests(padding);
    return Send(
        channel, "/ingot.v1.Kernels/GetKernel", request, timeout_ms,
        [&](const uint8_t* data, size_t size) {
          EXPECT_TRUE(response->ParseFromArray(data, static_cast<int>(size)));
          return client::Status();
        });
  }

  static client::Status Call(client::Channel* channel,
                             const std::string& order) {
    v1::GetKernelResponse response;
    return Call(channel, order, &response);
  }

  static client::Status Send(client::Channel* channel, const char* method,
                             const google::protobuf::Message& request,
                             int64_t timeout_ms, client::OnMessage on_message) {
    const std::string bytes = request.SerializeAsString();
    client::Call call;
    call.method = method;
    call.request = reinterpret_cast<const uint8_t*>(bytes.data());
    call.request_size = bytes.size();
    call.deadline = client::Deadline::After(timeout_ms);
    call.on_message = std::move(on_message);
    return channel->Invoke(call);
  }

  std::string folder_;
};

}  // namespace ingot::testing

#endif  // INGOT_TESTS_CONFORMANCE_WIRE_FIXTURE_H_
