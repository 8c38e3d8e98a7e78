// Who gets in, and what they may do there.
#include <fstream>
#include <thread>

#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"
#include "tests/support/certificates.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using testing::Certificate;
using ::testing::HasSubstr;
using testing::MakeAuthority;
using testing::MakeCertificate;

grpc::Status DeleteAll(Client& client) {
  v1::DeleteRequest request;
  request.set_all(true);
  v1::DeleteResponse response;
  grpc::ClientContext context;
  return client.admin().Delete(&context, request, &response);
}

grpc::Status Stream(Client& client, const v1::Spec& spec) {
  v1::GetKernelsRequest batch;
  *batch.add_requests() = RequestOf(spec);
  grpc::ClientContext context;
  auto reader = client.kernels().GetKernels(&context, batch);
  v1::GetKernelsResponse response;
  while (reader->Read(&response)) {
    for (const v1::IndexedResult& result : response.results()) {
      if (result.code() != 0) {
        return {static_cast<StatusCode>(result.code()), result.message()};
      }
    }
  }
  return reader->Finish();
}

class AccessTest : public DaemonTest {
 protected:
  void StartWith(std::vector<std::string> flags) {
    flags.emplace_back("--tcp=127.0.0.1:0");
    testing::DaemonOptions options;
    options.flags = std::move(flags);
    StartDaemon(options);
  }
};

