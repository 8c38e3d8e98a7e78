#include "client/src/connection.h"

#include <chrono>

#include "client/testing/scripted_peer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Result {
  CallEnd end;
  std::vector<std::string> messages;
};

class Client {
 public:
  explicit Client(ScriptedPeer* peer)
      : connection_(AdoptSocket(peer->TakeSocket()), "localhost") {}

  Result Call(const std::string& request = "request",
              int64_t timeout_ms = 30000) {
    Result result;
    client::Call call;
    call.method = "/test.Service/Method";
    call.request = reinterpret_cast<const uint8_t*>(request.data());
    call.request_size = request.size();
    call.deadline = Deadline::After(timeout_ms);
    call.on_message = [&](const uint8_t* data, size_t size) {
      result.messages.emplace_back(reinterpret_cast<const char*>(data), size);
      return on_message_status;
    };
    result.end = connection_.Run(call);
    return result;
  }

  bool Usable() { return connection_.Usable(); }

  Status on_message_status;

 private:
  Connection connection_;
};

const HeaderList kOkHeaders = {{":status", "200"},
                               {"content-type", "application/grpc"}};

std::string TrailersOnly(const HeaderList& trailers) {
  HeaderList all = kOkHeaders;
  all.insert(all.end(), trailers.begin(), trailers.end());
  return SettingsFrame() + HeadersFrame(1, all, true);
}

// What one call of one script comes to.
Result CallOnce(const std::string& script, bool linger = true) {
  ScriptedPeer peer({script}, linger);
  Client client(&peer);
  return client.Call();
}

TEST(ConnectionTest, CarriesRequestsAndAnswers) {
  ScriptedPeer peer(
      {SettingsFrame() + GoodAnswer(1, "one"), GoodAnswer(3, "two")});
  Client client(&peer);
  Result first = client.Call("hello");
  EXPECT_TRUE(first.end.status.ok()) << first.end.status.message;
  EXPECT_THAT(first.messages, ElementsAre("one"));
  EXPECT_TRUE(client.Usable());
  EXPECT_THAT(client.Call("").messages, ElementsAre("two"));
}

TEST(ConnectionTest, FramesTheRequest) {
  ScriptedPeer peer({SettingsFrame() + GoodAnswer(1, "")}, false);
  Client client(&peer);
  EXPECT_TRUE(client.Call("hello").end.status.ok());
  EXPECT_EQ(peer.WaitForReceived(), GrpcMessage("hello"));
  EXPECT_FALSE(client.Usable());
}

TEST(ConnectionTest, StreamsMessagesHoweverTheyAreCut) {
  const std::string bytes =
      GrpcMessage("a") + GrpcMessage("") + GrpcMessage(std::string(300, 'b'));
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{6}, bytes.size()}) {
    std::string script = SettingsFrame() + HeadersFrame(1, kOkHeaders, false);
    for (size_t at = 0; at < bytes.size(); at += piece) {
      script += DataFrame(1, bytes.substr(at, piece), false);
    }
    script += HeadersFrame(1, {{"grpc-status", "0"}}, true);
    const Result result = CallOnce(script);
    EXPECT_TRUE(result.end.status.ok()) << result.end.status.message;
    EXPECT_THAT(result.messages, ElementsAre("a", "", std::string(300, 'b')));
  }
}

TEST(ConnectionTest, TrailersOnlyErrorsKeepCodeAndMessage) {
  const Result result = CallOnce(TrailersOnly(
      {{"grpc-status", "9"}, {"grpc-message", "100%25 %C3%A4rger%0A%zz%4"}}));
  EXPECT_EQ(result.end.status.code, INGOT_FAILED_PRECONDITION);
  EXPECT_EQ(result.end.status.message, "100% \xc3\xa4rger\n%zz%4");
  EXPECT_EQ(result.end.status.retry_after_ms, -1);
  EXPECT_FALSE(result.end.unanswered);
  EXPECT_THAT(result.messages, IsEmpty());
}

