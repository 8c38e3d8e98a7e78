#include "server/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

int ConnectTo(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

// Closes what is accepted and keeps what it was told.
class Guests {
 public:
  void Start(UnixListener& listener) {
    listener.Start([this](int fd, const UnixPeer& peer) {
      close(fd);
      const std::lock_guard<std::mutex> lock(mutex_);
      numbers_.push_back(fd);
      peers_.push_back(peer);
      changed_.notify_all();
    });
  }
  void WaitFor(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return numbers_.size() >= count; });
  }
  const std::vector<int>& numbers() const { return numbers_; }
  const std::vector<UnixPeer>& peers() const { return peers_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> numbers_;
  std::vector<UnixPeer> peers_;
};

class UnixListenerTest : public ::testing::Test {
 protected:
  cache::TempDir folder_;
  const std::string path_ = folder_.path() + "/s";
};

TEST_F(UnixListenerTest, TellsWhoConnects) {
  auto listener = UnixListener::Open(path_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat made = {};
  ASSERT_EQ(lstat(path_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0660u);
  const int early = ConnectTo(path_);  // waits for Start
  EXPECT_GE(early, 0);
  Guests guests;
  guests.Start(**listener);
  guests.WaitFor(1);
  EXPECT_EQ(guests.peers()[0].uid, getuid());
  EXPECT_EQ(guests.peers()[0].gid, getgid());
  EXPECT_EQ(guests.peers()[0].pid, getpid());
  close(early);
  (*listener)->Stop();
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
  EXPECT_EQ(ConnectTo(path_), -1);
}

TEST_F(UnixListenerTest, ANumberIsNotUsedAgainSoon) {
  auto listener = UnixListener::Open(path_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  Guests guests;
  guests.Start(**listener);
  constexpr size_t kMany = 300;  // each is closed before the next comes
  for (size_t n = 1; n <= kMany; ++n) {
    close(ConnectTo(path_));
    guests.WaitFor(n);
  }
  std::vector<int> numbers = guests.numbers();
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
}

TEST_F(UnixListenerTest, LeavesAnothersSocketAlone) {
  auto first = UnixListener::Open(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(UnixListener::Open(path_).status()));
  // Somebody put a new one in its place.
  ASSERT_EQ(unlink(path_.c_str()), 0);
  auto second = UnixListener::Open(path_);
  ASSERT_TRUE(second.ok()) << second.status();
  (*first)->Stop();
  const int fd = ConnectTo(path_);
  EXPECT_GE(fd, 0);
  close(fd);
}

TEST_F(UnixListenerTest, AdoptsOnlyAListeningUnixSocket) {
  const int plain = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(UnixListener::Adopt(plain).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(UnixListener::Adopt(12345).status()));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  ASSERT_EQ(
      bind(plain, reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
      0);
  ASSERT_EQ(listen(plain, 4), 0);
  auto adopted = UnixListener::Adopt(plain);
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  Guests guests;
  guests.Start(**adopted);
  close(ConnectTo(path_));
  guests.WaitFor(1);
  (*adopted)->Stop();
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);  // not ours to remove
}

}  // namespace
}  // namespace ingot::server
