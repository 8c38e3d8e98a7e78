#include "server/bundles.h"

#include <filesystem>

#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

namespace fs = std::filesystem;

class BundlesTest : public ::testing::Test {
 protected:
  static std::string Key(char c) { return std::string(32, c); }

  cache::TempDir dir_;
  const std::string folder_ = dir_.path();
};

TEST_F(BundlesTest, QuarantineIsReadBack) {
  Bundles bundles(folder_, 8);
  bundles.Write(Key('a'), {"encoding", "it crashed", "log", "", true});
  bundles.Write(Key('b'), {"other", "it failed", "", "module {}", false});
  const std::vector<Bundle> loaded = Bundles(folder_, 8).LoadQuarantined();
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded[0].key_encoding, "encoding");
  EXPECT_EQ(loaded[0].reason, "it crashed");
  EXPECT_TRUE(fs::exists(folder_ + "/" + Bundles::Id(Key('b')) + "/ir"));
  bundles.Remove(Key('a'));
  EXPECT_TRUE(bundles.LoadQuarantined().empty());
}

TEST_F(BundlesTest, OnlySoManyAreKept) {
  Bundles bundles(folder_, 3);
  for (char c = 'a'; c < 'k'; ++c) bundles.Write(Key(c), {"e", "r"});
  int left = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    left += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(left, 3);
}

TEST_F(BundlesTest, AFolderThatCannotBeMadeIsNoMatter) {
  Bundles bundles("/proc/nowhere", 3);
  bundles.Write(Key('a'), {"e", "r"});
  EXPECT_TRUE(bundles.LoadQuarantined().empty());
}

TEST_F(BundlesTest, AreListedAndLoadedById) {
  Bundles bundles(folder_, 8);
  EXPECT_TRUE(bundles.List().empty());
  bundles.Write(Key('a'),
                {"encoding", "it crashed", "the end", "module {}", true});
  const std::string id = Bundles::Id(Key('a'));
  EXPECT_EQ(bundles.List(), std::vector<std::string>{id});
  const absl::StatusOr<Bundle> loaded = bundles.Load(id);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->key_encoding, "encoding");
  EXPECT_EQ(loaded->reason, "it crashed");
  EXPECT_EQ(loaded->log, "the end");
  EXPECT_EQ(loaded->ir, "module {}");
  EXPECT_TRUE(loaded->quarantined);
  for (const char* other :
       {"", ".", "..", "../bundles", "6161616161616162", "616161616161616"}) {
    EXPECT_TRUE(absl::IsNotFound(bundles.Load(other).status())) << other;
  }
}

}  // namespace
}  // namespace ingot::server
