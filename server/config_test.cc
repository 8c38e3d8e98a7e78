#include "server/config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::optional<Config>> Load(std::vector<const char*> flags,
                                           std::string* output = nullptr) {
  std::string ignored;
  flags.insert(flags.begin(), "ingotd");
  return LoadConfig(static_cast<int>(flags.size()), flags.data(),
                    output == nullptr ? &ignored : output);
}

std::string Refused(std::vector<const char*> flags) {
  const auto config = Load(std::move(flags));
  EXPECT_TRUE(absl::IsInvalidArgument(config.status())) << config.status();
  return std::string(config.status().message());
}

std::string RefusedToml(const std::string& toml) {
  Config config;
  const absl::Status status = ApplyToml(toml, "f.toml", &config);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(Config, FlagsWinOverTheFile) {
  std::string path =
      (std::filesystem::temp_directory_path() / "ingot-config-XXXXXX").string();
  ASSERT_GE(mkstemp(path.data()), 0);
  std::ofstream(path) << "queue_capacity = 100\nworkers = 3\n"
                         "socket = \"/tmp/a\"\ninsecure = true\n";
  const std::string flag = "--config=" + path;
  const auto config = Load({flag.c_str(), "--workers=5"});
  std::filesystem::remove(path);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ((*config)->queue_capacity, 100);
  EXPECT_EQ((*config)->workers, 5);
  EXPECT_EQ((*config)->socket, "/tmp/a");
  EXPECT_TRUE((*config)->insecure);
  EXPECT_EQ((*config)->reply_cache_mib, Config().reply_cache_mib);
}

TEST(Config, AFolderIsNoFile) {
  const std::string flag =
      "--config=" + std::filesystem::temp_directory_path().string();
  EXPECT_THAT(Refused({flag.c_str()}),
              AllOf(HasSubstr("config"), HasSubstr("can be read")));
}

TEST(Config, TheLastOfTwoFlagsCounts) {
  const auto config = Load({"--workers=5", "--workers=6"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ((*config)->workers, 6);
}

TEST(Config, HelpNamesEveryKey) {
  std::string help;
  const auto config = Load({"--help"}, &help);
  ASSERT_TRUE(config.ok());
  EXPECT_FALSE(config->has_value());
  // Every member of Config, read out of its header.
  std::ifstream header("server/config.h");
  int members = 0;
  for (std::string line; std::getline(header, line) && line != "};";) {
    std::istringstream words(line);
    std::string type;
    std::string name;
    words >> type >> name;
    if (type != "std::string" && type != "bool" && type != "int64_t") continue;
    ++members;
    if (name.back() == ';') name.pop_back();
    for (char& c : name) c = c == '_' ? '-' : c;
    EXPECT_THAT(help, HasSubstr("--" + name));
  }
  EXPECT_GE(members, 20);
}

TEST(Config, RefusalsNameKeyFoundAndAllowed) {
  EXPECT_THAT(Refused({"--workers=-1"}),
              AllOf(HasSubstr("workers"), HasSubstr("-1"), HasSubstr("1024")));
  EXPECT_THAT(
      Refused({"--log-level=loud"}),
      AllOf(HasSubstr("log_level"), HasSubstr("loud"), HasSubstr("warn")));
  EXPECT_THAT(Refused({"--workers=many"}), HasSubstr("workers"));
  EXPECT_THAT(Refused({"--colour=red"}), HasSubstr("colour"));
  EXPECT_THAT(Refused({"--config=/nowhere/x.toml"}), HasSubstr("/nowhere"));
}

TEST(Config, TheFileIsChecked) {
  EXPECT_THAT(RefusedToml("workers = 1\ncolour = 2\n"),
              AllOf(HasSubstr("f.toml:2"), HasSubstr("colour")));
  EXPECT_THAT(RefusedToml("workers = \"two\"\n"),
              AllOf(HasSubstr("f.toml:1"), HasSubstr("a number")));
  EXPECT_THAT(RefusedToml("socket = 3\n"), HasSubstr("a string"));
  EXPECT_THAT(RefusedToml("insecure = 1\n"), HasSubstr("true, false"));
  EXPECT_THAT(RefusedToml("workers = \n"), HasSubstr("f.toml:1"));
}

TEST(Config, DefaultsFollowTheSurroundings) {
  Config user;
  FillDefaults({"/run/user/1000", "/home/u/state", "/home/u", 1000}, &user);
  EXPECT_EQ(user.socket, "/run/user/1000/ingot/ingotd.sock");
  EXPECT_EQ(user.state_dir, "/home/u/state/ingot");
  Config bare;
  FillDefaults({"", "", "/home/u", 1000}, &bare);
  EXPECT_EQ(bare.socket, "/tmp/ingot-1000/ingotd.sock");
  EXPECT_EQ(bare.state_dir, "/home/u/.local/state/ingot");
  Config root;
  FillDefaults({"", "", "/root", 0}, &root);
  EXPECT_EQ(root.socket, "/run/ingot/ingotd.sock");
  EXPECT_EQ(root.state_dir, "/var/lib/ingot");
  Config tcp_only;
  tcp_only.tcp = "127.0.0.1:1";
  FillDefaults({"", "", "", 0}, &tcp_only);
  EXPECT_EQ(tcp_only.socket, "");
}

}  // namespace
}  // namespace ingot::server
