#include "server/disabled.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kKey(32, 'k');

v1::DisabledItem Op(const std::string& op) {
  v1::DisabledItem item;
  item.set_op(op);
  item.set_reason("wrong sums");
  item.set_who("user:alice");
  item.set_since_unix_ms(1767225600000);
  return item;
}

v1::DisabledItem Key(const std::string& key) {
  v1::DisabledItem item = Op("");
  item.set_key(key);
  return item;
}

class DisabledTest : public ::testing::Test {
 protected:
  std::unique_ptr<Disabled> Open() {
    auto disabled = Disabled::Open(
        path_, [this](const std::string& line) { log_ += line; });
    EXPECT_TRUE(disabled.ok()) << disabled.status();
    return *std::move(disabled);
  }

  cache::TempDir folder_;
  const std::string path_ = folder_ / "disabled";
  std::string log_;
};

TEST_F(DisabledTest, SaysWhoWhenAndWhy) {
  const auto disabled = Open();
  EXPECT_TRUE(disabled->CheckOp("gemm").ok());
  ASSERT_TRUE(disabled->Add({Op("gemm"), Key(kKey)}).ok());
  const absl::Status op = disabled->CheckOp("gemm");
  EXPECT_EQ(op.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(op.message(),
            "op gemm: disabled by user:alice since 2026-01-01T00:00:00Z: wrong "
            "sums");
  const std::string name = "kernel 6b6b";
  EXPECT_THAT(std::string(disabled->CheckKey(kKey).message()), HasSubstr(name));
  EXPECT_TRUE(disabled->CheckOp("rmsnorm").ok());
  EXPECT_TRUE(disabled->CheckKey(std::string(32, 'l')).ok());
  // An op that is called like a key's bytes is not that key.
  EXPECT_TRUE(disabled->CheckOp(kKey).ok());
}

TEST_F(DisabledTest, HoldsOverARestart) {
  ASSERT_TRUE(Open()->Add({Op("gemm"), Op("rmsnorm"), Key(kKey)}).ok());
  {
    const auto again = Open();
    EXPECT_THAT(again->List(), SizeIs(3));
    const auto removed = again->Remove({Op("gemm"), Op("topk")}, false);
    ASSERT_TRUE(removed.ok());
    EXPECT_THAT(*removed, SizeIs(1));
    EXPECT_EQ((*removed)[0].reason(), "wrong sums");
  }
  {
    const auto again = Open();
    EXPECT_TRUE(again->CheckOp("gemm").ok());
    EXPECT_FALSE(again->CheckOp("rmsnorm").ok());
    EXPECT_FALSE(again->CheckKey(kKey).ok());
    EXPECT_THAT(*again->Remove({}, true), SizeIs(2));
  }
  EXPECT_THAT(Open()->List(), IsEmpty());
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(DisabledTest, TheJournalDoesNotGrowForEver) {
  for (int i = 0; i < 100; ++i) {
    const auto disabled = Open();
    ASSERT_TRUE(disabled->Add({Op("gemm")}).ok());
    ASSERT_TRUE(disabled->Remove({Op("gemm")}, false).ok());
  }
  ASSERT_TRUE(Open()->Add({Op("rmsnorm")}).ok());
  EXPECT_LT(std::filesystem::file_size(path_), 100 * 70);
  EXPECT_FALSE(Open()->CheckOp("rmsnorm").ok());
}

// What is wrong must not be handed out because a disk is full.
TEST_F(DisabledTest, IsInForceThoughItCannotBeWritten) {
  const auto disabled = Open();
  ASSERT_TRUE(disabled->Add({Op("rmsnorm")}).ok());
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &tight);
  const absl::Status added = disabled->Add({Op("gemm")});
  const auto removed = disabled->Remove({Op("rmsnorm")}, false);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_FALSE(added.ok());
  EXPECT_FALSE(removed.ok());
  EXPECT_FALSE(disabled->CheckOp("gemm").ok());
  EXPECT_FALSE(disabled->CheckOp("rmsnorm").ok());
}

}  // namespace
}  // namespace ingot::server
