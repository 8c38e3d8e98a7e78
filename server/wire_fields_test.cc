#include "server/wire_fields.h"

#include <random>

#include "gtest/gtest.h"
#include "ingot/v1/kernels.pb.h"

namespace ingot::server {
namespace {

TEST(WireFields, WritesWhatProtobufReads) {
  std::string bytes;
  AppendField(&bytes, v1::ObjectChunk::kOffsetFieldNumber, uint64_t{300});
  AppendField(&bytes, v1::ObjectChunk::kTotalFieldNumber, uint64_t{0});
  AppendField(&bytes, v1::ObjectChunk::kDataFieldNumber,
              absl::string_view("abc"));
  v1::ObjectChunk expected;
  expected.set_offset(300);
  expected.set_data("abc");
  EXPECT_EQ(bytes, expected.SerializeAsString());
}

TEST(WireFields, ReadsWhatProtobufWrites) {
  v1::GetKernelRequest request;
  request.set_api_version(1);
  request.set_pin_epoch(~uint64_t{0});
  request.add_held_digests("first");
  request.add_held_digests("second");
  const std::string bytes = request.SerializeAsString();
  WireReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.number(), 1u);
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.is_bytes());
  EXPECT_EQ(reader.bytes(), "first");
  EXPECT_EQ(reader.raw(), absl::string_view("\x2a\x05"
                                            "first"));
  ASSERT_TRUE(reader.Next());
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.number(), ~uint64_t{0});
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(FindBytes(bytes, 5), "second");
  EXPECT_EQ(FindBytes(bytes, 9), "");
}

TEST(WireFields, FixedFieldsToo) {
  v1::Attr attr;
  attr.set_float_value(1.0);
  const std::string bytes = attr.SerializeAsString();
  WireReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.number(), 0x3ff0000000000000u);
}

TEST(WireFields, DamageEndsTheWalk) {
  for (const absl::string_view bytes :
       {absl::string_view("\x0a\x05"
                          "ab",
                          4),
        absl::string_view("\x08", 1), absl::string_view("\x00\x01", 2),
        absl::string_view("\x0b", 1),
        absl::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
        absl::string_view("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10)}) {
    WireReader reader(bytes);
    while (reader.Next()) {
    }
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(FindBytes(bytes, 1), "");
  }
}

// What it accepts must be what protobuf accepts, for messages without groups.
TEST(WireFields, AgreesWithProtobufOnRandomBytes) {
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 64);
    v1::GetCapabilitiesRequest empty;  // every field is an unknown one
    bool has_group = false;
    WireReader reader(bytes);
    while (reader.Next()) {
    }
    for (const char byte : bytes) {
      has_group = has_group || (byte & 7) == 3 || (byte & 7) == 4;
    }
    if (has_group) continue;
    EXPECT_EQ(reader.ok(), empty.ParseFromString(bytes));
    accepted += reader.ok() ? 1 : 0;
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace ingot::server
