#include "server/object_parts.h"

#include <string>

#include "cache/digest.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using std::chrono::seconds;

class ObjectPartsTest : public ::testing::Test {
 protected:
  // Bytes of the object that are there after a part of it.
  uint64_t Add(const std::string& object, size_t offset, size_t size) {
    const absl::StatusOr<uint64_t> held =
        parts_.Add(cache::Sha256(object), offset, object.size(),
                   absl::string_view(object).substr(offset, size));
    EXPECT_TRUE(held.ok()) << held.status();
    return held.value_or(~uint64_t{0});
  }
  std::optional<std::string> Whole(const std::string& object) {
    return parts_.Whole(cache::Sha256(object));
  }

  MonotonicTime now_{};
  ObjectParts parts_{1000, seconds(60), [this] { return now_; }};
};

TEST_F(ObjectPartsTest, PartsMakeAnObject) {
  const std::string object(300, 'a');
  EXPECT_EQ(Add(object, 0, 100), 100u);
  EXPECT_EQ(Whole(object), std::nullopt);
  EXPECT_EQ(Add(object, 200, 100), 100u) << "there is a hole";
  EXPECT_EQ(Add(object, 0, 100), 100u) << "sent twice";
  EXPECT_EQ(Add(object, 100, 200), 300u);
  EXPECT_EQ(Whole(object), object);
  EXPECT_EQ(parts_.bytes(), 300u);
  parts_.Forget(cache::Sha256(object));
  EXPECT_EQ(Whole(object), std::nullopt);
  EXPECT_EQ(parts_.bytes(), 0u);
}

TEST_F(ObjectPartsTest, AnotherDigestIsForgotten) {
  const std::string object(300, 'a');
  const std::string other(300, 'b');
  ASSERT_TRUE(
      parts_.Add(cache::Sha256(other), 0, 300, object.substr(0, 200)).ok());
  const auto whole =
      parts_.Add(cache::Sha256(other), 200, 300, object.substr(200));
  EXPECT_TRUE(absl::IsDataLoss(whole.status())) << whole.status();
  EXPECT_EQ(Whole(other), std::nullopt);
  EXPECT_EQ(parts_.bytes(), 0u);
}

TEST_F(ObjectPartsTest, SizesThatCannotBeAreRefused) {
  const std::string digest(32, 'd');
  for (const auto& [offset, total] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 0}, {0, 2}, {1, 3}, {~uint64_t{0}, 3}, {0, ~uint64_t{0}}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        parts_.Add(digest, offset, total, "abc").status()))
        << offset << " of " << total;
  }
  EXPECT_FALSE(parts_.Add("short", 0, 3, "abc").ok());
  EXPECT_FALSE(
      parts_
          .Add(digest, 0, kMaxObjectBytes, std::string(kMaxPartBytes + 1, 'x'))
          .ok());
}

TEST_F(ObjectPartsTest, TheOldestMakesRoom) {
  const std::string first(500, 'a');
  const std::string second(500, 'b');
  const std::string third(500, 'c');
  Add(first, 0, 400);
  now_ += seconds(1);
  Add(second, 0, 400);
  now_ += seconds(1);
  Add(first, 400, 100);
  EXPECT_EQ(Add(third, 0, 400), 400u);
  EXPECT_EQ(Whole(first), first);
  EXPECT_EQ(Add(second, 400, 100), 0u) << "it is gone";
  EXPECT_LE(parts_.bytes(), 1000u);
}

TEST_F(ObjectPartsTest, WhatIsNotGoneOnWithIsForgotten) {
  Add(std::string(500, 'a'), 0, 400);
  now_ += seconds(61);
  Add(std::string(500, 'b'), 0, 100);
  EXPECT_EQ(parts_.bytes(), 100u);
}

}  // namespace
}  // namespace ingot::server
