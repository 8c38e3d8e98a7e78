#include "tests/emulator/msgpack.h"

#include <gtest/gtest.h>

namespace ingot::emulator {
namespace {

std::optional<MsgValue> Parse(std::initializer_list<int> bytes) {
  std::vector<uint8_t> data(bytes.begin(), bytes.end());
  return ParseMsgPack(data.data(), data.size());
}

TEST(MsgPack, IntegersOfEveryWidth) {
  EXPECT_EQ(Parse({0x7f})->number, 127);
  EXPECT_EQ(Parse({0xff})->number, -1);
  EXPECT_EQ(Parse({0xcc, 0xff})->number, 255);
  EXPECT_EQ(Parse({0xcd, 1, 0})->number, 256);
  EXPECT_EQ(Parse({0xce, 0xff, 0xff, 0xff, 0xff})->number, 0xffffffffll);
  EXPECT_EQ(Parse({0xcf, 0, 0, 0, 1, 0, 0, 0, 0})->number, 1ll << 32);
  EXPECT_EQ(Parse({0xd0, 0x80})->number, -128);
  EXPECT_EQ(Parse({0xd1, 0x80, 0})->number, -32768);
  EXPECT_EQ(Parse({0xd2, 0x80, 0, 0, 0})->number, -2147483648ll);
  EXPECT_EQ(Parse({0xc3})->number, 1);
}

TEST(MsgPack, MapsArraysAndText) {
  const auto v =
      Parse({0x82, 0xa1, 'a', 0x92, 1, 0xa2, 'h', 'i', 0xa1, 'b', 0xc0});
  ASSERT_TRUE(v);
  ASSERT_NE(v->Find("a"), nullptr);
  EXPECT_EQ(v->Find("a")->items[1].text, "hi");
  EXPECT_EQ(v->Find("b")->kind, MsgValue::Kind::kNil);
  EXPECT_EQ(v->Find("c"), nullptr);
  EXPECT_EQ(v->Int("b", 7), 7);
  EXPECT_EQ(v->Text("a"), "");
}

TEST(MsgPack, TruncatedAndForeignBytesAreRefused) {
  EXPECT_FALSE(Parse({}));
  EXPECT_FALSE(Parse({0xcd, 1}));
  EXPECT_FALSE(Parse({0xa5, 'a'}));
  EXPECT_FALSE(Parse({0x92, 1}));
  EXPECT_FALSE(Parse({0x81, 1, 2}));                    // a key that is no text
  EXPECT_FALSE(Parse({0xdd, 0xff, 0xff, 0xff, 0xff}));  // more items than bytes
  EXPECT_FALSE(Parse({0xca, 0, 0, 0, 0}));              // floats do not occur
  const std::vector<uint8_t> deep(100, 0x91);
  EXPECT_FALSE(ParseMsgPack(deep.data(), deep.size()));
}

}  // namespace
}  // namespace ingot::emulator
