#include "server/journal.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"

namespace ingot::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JournalTest : public ::testing::Test {
 protected:
  Journal::Opened Open() {
    absl::StatusOr<Journal::Opened> opened = Journal::Open(path_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void SetBytes(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  cache::TempDir folder_;
  const std::string path_ = folder_ / "journal";
};

TEST_F(JournalTest, KeepsEntriesInOrder) {
  const std::string binary("a\0b", 3);
  {
    const Journal::Opened opened = Open();
    EXPECT_THAT(opened.entries, IsEmpty());
    ASSERT_TRUE(opened.journal->Append("one").ok());
    ASSERT_TRUE(opened.journal->Append("").ok());
    ASSERT_TRUE(opened.journal->Append(binary).ok());
  }
  const Journal::Opened again = Open();
  EXPECT_THAT(again.entries, ElementsAre("one", "", binary));
  EXPECT_THAT(again.damage, IsEmpty());
}

TEST_F(JournalTest, RewriteReplacesAll) {
  {
    const Journal::Opened opened = Open();
    ASSERT_TRUE(opened.journal->Append("one").ok());
    ASSERT_TRUE(opened.journal->Rewrite({"two", "three"}).ok());
    ASSERT_TRUE(opened.journal->Append("four").ok());
  }
  EXPECT_THAT(Open().entries, ElementsAre("two", "three", "four"));
}

// Whatever a crash leaves of the last entry, those before it are read, and what
// is written afterwards is read, too.
TEST_F(JournalTest, LivesWithATornEnd) {
  Open().journal->Append("first").IgnoreError();
  const std::string whole = Bytes();
  Open().journal->Append("second").IgnoreError();
  const std::string longer = Bytes();
  for (size_t size = whole.size() + 1; size < longer.size(); ++size) {
    SetBytes(longer.substr(0, size));
    {
      const Journal::Opened torn = Open();
      EXPECT_THAT(torn.entries, ElementsAre("first"));
      EXPECT_THAT(torn.damage, HasSubstr("cannot be read"));
      ASSERT_TRUE(torn.journal->Append("third").ok());
    }
    EXPECT_THAT(Open().entries, ElementsAre("first", "third"));
  }
  EXPECT_TRUE(std::filesystem::exists(path_ + ".damaged"));
}

TEST_F(JournalTest, NoChangedByteIsTaken) {
  Open().journal->Append("first").IgnoreError();
  const std::string whole = Bytes();
  for (size_t at = 8; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    SetBytes(changed);
    EXPECT_THAT(Open().entries, IsEmpty()) << "byte " << at;
  }
}

TEST_F(JournalTest, RefusesAnotherFile) {
  SetBytes("something else altogether");
  const absl::StatusOr<Journal::Opened> opened = Journal::Open(path_);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Bytes(), "something else altogether");
}

// A full disk, by the limit on a file's size.
TEST_F(JournalTest, AFailedAppendLeavesTheFile) {
  const Journal::Opened opened = Open();
  ASSERT_TRUE(opened.journal->Append("first").ok());
  const std::string before = Bytes();
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = before.size() + 20;
  setrlimit(RLIMIT_FSIZE, &tight);
  const absl::Status failed = opened.journal->Append(std::string(100, 'x'));
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(failed.code(), absl::StatusCode::kUnavailable) << failed;
  EXPECT_EQ(Bytes(), before);
  ASSERT_TRUE(opened.journal->Append("second").ok());
  EXPECT_THAT(Open().entries, ElementsAre("first", "second"));
}

}  // namespace
}  // namespace ingot::server
