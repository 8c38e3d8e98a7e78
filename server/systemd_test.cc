#include "server/systemd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

void Set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

TEST(Systemd, NothingHandedOver) {
  const Systemd systemd = Systemd::Take();
  EXPECT_FALSE(systemd.socket());
  EXPECT_FALSE(systemd.watchdog());
  systemd.Notify("READY=1");  // nobody listens
}

TEST(Systemd, TakesTheSocketMeantForThisProcess) {
  Set("LISTEN_FDS", "1");
  Set("LISTEN_PID", std::to_string(getpid()));
  EXPECT_EQ(Systemd::Take().socket(), 3);
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  EXPECT_EQ(std::getenv("LISTEN_PID"), nullptr);

  Set("LISTEN_FDS", "1");
  Set("LISTEN_PID", std::to_string(getpid() + 1));
  EXPECT_FALSE(Systemd::Take().socket());
  for (const char* count : {"0", "-1", "x", ""}) {
    Set("LISTEN_FDS", count);
    Set("LISTEN_PID", std::to_string(getpid()));
    EXPECT_FALSE(Systemd::Take().socket()) << count;
  }
}

TEST(Systemd, Watchdog) {
  Set("WATCHDOG_USEC", "3000000");
  EXPECT_EQ(Systemd::Take().watchdog(), std::chrono::seconds(3));
  Set("WATCHDOG_USEC", "3000000");
  Set("WATCHDOG_PID", std::to_string(getpid() + 1));
  EXPECT_FALSE(Systemd::Take().watchdog());
}

TEST(Systemd, NotifiesAnAbstractSocket) {
  const std::string name = "@ingot-systemd-test-" + std::to_string(getpid());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
                                        name.size())),
            0);
  Set("NOTIFY_SOCKET", name);
  Systemd::Take().Notify("READY=1");
  char received[32] = "";
  EXPECT_EQ(recv(fd, received, sizeof(received), MSG_DONTWAIT), 7);
  EXPECT_STREQ(received, "READY=1");
  close(fd);
}

}  // namespace
}  // namespace ingot::server