TEST_F(AccessTest, WithoutCompileOnlyWhatIsThere) {
  StartWith({"--tcp-roles=get"});
  Client reader(TcpAddress());
  const Answer<v1::GetKernelResponse> cold = reader.Get(RmsNorm(64));
  EXPECT_EQ(cold.code(), StatusCode::PERMISSION_DENIED) << cold.message();
  EXPECT_THAT(cold.message(), HasSubstr("role compile"));
  EXPECT_EQ(Stream(reader, RmsNorm(64)).error_code(),
            StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(DeleteAll(reader).error_code(), StatusCode::PERMISSION_DENIED);
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  EXPECT_TRUE(reader.Get(RmsNorm(64)).ok());
  EXPECT_TRUE(Stream(reader, RmsNorm(64)).ok());
  EXPECT_EQ(reader.Stats().entries(), 1u);
}

TEST_F(AccessTest, OnlyAdminChangesWhatIsKept) {
  StartWith({"--tcp-roles=get,compile,tune"});
  Client caller(TcpAddress());
  const Answer<v1::GetKernelResponse> made = caller.Get(RmsNorm(64));
  ASSERT_TRUE(made.ok()) << made.message();
  const v1::Record& record = made.response.kernels(0).record();
  v1::PinRequest pin;
  pin.add_keys(record.key());
  v1::PinResponse pinned;
  grpc::ClientContext pinning;
  EXPECT_EQ(caller.admin().Pin(&pinning, pin, &pinned).error_code(),
            StatusCode::PERMISSION_DENIED);
  v1::CollectRequest collect;
  collect.add_fingerprints(record.fingerprint());
  v1::CollectResponse collected;
  grpc::ClientContext collecting;
  EXPECT_EQ(
      caller.admin().Collect(&collecting, collect, &collected).error_code(),
      StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(caller.Stats().entries(), 1u);
}

TEST_F(AccessTest, WithoutAnyRoleNothing) {
  StartWith({"--tcp-roles=none"});
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  Client nobody(TcpAddress());
  EXPECT_EQ(nobody.Get(RmsNorm(64)).code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Stream(nobody, RmsNorm(64)).error_code(),
            StatusCode::PERMISSION_DENIED);
  grpc::ClientContext context;
  v1::StatsResponse stats;
  EXPECT_EQ(nobody.admin().Stats(&context, {}, &stats).error_code(),
            StatusCode::PERMISSION_DENIED);
  v1::ReadObjectRequest read;
  read.set_digest(std::string(32, 'x'));
  grpc::ClientContext reading;
  auto reader = nobody.kernels().ReadObject(&reading, read);
  v1::ObjectChunk chunk;
  while (reader->Read(&chunk)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::PERMISSION_DENIED);
}

TEST_F(AccessTest, TheDaemonsOwnUserMayDoEverything) {
  StartWith({"--unix-roles=*=none"});
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
  EXPECT_TRUE(DeleteAll(client()).ok());
  EXPECT_THAT(daemon().Log(), HasSubstr("process " + std::to_string(getpid())));
}

class TlsTest : public AccessTest {
 protected:
  void SetUp() override { Write(MakeCertificate("ingotd", authority_)); }

  void Write(const Certificate& own) {
    std::ofstream(folder_.path() + "/cert.pem") << own.certificate;
    std::ofstream(folder_.path() + "/key.pem") << own.private_key;
    std::ofstream(folder_.path() + "/ca.pem") << authority_.certificate;
  }
  void StartTls(const std::string& roles) {
    StartWith({"--tls-certificate=" + folder_.path() + "/cert.pem",
               "--tls-private-key=" + folder_.path() + "/key.pem",
               "--tls-client-ca=" + folder_.path() + "/ca.pem",
               "--tls-roles=" + roles});
  }
  Client Connect(const Certificate& own) { return Connect(own, authority_); }
  Client Connect(const Certificate& own, const Certificate& trusted) {
    return Client(
        ConnectTo(TcpAddress(),
                  grpc::SslCredentials({trusted.certificate, own.private_key,
                                        own.certificate})));
  }

  cache::TempDir folder_;
  const Certificate authority_ = MakeAuthority("authority");
};

TEST_F(TlsTest, RolesComeFromTheCertificate) {
  StartTls("trainer-*=get,compile operator=admin");
  Client trainer = Connect(MakeCertificate("trainer-3", authority_));
  const Answer<v1::GetKernelResponse> compiled = trainer.Get(RmsNorm(64));
  EXPECT_TRUE(compiled.ok()) << compiled.message();
  const grpc::Status refused = DeleteAll(trainer);
  EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("certificate trainer-3"));
  Client stranger = Connect(MakeCertificate("stranger", authority_));
  EXPECT_EQ(stranger.Get(RmsNorm(64)).code(), StatusCode::PERMISSION_DENIED);
  Client admin = Connect(MakeCertificate("operator", authority_));
  EXPECT_TRUE(DeleteAll(admin).ok());
}

TEST_F(TlsTest, NobodyWithoutACertificateThatIsSignedRight) {
  StartTls("*=admin");
  const Certificate other = MakeAuthority("authority");
  Client forged = Connect(MakeCertificate("operator", other));
  EXPECT_EQ(forged.Get(RmsNorm(64)).code(), StatusCode::UNAVAILABLE);
  Client bare = Client(ConnectTo(
      TcpAddress(), grpc::SslCredentials({authority_.certificate, "", ""})));
  EXPECT_EQ(bare.Get(RmsNorm(64)).code(), StatusCode::UNAVAILABLE);
  Client plain(TcpAddress());
  EXPECT_EQ(plain.Get(RmsNorm(64)).code(), StatusCode::UNAVAILABLE);
  // The daemon is none the worse for it.
  EXPECT_TRUE(
      Connect(MakeCertificate("operator", authority_)).Get(RmsNorm(64)).ok());
}

// The daemon's certificate is replaced under it: callers who trust only the new
// one get in, with no restart.
TEST_F(TlsTest, AChangedCertificateIsTaken) {
  StartTls("*=get,compile");
  const Certificate own = MakeCertificate("client", authority_);
  const Certificate renewed = MakeAuthority("renewed");
  EXPECT_EQ(Connect(own, renewed).Get(RmsNorm(64)).code(),
            StatusCode::UNAVAILABLE);
  const Certificate next = MakeCertificate("ingotd", renewed);
  Write(next);
  bool taken = false;
  for (int i = 0; i < 60 && !taken; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    taken = Connect(own, renewed).Get(RmsNorm(64)).ok();
  }
  EXPECT_TRUE(taken);
}

TEST_F(TlsTest, FilesThatDoNotFitAreNamed) {
  std::ofstream(folder_.path() + "/key.pem")
      << MakeCertificate("other", authority_).private_key;
  testing::DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0",
                   "--tls-certificate=" + folder_.path() + "/cert.pem",
                   "--tls-private-key=" + folder_.path() + "/key.pem",
                   "--tls-client-ca=" + folder_.path() + "/ca.pem"};
  const auto started = testing::Daemon::Start(options);
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(std::string(started.status().message()),
              HasSubstr("tls_private_key"));
}

}  // namespace
}  // namespace ingot::server
