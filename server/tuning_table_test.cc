#include "server/tuning_table.h"

#include <thread>

#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"

namespace ingot::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kA(32, 'a');
const std::string kB(32, 'b');

v1::TuningRecord RecordFor(const std::string& digest, int64_t value = 64,
                           int64_t min = 0, int64_t max = 0) {
  v1::TuningRecord record;
  record.set_spec_digest(digest);
  v1::Tuning* tuning = record.add_tuning();
  tuning->set_name("threads");
  tuning->set_value(value);
  if (max == 0) return record;
  record.mutable_range()->set_dim("m");
  record.mutable_range()->set_min(min);
  record.mutable_range()->set_max(max);
  return record;
}

class TuningTableTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    table_.reset();
    TuningOptions options;
    options.path = folder_ / "tuning";
    options.ttl_ms = ttl_ms_;
    options.kept_epochs = kept_epochs_;
    options.max_records = 10;
    options.now_unix_ms = [this] { return now_; };
    auto table = TuningTable::Open(std::move(options), counters_);
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *std::move(table);
    table_->OnChange([this] { ++changes_; });
  }
  uint64_t Add(const v1::TuningRecord& record) {
    const absl::StatusOr<v1::TuningRecord> added = table_->Add(record);
    EXPECT_TRUE(added.ok()) << added.status();
    return added.ok() ? added->epoch() : 0;
  }
  // Epoch of the answer, then the values of its records.
  std::vector<int64_t> At(const std::string& digest, uint64_t pin = 0) {
    const absl::StatusOr<TuningTable::Answer> answer = table_->At(digest, pin);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok()) return {};
    std::vector<int64_t> all = {static_cast<int64_t>(answer->epoch)};
    for (const TuningTable::Record& record : answer->records) {
      all.push_back(record->tuning(0).value());
    }
    return all;
  }

  cache::TempDir folder_;
  Counters counters_;
  int64_t now_ = 1000;
  int64_t ttl_ms_ = 0;
  uint64_t kept_epochs_ = 100;
  int changes_ = 0;
  std::unique_ptr<TuningTable> table_;
};

TEST_F(TuningTableTest, ANewRecordBumpsTheEpochAndEndsTheOld) {
  EXPECT_EQ(table_->epoch(), 1u);
  EXPECT_THAT(At(kA), ElementsAre(1));
  EXPECT_EQ(Add(RecordFor(kA, 64)), 2u);
  EXPECT_EQ(Add(RecordFor(kB, 128)), 3u);
  EXPECT_EQ(Add(RecordFor(kA, 256)), 4u);
  EXPECT_EQ(changes_, 3);
  EXPECT_THAT(At(kA), ElementsAre(4, 256));
  EXPECT_THAT(At(kB), ElementsAre(3, 128));
  EXPECT_EQ(table_->in_force(), 2u);
  EXPECT_EQ(counters_.Get("ingot_tuning_ended_total{why=\"replaced\"}").value(),
            1u);
}

TEST_F(TuningTableTest, AnEpochKeepsItsAnswer) {
  Add(RecordFor(kA, 64));                                  // 2
  Add(RecordFor(kA, 128));                                 // 3
  Add(RecordFor(kB, 64));                                  // 4
  EXPECT_EQ(table_->End({3, 99}, "deleted").value(), 1u);  // 5
  EXPECT_THAT(At(kA, 1), ElementsAre(1));
  EXPECT_THAT(At(kA, 2), ElementsAre(2, 64));
  EXPECT_THAT(At(kA, 3), ElementsAre(3, 128));
  EXPECT_THAT(At(kA, 4), ElementsAre(3, 128));
  EXPECT_THAT(At(kA, 5), ElementsAre(5));
  EXPECT_THAT(At(kA), ElementsAre(5));
  const absl::Status later = table_->At(kA, 6).status();
  EXPECT_EQ(later.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(later.message()),
              HasSubstr("pin_epoch: found 6, allowed 0 or 1 to 5"));
}

