#include "client/src/address.h"

#include "gtest/gtest.h"

namespace ingot::client {
namespace {

TEST(AddressTest, EveryFormIsRead) {
  Address address;
  ASSERT_TRUE(ParseAddress("unix:/run/x.sock", &address).ok());
  EXPECT_EQ(address.kind, Address::kUnix);
  EXPECT_EQ(address.path, "/run/x.sock");
  ASSERT_TRUE(ParseAddress("unix:///run/x.sock", &address).ok());
  EXPECT_EQ(address.path, "/run/x.sock");
  ASSERT_TRUE(ParseAddress("/run/x.sock", &address).ok());
  EXPECT_EQ(address.path, "/run/x.sock");
  ASSERT_TRUE(ParseAddress("unix:relative.sock", &address).ok());
  EXPECT_EQ(address.path, "relative.sock");
  ASSERT_TRUE(ParseAddress("unix-abstract:ingot", &address).ok());
  EXPECT_EQ(address.kind, Address::kAbstract);
  EXPECT_EQ(address.path, "ingot");
  ASSERT_TRUE(ParseAddress("node7.cluster:7575", &address).ok());
  EXPECT_EQ(address.kind, Address::kTcp);
  EXPECT_EQ(address.host, "node7.cluster");
  EXPECT_EQ(address.port, "7575");
  ASSERT_TRUE(ParseAddress("[::1]:7575", &address).ok());
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.text, "[::1]:7575");
  EXPECT_FALSE(address.tls);
  ASSERT_TRUE(ParseAddress("https://node7.cluster:7575", &address).ok());
  EXPECT_EQ(address.kind, Address::kTcp);
  EXPECT_EQ(address.host, "node7.cluster");
  EXPECT_TRUE(address.tls);
  ASSERT_TRUE(ParseAddress("https://[::1]:7575", &address).ok());
  EXPECT_EQ(address.host, "::1");
}

TEST(AddressTest, TheRestIsRefused) {
  Address address;
  for (const std::string& text :
       {std::string(), std::string("unix:"), std::string("host"),
        std::string("host:"), std::string("host:0"), std::string("host:65536"),
        std::string("host:7x"), std::string(":7575"), std::string("::1:7575"),
        std::string("https://"), std::string("https://host"),
        std::string("unix:/") + std::string(200, 'x')}) {
    EXPECT_EQ(ParseAddress(text, &address).code, INGOT_INVALID_ARGUMENT)
        << text;
  }
}

}  // namespace
}  // namespace ingot::client
