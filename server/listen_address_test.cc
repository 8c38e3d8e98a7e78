#include "server/listen_address.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

namespace fs = std::filesystem;

TEST(ListenAddress, LoopbackNeedsNoLeave) {
  for (const char* address :
       {"127.0.0.1:7575", "127.8.8.8:0", "localhost:1", "[::1]:7575"}) {
    EXPECT_TRUE(CheckTcpAddress(address, false).ok()) << address;
  }
  for (const char* address : {"0.0.0.0:1", "10.0.0.1:1", "[::]:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckTcpAddress(address, false)));
    EXPECT_TRUE(CheckTcpAddress(address, true).ok());
  }
  for (const char* address : {"127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000",
                              "example.com:1", "", ":"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckTcpAddress(address, true)))
        << address;
  }
}

class SocketPathTest : public ::testing::Test {
 protected:
  SocketPathTest() {
    std::string pattern = "/tmp/ingot-socket-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~SocketPathTest() override { fs::remove_all(folder_); }

  int Bind(const std::string& path, int type = SOCK_STREAM) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, type, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
              0);
    return fd;
  }

  std::string folder_;
};

TEST_F(SocketPathTest, MakesTheFolder) {
  EXPECT_TRUE(PrepareSocketPath(folder_ + "/a/b/s").ok());
  EXPECT_TRUE(fs::is_directory(folder_ + "/a/b"));
}

TEST_F(SocketPathTest, RemovesWhatNobodyListensOn) {
  const std::string path = folder_ + "/s";
  close(Bind(path));
  ASSERT_TRUE(fs::exists(path));
  EXPECT_TRUE(PrepareSocketPath(path).ok());
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(SocketPathTest, LeavesAnotherDaemonAlone) {
  const std::string path = folder_ + "/s";
  const int fd = Bind(path);
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(PrepareSocketPath(path)));
  EXPECT_TRUE(fs::exists(path));
  close(fd);
}

TEST_F(SocketPathTest, LeavesAloneWhatDoesNotRefuse) {
  const std::string path = folder_ + "/s";
  const int fd = Bind(path, SOCK_DGRAM);
  EXPECT_TRUE(absl::IsFailedPrecondition(PrepareSocketPath(path)));
  EXPECT_TRUE(fs::exists(path));
  close(fd);
}

TEST_F(SocketPathTest, NamesAFolderThatCannotBeWritten) {
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const auto prepare_as_nobody = [this] {
    if (getuid() == 0 && setuid(65534) != 0) _exit(1);
    const absl::Status status = PrepareSocketPath(folder_ + "/s");
    std::fprintf(stderr, "%s", std::string(status.message()).c_str());
    _exit(0);
  };
  EXPECT_EXIT(prepare_as_nobody(), ::testing::ExitedWithCode(0),
              folder_ + "/s: " + folder_ + ": Permission denied");
}

TEST_F(SocketPathTest, LeavesFilesAlone) {
  const std::string path = folder_ + "/s";
  std::ofstream(path) << "mine";
  EXPECT_TRUE(absl::IsFailedPrecondition(PrepareSocketPath(path)));
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(
      absl::IsInvalidArgument(PrepareSocketPath(std::string(200, 'x'))));
}

}  // namespace
}  // namespace ingot::server
