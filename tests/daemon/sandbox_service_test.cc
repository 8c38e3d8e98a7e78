// What a worker that was led astray can do to its machine.
#include <fstream>

#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;

class SandboxTest : public DaemonTest {
 protected:
  // What the worker says that a compile which tries `trespass` came to.
  std::string Try(const char* trespass) {
    daemon().OrderFault("n=" + std::to_string(++n_), trespass, 1);
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(n_));
    EXPECT_EQ(answer.code(), StatusCode::FAILED_PRECONDITION) << trespass;
    return answer.message();
  }

  int64_t n_ = 700;
};

TEST_F(SandboxTest, LeavesNothingButComputing) {
  StartFaultyDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(65)).ok());  // a worker is up
  if (client().CounterOf("ingot_worker_sandbox_layers") < 3) {
    GTEST_SKIP() << "this kernel or build has no Landlock or no seccomp";
  }
  for (const char* trespass :
       {"read", "write", "connect", "exec", "signal", "code"}) {
    const std::string message = Try(trespass);
    EXPECT_TRUE(message.find("not permitted") != std::string::npos ||
                message.find("ermission denied") != std::string::npos)
        << trespass << ": " << message;
  }
  EXPECT_FALSE(std::ifstream(daemon().state_dir() + "/trespass").is_open());
}

// The planted deeds do succeed where nothing forbids them.
TEST_F(SandboxTest, IsWhatForbids) {
  StartFaultyDaemon({"--worker-sandbox=off"});
  ASSERT_TRUE(client().Get(RmsNorm(65)).ok());
  EXPECT_EQ(client().CounterOf("ingot_worker_sandbox_layers"), 0);
  for (const char* trespass : {"read", "write", "connect", "signal", "code"}) {
    EXPECT_NE(Try(trespass).find("it could"), std::string::npos) << trespass;
  }
}

}  // namespace
}  // namespace ingot::server