TEST_F(TuningTableTest, RangesStandSideBySideNewestFirst) {
  Add(RecordFor(kA, 64));
  Add(RecordFor(kA, 128, 1, 16));
  Add(RecordFor(kA, 256, 17, 32));
  EXPECT_THAT(At(kA), ElementsAre(4, 256, 128, 64));
  Add(RecordFor(kA, 512, 1, 16));
  EXPECT_THAT(At(kA), ElementsAre(5, 512, 256, 64));
}

TEST_F(TuningTableTest, ARestartForgetsNothing) {
  Add(RecordFor(kA, 64));
  Add(RecordFor(kA, 128));
  Add(RecordFor(kB, 64));
  EXPECT_TRUE(table_->End({4}, "deleted").ok());
  Open();
  EXPECT_EQ(table_->epoch(), 5u);
  EXPECT_THAT(At(kA), ElementsAre(3, 128));
  EXPECT_THAT(At(kA, 2), ElementsAre(2, 64));
  EXPECT_THAT(At(kB), ElementsAre(5));
  EXPECT_EQ(table_->in_force(), 1u);
  EXPECT_EQ(Add(RecordFor(kB, 64)), 6u);
}

TEST_F(TuningTableTest, RecordsExpire) {
  ttl_ms_ = 100;
  Open();
  Add(RecordFor(kA, 64));
  now_ += 60;
  Add(RecordFor(kB, 64));
  now_ += 39;
  EXPECT_TRUE(table_->Expire().ok());
  EXPECT_THAT(At(kA), ElementsAre(2, 64));
  now_ += 1;
  changes_ = 0;
  EXPECT_TRUE(table_->Expire().ok());
  EXPECT_EQ(changes_, 1);
  EXPECT_THAT(At(kA), ElementsAre(4));
  EXPECT_THAT(At(kA, 3), ElementsAre(2, 64));  // who began with it goes on
  EXPECT_THAT(At(kB), ElementsAre(3, 64));
  // Time passes while the daemon is down, too.
  now_ += 1000;
  Open();
  EXPECT_TRUE(table_->Expire().ok());
  EXPECT_THAT(At(kB), ElementsAre(5));
  EXPECT_EQ(table_->List().back()->ended_why(), "expired");
}

TEST_F(TuningTableTest, OldHistoryGoes) {
  kept_epochs_ = 4;
  Open();
  Add(RecordFor(kB, 7));  // 2
  for (int64_t value = 3; value <= 9; ++value) Add(RecordFor(kA, value));
  // Epoch 9 is the first with eight behind it.
  for (const bool restarted : {false, true}) {
    if (restarted) Open();
    EXPECT_EQ(table_->epoch(), 9u);
    EXPECT_EQ(table_->oldest_epoch(), 5u);
    EXPECT_THAT(At(kA, 5), ElementsAre(5, 5));
    EXPECT_THAT(At(kA), ElementsAre(9, 9));
    EXPECT_THAT(At(kB), ElementsAre(5, 7));
    const absl::Status gone = table_->At(kA, 4).status();
    EXPECT_EQ(gone.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(gone.message()), HasSubstr("not kept"));
  }
}

TEST_F(TuningTableTest, IsBounded) {
  for (int i = 0; i < 10; ++i) Add(RecordFor(std::string(32, char('a' + i))));
  EXPECT_EQ(table_->Add(RecordFor(kB)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(table_->epoch(), 11u);
}

// Answers of one epoch are one answer, whatever happens meanwhile.
TEST_F(TuningTableTest, CallersAtOnceAgree) {
  std::vector<std::thread> callers;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (!stop) {
        const auto now = table_->At(kA, 0);
        const auto again = table_->At(kA, now->epoch);
        EXPECT_TRUE(again.ok()) << again.status();
        if (!again.ok()) return;
        EXPECT_EQ(again->epoch, now->epoch);
        ASSERT_EQ(again->records.size(), now->records.size());
        for (size_t n = 0; n < now->records.size(); ++n) {
          EXPECT_EQ(again->records[n]->epoch(), now->records[n]->epoch());
        }
      }
    });
  }
  for (int i = 0; i < 40; ++i) Add(RecordFor(kA, i));
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(table_->epoch(), 41u);
}

}  // namespace
}  // namespace ingot::server
