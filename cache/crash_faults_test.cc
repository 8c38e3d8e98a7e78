// Sudden ends of the process, at any point of a publish.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>

#include "cache/checked_store.h"
#include "cache/rocksdb_store.h"
#include "cache/scrub.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

// Keys of one round, over half as many objects, so that some are shared.
Publication RoundSample(int round, int i) {
  Publication sample = Sample(round * 100000 + i / 2, 3000 + i % 7 * 1000);
  if (i % 2 == 1) sample = RoundSample(round, i - 1);
  sample.key = SampleKey(round * 100000 + i);
  sample.record = absl::StrCat("record ", round, " ", i);
  return sample;
}

std::unique_ptr<Store> Open(const RocksOptions& options) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// Each entry is there whole or not at all, and the counters say so.
void ExpectOnlyWholeEntries(std::unique_ptr<Store> store) {
  const uint64_t entries = store->Stats().entries;
  CheckedStore checked(std::move(store), {});
  const absl::StatusOr<ScrubReport> report =
      Scrub(checked, {.bytes_per_second = 0});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->damaged, 0);
  EXPECT_EQ(report->errors, 0);
  EXPECT_EQ(report->entries, entries);
}

// The child publishes and deletes, and tells of each finished operation through
// the pipe, until it is killed.
[[noreturn]] void PublishForever(const RocksOptions& options, int round,
                                 int pipe) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options);
  if (!store.ok()) _exit(1);
  for (int i = 0;; ++i) {
    if (!(*store)->Publish(RoundSample(round, i)).ok()) _exit(2);
    if (i % 5 == 4 && !(*store)->Delete(RoundSample(round, i - 2).key).ok()) {
      _exit(3);
    }
    if (write(pipe, &i, sizeof i) != sizeof i) _exit(4);
  }
}

TEST(CrashTest, AKilledProcessLosesNothingItAcknowledged) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer cannot follow threads after a fork";
#endif
  TempDir directory;
  const RocksOptions options = {.directory = directory / "store",
                                .memory_bytes = 4 << 20};
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipe_ends[0]);
      PublishForever(options, round, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    int last = -1;
    const int enough = 50 + static_cast<int>(random() % 400);
    while (last < enough &&
           read(pipe_ends[0], &last, sizeof last) == sizeof last) {
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    while (read(pipe_ends[0], &last, sizeof last) == sizeof last) {
    }
    close(pipe_ends[0]);
    ASSERT_GE(last, enough);

    std::unique_ptr<Store> store = Open(options);
    ASSERT_NE(store, nullptr);
    for (int i = 0; i <= last; ++i) {
      const Publication sample = RoundSample(round, i);
      const bool deleted = i % 5 == 2 && i + 2 <= last;
      // The operation after the last acknowledged one may have happened too.
      if (i % 5 == 2 && i + 2 == last + 1) continue;
      EXPECT_EQ(Holds(*store, sample), !deleted) << round << " " << i;
      EXPECT_EQ(Misses(*store, sample.key), deleted) << round << " " << i;
    }
    ExpectOnlyWholeEntries(std::move(store));
  }
}

}  // namespace
}  // namespace ingot::cache
