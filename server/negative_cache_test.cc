#include "server/negative_cache.h"

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using std::chrono::seconds;
using Kind = NegativeCache::Kind;

class NegativeCacheTest : public ::testing::Test {
 protected:
  MonotonicTime now_{};
  NegativeCache cache_{3, seconds(100), seconds(10), [this] { return now_; }};
};

TEST_F(NegativeCacheTest, ReplaysTheRefusal) {
  const absl::Status refusal = absl::FailedPreconditionError("too much LDS");
  EXPECT_TRUE(cache_.Find("k").ok());
  cache_.Remember("k", Kind::kPermanent, refusal);
  EXPECT_EQ(cache_.Find("k"), refusal);
  EXPECT_TRUE(cache_.Find("other").ok());
}

TEST_F(NegativeCacheTest, EachKindHasItsTime) {
  cache_.Remember("p", Kind::kPermanent, absl::InternalError("verifier"));
  cache_.Remember("t", Kind::kTransient, absl::UnavailableError("memory"));
  now_ += seconds(9);
  EXPECT_FALSE(cache_.Find("t").ok());
  now_ += seconds(1);
  EXPECT_TRUE(cache_.Find("t").ok());
  EXPECT_FALSE(cache_.Find("p").ok());
  now_ += seconds(90);
  EXPECT_TRUE(cache_.Find("p").ok());
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(NegativeCacheTest, TheOldestGoes) {
  for (const char* key : {"a", "b", "c", "a", "d"}) {
    cache_.Remember(key, Kind::kPermanent, absl::InternalError(key));
  }
  EXPECT_EQ(cache_.size(), 3u);
  EXPECT_TRUE(cache_.Find("b").ok());
  EXPECT_FALSE(cache_.Find("a").ok());  // remembered again after b and c
}

TEST_F(NegativeCacheTest, Forgets) {
  cache_.Remember("a", Kind::kPermanent, absl::InternalError(""));
  cache_.Remember("b", Kind::kPermanent, absl::InternalError(""));
  cache_.Forget("a");
  cache_.Forget("nothing");
  EXPECT_TRUE(cache_.Find("a").ok());
  cache_.Clear();
  EXPECT_TRUE(cache_.Find("b").ok());
}

}  // namespace
}  // namespace ingot::server