TEST(ConnectionTest, RetryInfoIsRead) {
  // google.rpc.Status {8, "full", RetryInfo {0.25 s}}.
  const Result result = CallOnce(TrailersOnly(
      {{"grpc-status", "8"},
       {"grpc-status-details-bin",
        "CAgSBGZ1bGwaNwoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbx"
        "ILCgkIABCA5Zp3GAA"}}));
  EXPECT_EQ(result.end.status.code, INGOT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(result.end.status.retry_after_ms, 250);
}

TEST(ConnectionTest, MissingStatusIsNeverSuccess) {
  const std::string headers =
      SettingsFrame() + HeadersFrame(1, kOkHeaders, false);
  EXPECT_EQ(
      CallOnce(headers + DataFrame(1, GrpcMessage("x"), true)).end.status.code,
      INGOT_INTERNAL);
  EXPECT_EQ(
      CallOnce(SettingsFrame() + HeadersFrame(1, {{":status", "503"}}, true))
          .end.status.code,
      INGOT_UNAVAILABLE);
  EXPECT_EQ(
      CallOnce(SettingsFrame() + HeadersFrame(1, {{":status", "404"}}, true))
          .end.status.code,
      INGOT_UNIMPLEMENTED);
}

TEST(ConnectionTest, OkInsideAMessageIsAnError) {
  const Result result =
      CallOnce(SettingsFrame() + HeadersFrame(1, kOkHeaders, false) +
               DataFrame(1, GrpcMessage("whole").substr(0, 7), false) +
               HeadersFrame(1, {{"grpc-status", "0"}}, true));
  EXPECT_EQ(result.end.status.code, INGOT_INTERNAL);
}

TEST(ConnectionTest, CompressedAndOversizedMessagesAreRefused) {
  const std::string head = SettingsFrame() + HeadersFrame(1, kOkHeaders, false);
  EXPECT_EQ(CallOnce(head + DataFrame(1, GrpcMessage("x", true), false))
                .end.status.code,
            INGOT_UNIMPLEMENTED);
  const Result large = CallOnce(
      head + DataFrame(1, std::string("\0\xff\xff\xff\xff", 5), false));
  EXPECT_EQ(large.end.status.code, INGOT_RESOURCE_EXHAUSTED);
  EXPECT_THAT(large.end.status.message, HasSubstr("found 4294967295 bytes"));
}

TEST(ConnectionTest, WhatTheReceiverRefusesEndsTheCall) {
  ScriptedPeer peer({SettingsFrame() + HeadersFrame(1, kOkHeaders, false) +
                     DataFrame(1, GrpcMessage("x"), false)});
  Client client(&peer);
  client.on_message_status = Error(INGOT_DATA_LOSS, "not that");
  const Result result = client.Call();
  EXPECT_EQ(result.end.status.code, INGOT_DATA_LOSS);
  EXPECT_EQ(result.end.status.message, "not that");
}

TEST(ConnectionTest, ResetsHaveTheirCodes) {
  const struct {
    uint32_t http2;
    int code;
    bool unanswered;
  } cases[] = {{7, INGOT_UNAVAILABLE, true},
               {8, INGOT_CANCELLED, false},
               {11, INGOT_RESOURCE_EXHAUSTED, false},
               {12, INGOT_PERMISSION_DENIED, false},
               {2, INGOT_INTERNAL, false}};
  for (const auto& expected : cases) {
    const Result result =
        CallOnce(SettingsFrame() + ResetFrame(1, expected.http2));
    EXPECT_EQ(result.end.status.code, expected.code) << expected.http2;
    EXPECT_EQ(result.end.unanswered, expected.unanswered) << expected.http2;
  }
}

TEST(ConnectionTest, GoawayBeforeTheCallMeansUnanswered) {
  const Result result = CallOnce(SettingsFrame() + GoawayFrame(0, 0));
  EXPECT_EQ(result.end.status.code, INGOT_UNAVAILABLE);
  EXPECT_TRUE(result.end.unanswered);
}

TEST(ConnectionTest, GoawayAfterTheCallLetsItFinish) {
  ScriptedPeer peer(
      {SettingsFrame() + GoawayFrame(1, 0) + GoodAnswer(1, "last")});
  Client client(&peer);
  const Result result = client.Call();
  EXPECT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_THAT(result.messages, ElementsAre("last"));
  EXPECT_FALSE(client.Usable());
}

TEST(ConnectionTest, LostConnectionsAreUnavailable) {
  const Result before = CallOnce(SettingsFrame(), false);
  EXPECT_EQ(before.end.status.code, INGOT_UNAVAILABLE);
  EXPECT_TRUE(before.end.unanswered);
  const Result inside =
      CallOnce(SettingsFrame() + HeadersFrame(1, kOkHeaders, false), false);
  EXPECT_EQ(inside.end.status.code, INGOT_UNAVAILABLE);
  EXPECT_FALSE(inside.end.unanswered);
}

TEST(ConnectionTest, GarbageBreaksTheConnectionAndNothingElse) {
  const Result result =
      CallOnce("HTTP/1.1 400 Bad Request\r\n\r\nwhat is this");
  EXPECT_FALSE(result.end.status.ok());
  std::string frames;
  for (int i = 0; i < 64; ++i) frames += static_cast<char>(i * 37);
  EXPECT_FALSE(CallOnce(SettingsFrame() + frames, false).end.status.ok());
}

TEST(ConnectionTest, SilenceEndsAtTheDeadline) {
  ScriptedPeer peer({SettingsFrame() + PingFrame()});
  Client client(&peer);
  const auto start = std::chrono::steady_clock::now();
  const Result result = client.Call("request", 150);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.end.status.code, INGOT_DEADLINE_EXCEEDED);
  EXPECT_GE(took, std::chrono::milliseconds(150));
  EXPECT_FALSE(client.Usable());
}

TEST(ConnectionTest, APeerThatNeverReadsEndsAtTheDeadline) {
  ScriptedPeer peer({}, true);
  Client client(&peer);
  // Larger than what the sockets and the peer's window hold.
  const Result result = client.Call(std::string(8 << 20, 'x'), 200);
  EXPECT_EQ(result.end.status.code, INGOT_DEADLINE_EXCEEDED);
}

}  // namespace
}  // namespace ingot::client
