#include "server/worker/framing.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using std::chrono::milliseconds;

class FramingTest : public ::testing::Test {
 protected:
  FramingTest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  ~FramingTest() override {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  void SendRaw(absl::string_view bytes) {
    ASSERT_EQ(write(ends_[0], bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  void CloseFirst() {
    close(ends_[0]);
    ends_[0] = -1;
  }
  int ends_[2];
};

TEST_F(FramingTest, MessagesArriveWhole) {
  const std::string large(5 << 20, 'x');
  std::thread writer([&] {
    EXPECT_TRUE(WriteFrame(ends_[0], "").ok());
    EXPECT_TRUE(WriteFrame(ends_[0], "abc").ok());
    EXPECT_TRUE(WriteFrame(ends_[0], large).ok());
  });
  EXPECT_EQ(ReadFrame(ends_[1]).value_or("?"), "");
  EXPECT_EQ(ReadFrame(ends_[1]).value_or("?"), "abc");
  EXPECT_EQ(ReadFrame(ends_[1]).value_or("?"), large);
  writer.join();
}

TEST_F(FramingTest, AReaderGivesUpInTime) {
  SendRaw(absl::string_view("\x05\x00\x00\x00xy", 6));
  const MonotonicTime start = SteadyNow();
  const absl::Status status =
      ReadFrame(ends_[1], start + milliseconds(50)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_GE(SteadyNow() - start, milliseconds(50));
}

TEST_F(FramingTest, AWriterGivesUpOnAReaderThatHangs) {
  const std::string large(16 << 20, 'x');
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      WriteFrame(ends_[0], large, SteadyNow() + milliseconds(50))));
}

TEST_F(FramingTest, TheOtherEndIsGone) {
  SendRaw(absl::string_view("\x05\x00", 2));
  CloseFirst();
  EXPECT_TRUE(absl::IsUnavailable(ReadFrame(ends_[1]).status()));
  EXPECT_TRUE(absl::IsUnavailable(WriteFrame(ends_[1], "abc")));
}

TEST_F(FramingTest, AnAbsurdLengthIsNoLength) {
  SendRaw("\xff\xff\xff\x7f");
  EXPECT_TRUE(absl::IsDataLoss(ReadFrame(ends_[1]).status()));
}

}  // namespace
}  // namespace ingot::server
