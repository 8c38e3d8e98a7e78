// A server that knows just enough HTTP/2 to misbehave on purpose: it waits for
// a whole request and answers with the bytes of a script. For tests.
#ifndef INGOT_CLIENT_TESTING_SCRIPTED_PEER_H_
#define INGOT_CLIENT_TESTING_SCRIPTED_PEER_H_

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ingot::client {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// Frames, ready to send.
std::string SettingsFrame();
std::string HeadersFrame(uint32_t stream, const HeaderList& headers,
                         bool end_stream);
std::string DataFrame(uint32_t stream, const std::string& payload,
                      bool end_stream);
std::string ResetFrame(uint32_t stream, uint32_t error);
std::string GoawayFrame(uint32_t last_stream, uint32_t error);
std::string PingFrame();

// A gRPC message with its prefix.
std::string GrpcMessage(const std::string& bytes, bool compressed = false);

// A whole good answer.
std::string GoodAnswer(uint32_t stream, const std::string& message);

class ScriptedPeer {
 public:
  // Answers the first request with script[0] and so on; after the last one it
  // closes the connection, or with `linger` keeps it open until destroyed.
  explicit ScriptedPeer(std::vector<std::string> script, bool linger = true);
  ~ScriptedPeer();
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  // The client's end, once; the taker closes it.
  int TakeSocket();

  // Waits for the end of a script that does not linger: the bytes of request
  // bodies, message prefixes included.
  const std::string& WaitForReceived();

 private:
  void Serve(std::vector<std::string> script, bool linger);
  bool ReadRequest();
  bool ReadExactly(size_t size, std::string* bytes);

  int client_ = -1;
  int server_ = -1;
  bool preface_read_ = false;
  std::string received_;
  std::thread thread_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_TESTING_SCRIPTED_PEER_H_
