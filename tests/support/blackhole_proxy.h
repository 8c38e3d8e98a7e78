// A relay between clients and a daemon, as a middlebox that loses connections:
// from a chosen moment on it swallows what both ends of a connection send, and
// tells neither.
#ifndef INGOT_TESTS_SUPPORT_BLACKHOLE_PROXY_H_
#define INGOT_TESTS_SUPPORT_BLACKHOLE_PROXY_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

namespace ingot::testing {

class BlackholeProxy {
 public:
  // When a connection is lost, by what the daemon sends on it.
  enum class Moment {
    kNever,
    kAtOnce,
    kBeforeHeaders,  // of the first answer
    kMidReply,       // within the first frame of data
    kAfterGoaway,    // once it has passed
  };

  // Listens on `path` and relays to `daemon`, both paths of Unix sockets. A
  // daemon that is not there shows as a connection that closes.
  BlackholeProxy(const std::string& path, const std::string& daemon);
  ~BlackholeProxy();
  BlackholeProxy(const BlackholeProxy&) = delete;
  BlackholeProxy& operator=(const BlackholeProxy&) = delete;

  std::string address() const { return "unix:" + path_; }
  // Of connections that are accepted from now on. Those that are lost stay so.
  // Any thread.
  void LoseNextAt(Moment moment) { moment_.store(moment); }
  // Every connection there is, now. Any thread.
  void LoseAll();
  int accepted() const { return accepted_.load(); }
  int lost() const { return lost_.load(); }

 private:
  struct Link;

  void Serve();
  void Accept();
  // False when the connection is to be closed.
  bool Relay(Link* link, int* from, int to, bool is_reply);
  std::string Pass(Link* link, const std::string& bytes);
  void Lose(Link* link);
  static void Close(Link* link);

  const std::string path_;
  const std::string daemon_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};
  std::atomic<Moment> moment_{Moment::kNever};
  std::atomic<bool> lose_all_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> lost_{0};
  std::list<Link> links_;  // the thread's
  std::thread thread_;
};

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_BLACKHOLE_PROXY_H_
