#include "server/access.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;

AccessPolicy Policy(const std::string& local, const std::string& remote = "",
                    const std::string& tcp = "") {
  absl::StatusOr<AccessPolicy> policy = AccessPolicy::Parse(local, remote, tcp);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return *std::move(policy);
}

// Numbers that no user or group of a test machine has.
constexpr uid_t kStranger = 3999999001;
constexpr uid_t kOther = 3999999002;
constexpr gid_t kGroup = 3999999003;

TEST(AccessPolicy, RootAndTheDaemonsUserMayDoEverything) {
  const AccessPolicy policy = Policy("");
  EXPECT_EQ(policy.OfUnix(0, 0), Roles::All());
  EXPECT_EQ(policy.OfUnix(geteuid(), kGroup), Roles::All());
  EXPECT_EQ(policy.OfUnix(kStranger, kGroup), Roles());
}

TEST(AccessPolicy, UnixRulesAddUp) {
  const AccessPolicy policy =
      Policy("*=get  user:3999999001=compile\n\tgroup:3999999003=tune");
  EXPECT_EQ(policy.OfUnix(kOther, 1), Roles(Role::kGet));
  EXPECT_EQ(policy.OfUnix(kStranger, 1),
            Roles(Role::kGet) | Roles(Role::kCompile));
  EXPECT_EQ(policy.OfUnix(kOther, kGroup),
            Roles(Role::kGet) | Roles(Role::kTune));
}

TEST(AccessPolicy, AdminHoldsTheOthers) {
  EXPECT_EQ(Policy("user:3999999001=admin").OfUnix(kStranger, 1), Roles::All());
}

TEST(AccessPolicy, NamesOfThisMachineAreKnown) {
  EXPECT_EQ(Policy("user:root=tune group:root=get").OfUnix(kStranger, 0),
            Roles(Role::kGet));
}

TEST(AccessPolicy, CertificatesByNameAndPrefix) {
  const AccessPolicy policy =
      Policy("", "trainer-*=get,compile ops.example=admin");
  EXPECT_EQ(policy.OfCertificate({"trainer-17"}),
            Roles(Role::kGet) | Roles(Role::kCompile));
  EXPECT_EQ(policy.OfCertificate({"x", "ops.example"}), Roles::All());
  for (const char* name : {"ops.example.evil", "ops", "a-trainer-1", ""}) {
    EXPECT_EQ(policy.OfCertificate({name}), Roles()) << name;
  }
  EXPECT_EQ(policy.OfCertificate({}), Roles());
}

TEST(AccessPolicy, PlainTcp) {
  EXPECT_EQ(Policy("", "", "get, compile").OfPlainTcp(),
            Roles(Role::kGet) | Roles(Role::kCompile));
  EXPECT_EQ(Policy("").OfPlainTcp(), Roles());
  EXPECT_EQ(Policy("", "", "none").OfPlainTcp(), Roles());
}

TEST(AccessPolicy, EverybodyIsNobodyLeftOut) {
  EXPECT_TRUE(Policy("*=get", "", "get").Everybody(Role::kGet));
  EXPECT_FALSE(Policy("*=get", "", "get").Everybody(Role::kCompile));
  EXPECT_FALSE(Policy("*=get", "", "none").Everybody(Role::kGet));
  EXPECT_FALSE(Policy("user:0=get", "", "get").Everybody(Role::kGet));
  EXPECT_FALSE(Policy("*=compile user:0=get", "", "get").Everybody(Role::kGet));
}

TEST(AccessPolicy, BadRulesAreNamed) {
  const struct {
    const char* local;
    const char* remote;
    const char* tcp;
    const char* says;
  } cases[] = {
      {"*", "", "", "unix_roles: found *, allowed who=role,role"},
      {"=get", "", "", "unix_roles: found =get"},
      {"*=gets", "", "", "unix_roles: found role gets, allowed get, compile"},
      {"bob=get", "", "", "unix_roles: found bob, allowed user:NAME"},
      {"user:no-such-user=get", "", "", "found user:no-such-user"},
      {"", "a=root", "", "tls_roles: found role root"},
      {"", "", "all", "tcp_roles: found role all"},
  };
  for (const auto& c : cases) {
    const absl::Status status =
        AccessPolicy::Parse(c.local, c.remote, c.tcp).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.says;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says));
  }
}

TEST(Caller, RequireNamesRoleAndCaller) {
  const Caller caller{"user 1000, process 7", Role::kGet};
  EXPECT_TRUE(caller.Require(Role::kGet).ok());
  const absl::Status status = caller.Require(Role::kAdmin);
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("role admin: user 1000, process 7"));
}

}  // namespace
}  // namespace ingot::server
