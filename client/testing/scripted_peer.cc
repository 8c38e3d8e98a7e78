#include "client/testing/scripted_peer.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace ingot::client {
namespace {

enum FrameType {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoaway = 7
};
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr size_t kPrefaceSize = 24;

std::string BigEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) {
    text += static_cast<char>(value >> (8 * i));
  }
  return text;
}

std::string Frame(FrameType type, uint8_t flags, uint32_t stream,
                  const std::string& payload) {
  return BigEndian(payload.size(), 3) + static_cast<char>(type) +
         static_cast<char>(flags) + BigEndian(stream, 4) + payload;
}

// HPACK: a literal without indexing and without Huffman. Lengths below 127.
std::string HpackString(const std::string& text) {
  return static_cast<char>(text.size()) + text;
}

}  // namespace

std::string SettingsFrame() { return Frame(kSettings, 0, 0, ""); }

std::string HeadersFrame(uint32_t stream, const HeaderList& headers,
                         bool end_stream) {
  std::string block;
  for (const auto& [name, value] : headers) {
    block += '\0' + HpackString(name) + HpackString(value);
  }
  return Frame(
      kHeaders,
      static_cast<uint8_t>(kEndHeaders | (end_stream ? kEndStream : 0)), stream,
      block);
}

std::string DataFrame(uint32_t stream, const std::string& payload,
                      bool end_stream) {
  return Frame(kData, end_stream ? kEndStream : 0, stream, payload);
}

std::string ResetFrame(uint32_t stream, uint32_t error) {
  return Frame(kReset, 0, stream, BigEndian(error, 4));
}

std::string GoawayFrame(uint32_t last_stream, uint32_t error) {
  return Frame(kGoaway, 0, 0, BigEndian(last_stream, 4) + BigEndian(error, 4));
}

std::string PingFrame() { return Frame(kPing, 0, 0, "ingotest"); }

std::string GrpcMessage(const std::string& bytes, bool compressed) {
  return std::string(1, compressed ? 1 : 0) + BigEndian(bytes.size(), 4) +
         bytes;
}

std::string GoodAnswer(uint32_t stream, const std::string& message) {
  return HeadersFrame(
             stream, {{":status", "200"}, {"content-type", "application/grpc"}},
             false) +
         DataFrame(stream, GrpcMessage(message), false) +
         HeadersFrame(stream, {{"grpc-status", "0"}}, true);
}

ScriptedPeer::ScriptedPeer(std::vector<std::string> script, bool linger) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  client_ = ends[0];
  server_ = ends[1];
  thread_ = std::thread(
      [this, script = std::move(script), linger] { Serve(script, linger); });
}

ScriptedPeer::~ScriptedPeer() {
  if (server_ >= 0) shutdown(server_, SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
  if (server_ >= 0) close(server_);
  if (client_ >= 0) close(client_);
}

const std::string& ScriptedPeer::WaitForReceived() {
  if (thread_.joinable()) thread_.join();
  return received_;
}

int ScriptedPeer::TakeSocket() { return std::exchange(client_, -1); }

bool ScriptedPeer::ReadExactly(size_t size, std::string* bytes) {
  bytes->resize(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t got = recv(server_, bytes->data() + done, size - done, 0);
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

bool ScriptedPeer::ReadRequest() {
  std::string bytes;
  if (!preface_read_ && !ReadExactly(kPrefaceSize, &bytes)) return false;
  preface_read_ = true;
  for (;;) {
    if (!ReadExactly(9, &bytes)) return false;
    const auto byte = [&](int i) { return static_cast<uint8_t>(bytes[i]); };
    const size_t size = static_cast<size_t>(byte(0)) << 16 | byte(1) << 8 |
                        static_cast<size_t>(byte(2));
    const uint8_t type = byte(3);
    const uint8_t flags = byte(4);
    if (!ReadExactly(size, &bytes)) return false;
    if (type != kData) continue;
    received_ += bytes;
    if ((flags & kEndStream) != 0) return true;
  }
}

void ScriptedPeer::Serve(std::vector<std::string> script, bool linger) {
  for (const std::string& answer : script) {
    if (!ReadRequest()) return;
    size_t sent = 0;
    while (sent < answer.size()) {
      const ssize_t put = send(server_, answer.data() + sent,
                               answer.size() - sent, MSG_NOSIGNAL);
      if (put <= 0) return;
      sent += static_cast<size_t>(put);
    }
  }
  if (!linger) {
    shutdown(server_, SHUT_RDWR);
    return;
  }
  std::string rest;
  while (ReadExactly(1, &rest)) {
  }
}

}  // namespace ingot::client
