#include "server/log.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using ::testing::EndsWith;
using ::testing::MatchesRegex;

TEST(Log, WritesALineOfJson) {
  std::string path =
      (std::filesystem::temp_directory_path() / "ingot-log-XXXXXX").string();
  ASSERT_GE(mkstemp(path.data()), 0);
  {
    const auto log = Log::Open("info", path);
    ASSERT_TRUE(log.ok()) << log.status();
    (*log)->Write(Log::Level::kInfo, "request",
                  {{"request_id", "a\"b\n"}, {"wait_us", 12}});
    (*log)->Write(Log::Level::kDebug, "unseen", {});
    EXPECT_FALSE((*log)->Enabled(Log::Level::kDebug));
  }
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove(path);
  EXPECT_THAT(
      text,
      EndsWith(
          R"("level":"info","event":"request","request_id":"a\"b\u000a","wait_us":12})"
          "\n"));
  EXPECT_THAT(text, MatchesRegex("\\{\"ts\":\"[-0-9]*T[0-9:.]*Z\",[^\n]*\n"));
}

TEST(Log, QuotesWhateverItGets) {
  EXPECT_EQ(JsonString("plain"), "\"plain\"");
  EXPECT_EQ(JsonString("\\\t"), R"("\\\u0009")");
  EXPECT_EQ(JsonString("grün"), "\"grün\"");
  EXPECT_EQ(JsonString("\xff\xc3"), R"("\ufffd\ufffd")");
}

TEST(Log, AFileThatCannotBeOpenedIsAnError) {
  EXPECT_FALSE(Log::Open("info", "/proc/nowhere/log").ok());
}

}  // namespace
}  // namespace ingot::server
