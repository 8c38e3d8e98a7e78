// What a daemon has acknowledged survives it; what is damaged comes back whole.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "compiler/sha256.h"
#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

namespace fs = std::filesystem;
using grpc::StatusCode;
using std::chrono::milliseconds;

class DurabilityTest : public DaemonTest {
 protected:
  // Flips bytes in every file that holds stored objects.
  int DamageObjects() {
    int damaged = 0;
    for (const fs::directory_entry& file :
         fs::recursive_directory_iterator(daemon().state_dir() + "/store")) {
      const std::string extension = file.path().extension();
      if (extension != ".blob" && extension != ".sst" && extension != ".log") {
        continue;
      }
      std::fstream bytes(file.path(),
                         std::ios::in | std::ios::out | std::ios::binary);
      const auto size = static_cast<int64_t>(fs::file_size(file.path()));
      // Not the first and last parts, which hold the file's own structure.
      for (int64_t at = size / 3; at < size * 2 / 3; at += 4096) {
        bytes.seekg(at);
        const int byte = bytes.get();
        bytes.seekp(at);
        bytes.put(static_cast<char>(byte ^ 0x55));
        ++damaged;
      }
    }
    return damaged;
  }
};

TEST_F(DurabilityTest, KillWithCallsOpenAndNothingAcknowledgedIsLost) {
  StartFaultyDaemon();
  std::map<int64_t, std::string> made;
  for (int64_t n = 100; n < 110; ++n) {
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(n));
    ASSERT_TRUE(answer.ok()) << answer.message();
    made[n] = answer.response.kernels(0).record().digest();
  }
  std::this_thread::sleep_for(milliseconds(100));

  daemon().OrderFault("dtype=f16", "hang");
  std::vector<std::thread> callers;
  std::vector<grpc::Status> ends(100);
  for (size_t i = 0; i < ends.size(); ++i) {
    callers.emplace_back([&, i] {
      ends[i] =
          client().Get(RmsNorm(200 + static_cast<int64_t>(i), "f16")).status;
    });
  }
  const v1::StatsResponse before = client().Stats();
  WaitUntil(before.workers(), ends.size() - before.workers());
  daemon().Kill();
  for (std::thread& caller : callers) caller.join();
  for (size_t i = 0; i < ends.size(); ++i) {
    // By the kill: waiting for the deadline ends with another code.
    EXPECT_EQ(ends[i].error_code(), StatusCode::UNAVAILABLE)
        << ends[i].error_message();
  }

  daemon().ClearFaults();
  ASSERT_TRUE(daemon().Restart().ok());
  Client again(daemon().address());
  for (const auto& [n, digest] : made) {
    const Answer<v1::GetKernelResponse> answer = again.Get(RmsNorm(n));
    ASSERT_TRUE(answer.ok()) << answer.message();
    EXPECT_EQ(answer.response.kernels(0).source(), v1::SOURCE_STORE);
    EXPECT_EQ(Sha256(answer.response.kernels(0).object()), digest);
  }
  // Nothing of the calls that were cut off is in the way.
  EXPECT_TRUE(again.Get(RmsNorm(200, "f16")).ok());
}

// What names the holder is only text: in another container the pid of a dead
// one may be anybody's.
TEST_F(DurabilityTest, ALockOfADeadDaemonHoldsNobodyUp) {
  StartFaultyDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(100)).ok());
  daemon().OrderFault("n=101", "hang");
  std::thread caller([&] { client().Get(RmsNorm(101)); });
  WaitUntil(1, 0);
  daemon().Kill();
  caller.join();
  const fs::path owner = daemon().state_dir() + "/store/owner.pid";
  ASSERT_TRUE(fs::exists(owner));
  std::ofstream(owner) << getpid() << " localhost\n";  // who is alive
  daemon().ClearFaults();
  const absl::Status restarted = daemon().Restart();
  ASSERT_TRUE(restarted.ok()) << restarted;
  Client again(daemon().address());
  EXPECT_TRUE(again.Get(RmsNorm(100)).ok());
  EXPECT_TRUE(again.Get(RmsNorm(101)).ok());
}

TEST_F(DurabilityTest, DamagedObjectsAreRebuiltUnnoticed) {
  StartDaemon();
  std::map<int64_t, std::string> made;
  for (int64_t n = 300; n < 340; ++n) {
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(n));
    ASSERT_TRUE(answer.ok()) << answer.message();
    made[n] = answer.response.kernels(0).record().digest();
  }
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
  ASSERT_GT(DamageObjects(), 0);
  ASSERT_TRUE(daemon().Restart().ok());
  Client again(daemon().address());
  for (const auto& [n, digest] : made) {
    const Answer<v1::GetKernelResponse> answer = again.Get(RmsNorm(n));
    ASSERT_TRUE(answer.ok()) << n << ": " << answer.message();
    EXPECT_EQ(Sha256(answer.response.kernels(0).object()), digest);
    EXPECT_EQ(answer.response.kernels(0).record().digest(), digest);
  }
  EXPECT_GT(again.CounterOf("ingot_compiles_total"), 0);
}

TEST_F(DurabilityTest, VerifyDropsWhatIsDamaged) {
  StartDaemon();
  for (int64_t n = 300; n < 320; ++n) {
    ASSERT_TRUE(client().Get(RmsNorm(n)).ok());
  }
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
  ASSERT_GT(DamageObjects(), 0);
  ASSERT_TRUE(daemon().Restart().ok());
  Client again(daemon().address());
  const auto verify = [&] {
    v1::VerifyResponse response;
    grpc::ClientContext context;
    const grpc::Status status =
        again.admin().Verify(&context, v1::VerifyRequest(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  };
  verify();
  const v1::VerifyResponse clean = verify();
  EXPECT_EQ(clean.damaged(), 0u);
  EXPECT_EQ(clean.checked(), again.Stats().entries());
  EXPECT_TRUE(again.Get(RmsNorm(300)).ok());
}

}  // namespace
}  // namespace ingot::server
