// libingot and ingotctl through TLS: who is let in, and what is said to those
// who are not.
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "client/src/channel.h"
#include "client/src/rpc.h"
#include "gmock/gmock.h"
#include "tests/e2e/client_fixture.h"
#include "tests/support/certificates.h"

namespace ingot::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsTest : public ClientFixture {
 protected:
  void SetUp() override {
    setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1);
    folder_ = std::filesystem::temp_directory_path() /
              ("ingot-tls-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    Write("ca.pem", authority_.certificate);
    WritePair("client", MakeCertificate("trainer-1", authority_));
  }
  void TearDown() override {
    if (HasFailure() && daemon_ != nullptr) {
      std::fprintf(stderr, "%s", daemon_->Log().c_str());
    }
    std::filesystem::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
  }
  void WritePair(const std::string& name, const Certificate& certificate) {
    Write(name + ".pem", certificate.certificate);
    Write(name + ".key", certificate.private_key);
  }

  void StartDaemon(const Certificate& own, int port = 0) {
    WritePair("daemon", own);
    DaemonOptions options;
    options.flags = {"--tcp=127.0.0.1:" + std::to_string(port),
                     "--workers=2",
                     "--tls-certificate=" + Path("daemon.pem"),
                     "--tls-private-key=" + Path("daemon.key"),
                     "--tls-client-ca=" + Path("ca.pem"),
                     "--tls-roles=trainer-*=get,compile"};
    auto daemon = Daemon::Start(options);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    address_ = "https://127.0.0.1:" + std::to_string(TcpPort());
  }
  void StartDaemon() { StartDaemon(MakeCertificate("ingotd", authority_)); }

  // The line is written a moment after the first connection is taken.
  int TcpPort() const {
    const std::string name = "\"tcp_port\":";
    for (int i = 0; i < 3000; ++i) {
      const std::string log = daemon_->Log();
      const size_t at = log.find(name);
      if (at != std::string::npos) return atoi(log.c_str() + at + name.size());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no tcp_port in the log";
    return 0;
  }

  ingot_client_options Options() const {
    ingot_client_options options = {sizeof(options)};
    options.address = address_.c_str();
    options.call_timeout_ms = 60000;
    options.connect_timeout_ms = 10000;
    options.tls_ca = ca_.c_str();
    options.tls_certificate = certificate_.c_str();
    options.tls_private_key = key_.c_str();
    options.tls_server_name = server_name_.c_str();
    return options;
  }

  // INGOT_OK, or the code with its text in `error_`.
  ingot_status Prepare() {
    const ingot_client_options options = Options();
    Client client;
    ingot_status status = Client::Create(&options, &client);
    EXPECT_EQ(status, INGOT_OK) << ingot_last_error();
    client::OwnedSpec spec = RmsNormSpec(4, 64);
    Prepared prepared;
    status = client.Prepare(spec.spec(), nullptr, &prepared);
    error_ = status == INGOT_OK ? "" : ingot_last_error();
    return status;
  }
  // The same of a client that cannot even be made.
  ingot_status Create() {
    const ingot_client_options options = Options();
    Client client;
    const ingot_status status = Client::Create(&options, &client);
    error_ = status == INGOT_OK ? "" : ingot_last_error();
    return status;
  }

  std::filesystem::path folder_;
  const Certificate authority_ = MakeAuthority("authority");
  // What the client is told.
  std::string ca_ = "";
  std::string certificate_ = "";
  std::string key_ = "";
  std::string server_name_ = "";
  std::string error_;
};

class TlsClientTest : public TlsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    ca_ = Path("ca.pem");
    certificate_ = Path("client.pem");
    key_ = Path("client.key");
  }
};

TEST_F(TlsClientTest, BothSidesKnowEachOther) {
  StartDaemon();
  EXPECT_EQ(Prepare(), INGOT_OK) << error_;
  // Without a scheme TLS follows from the CA; the name may be given.
  address_ = address_.substr(8);
  server_name_ = "ingotd";
  EXPECT_EQ(Prepare(), INGOT_OK) << error_;
}

TEST_F(TlsClientTest, LargeAnswersComeWhole) {
  StartDaemon();
  const ingot_client_options options = Options();
  Client client;
  ASSERT_EQ(Client::Create(&options, &client), INGOT_OK);
  std::vector<client::OwnedSpec> specs;
  std::vector<const ingot_spec*> pointers;
  for (int64_t n = 1; n <= 24; ++n) specs.push_back(RmsNormSpec(4, n * 64));
  for (client::OwnedSpec& spec : specs) pointers.push_back(spec.spec());
  std::vector<ingot_prepared*> prepared(specs.size());
  std::vector<ingot_status> statuses(specs.size());
  EXPECT_EQ(
      ingot_prepare_many(client.get(), pointers.data(), pointers.size(),
                         nullptr, prepared.data(), statuses.data(), nullptr),
      INGOT_OK)
      << ingot_last_error();
  for (ingot_prepared* handle : prepared) ingot_prepared_release(handle);
  const ingot_client_stats stats = Stats(client);
  EXPECT_EQ(stats.connections, 1u);
  EXPECT_GT(stats.object_bytes, 16384u * 4);
}

TEST_F(TlsClientTest, RolesComeFromTheClientsCertificate) {
  StartDaemon();
  WritePair("client", MakeCertificate("stranger", authority_));
  EXPECT_EQ(Prepare(), INGOT_PERMISSION_DENIED) << error_;
}

TEST_F(TlsClientTest, AnAuthorityThatDidNotSignTheDaemonIsSaid) {
  StartDaemon();
  Write("other.pem", MakeAuthority("another").certificate);
  ca_ = Path("other.pem");
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_, AllOf(HasSubstr("CN=ingotd"), HasSubstr("tls_ca"),
                            HasSubstr("other.pem")));
}

TEST_F(TlsClientTest, AnExpiredCertificateOfTheDaemonIsSaid) {
  StartDaemon(MakeCertificate("ingotd", authority_, {.expired = true}));
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_, AllOf(HasSubstr("CN=ingotd"), HasSubstr("expired")));
}

TEST_F(TlsClientTest, ANameThatTheCertificateLacksIsSaid) {
  StartDaemon(MakeCertificate("ingotd", authority_,
                              {.alternative_names = "DNS:elsewhere"}));
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_,
              AllOf(HasSubstr("127.0.0.1"), HasSubstr("tls_server_name")));
  server_name_ = "nowhere";
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_, HasSubstr("it is not for \"nowhere\""));
  server_name_ = "elsewhere";
  EXPECT_EQ(Prepare(), INGOT_OK) << error_;
}

TEST_F(TlsClientTest, AMissingClientCertificateIsSaid) {
  StartDaemon();
  certificate_ = key_ = "";
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_,
              AllOf(HasSubstr("client certificate"),
                    HasSubstr("None was given"), HasSubstr("tls_certificate")));
}

TEST_F(TlsClientTest, AClientThatTheDaemonDoesNotKnowIsSaid) {
  StartDaemon();
  WritePair("client", MakeCertificate("trainer-1", MakeAuthority("another")));
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_,
              AllOf(HasSubstr("tls_client_ca"), HasSubstr("client.pem")));
  WritePair("client",
            MakeCertificate("trainer-1", authority_, {.expired = true}));
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_, AllOf(HasSubstr("client certificate has expired"),
                            HasSubstr("client.pem")));
}

TEST_F(TlsClientTest, ADaemonWithoutTlsIsSaid) {
  DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0"};
  auto daemon = Daemon::Start(options);
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  daemon_ = *std::move(daemon);
  address_ = "https://127.0.0.1:" + std::to_string(TcpPort());
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_, HasSubstr("no TLS with the daemon"));
}

TEST_F(TlsClientTest, ACertificateThatIsReplacedCountsFromTheNextConnection) {
  StartDaemon();
  WritePair("client", MakeCertificate("stranger", authority_));
  const ingot_client_options options = Options();
  Client client;
  ASSERT_EQ(Client::Create(&options, &client), INGOT_OK);
  client::OwnedSpec spec = RmsNormSpec(4, 64);
  Prepared prepared;
  EXPECT_EQ(client.Prepare(spec.spec(), nullptr, &prepared),
            INGOT_PERMISSION_DENIED);
  WritePair("client", MakeCertificate("trainer-1", authority_));
  const int port = TcpPort();
  daemon_.reset();
  StartDaemon(MakeCertificate("ingotd", authority_), port);
  EXPECT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK)
      << ingot_last_error();
}

TEST_F(TlsClientTest, FilesThatCannotBeUsedAreSaidAtOnce) {
  address_ = "https://127.0.0.1:1";
  certificate_ = Path("none.pem");
  EXPECT_EQ(Create(), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(error_,
              AllOf(HasSubstr("tls_certificate"), HasSubstr("none.pem")));
  certificate_ = Path("client.pem");
  WritePair("other", MakeCertificate("trainer-1", authority_));
  key_ = Path("other.key");
  EXPECT_EQ(Create(), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(error_, HasSubstr("tls_private_key"));
  key_ = "";
  EXPECT_EQ(Create(), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(error_, HasSubstr("both or none"));
  key_ = Path("client.key");
  ca_ = Path("client.key");
  EXPECT_EQ(Create(), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(error_, HasSubstr("tls_ca"));
  ca_ = "";
  EXPECT_EQ(Create(), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(error_, HasSubstr("tls_ca: found nothing"));
  // A Unix socket needs none of it.
  address_ = "unix:/nowhere/ingotd.sock";
  EXPECT_EQ(Create(), INGOT_OK) << error_;
}

TEST_F(TlsClientTest, TheEnvironmentWillDo) {
  StartDaemon();
  setenv("INGOT_TLS_CA", ca_.c_str(), 1);
  setenv("INGOT_TLS_CERTIFICATE", certificate_.c_str(), 1);
  setenv("INGOT_TLS_PRIVATE_KEY", key_.c_str(), 1);
  const std::string ctl =
      std::filesystem::path(DaemonProgram()).parent_path() / "ingotctl";
  const std::string certificate = certificate_;
  ca_ = certificate_ = key_ = "";
  EXPECT_EQ(Prepare(), INGOT_OK) << error_;
  EXPECT_EQ(
      system((ctl + " --address " + address_ + " capabilities >/dev/null 2>&1")
                 .c_str()),
      0);
  unsetenv("INGOT_TLS_CERTIFICATE");
  unsetenv("INGOT_TLS_PRIVATE_KEY");
  EXPECT_EQ(WEXITSTATUS(system((ctl + " --address " + address_ +
                                " capabilities >/dev/null 2>&1")
                                   .c_str())),
            3);
  EXPECT_EQ(system((ctl + " --address " + address_ + " --tls-certificate " +
                    certificate + " --tls-private-key " + Path("client.key") +
                    " capabilities >/dev/null 2>&1")
                       .c_str()),
            0);
  unsetenv("INGOT_TLS_CA");
}

// A server of TLS that knows no HTTP/2, or that falls silent.
class OddServer {
 public:
  OddServer(const std::string& certificate, const std::string& key,
            bool handshake)
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([=, this] { Serve(certificate, key, handshake); });
  }
  ~OddServer() {
    thread_.join();
    close(listener_);
  }
  int port() const { return port_; }

 private:
  void Serve(const std::string& certificate, const std::string& key,
             bool handshake) const {
    // OpenSSL's own sockets raise it; the client's must not.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    const int fd = accept(listener_, nullptr, nullptr);
    if (handshake) {
      SSL_CTX* context = SSL_CTX_new(TLS_server_method());
      SSL_CTX_use_certificate_chain_file(context, certificate.c_str());
      SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM);
      SSL* session = SSL_new(context);
      SSL_set_fd(session, fd);
      SSL_accept(session);
      SSL_free(session);
      SSL_CTX_free(context);
    } else {
      char byte = 0;
      while (recv(fd, &byte, 1, 0) > 0) {
      }
    }
    close(fd);
  }

  const int listener_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(TlsClientTest, AServerThatKnowsNoHttp2IsSaid) {
  WritePair("odd", MakeCertificate("odd", authority_));
  const OddServer server(Path("odd.pem"), Path("odd.key"), true);
  address_ = "https://127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(Prepare(), INGOT_UNAVAILABLE);
  EXPECT_THAT(error_, HasSubstr("no HTTP/2"));
}

TEST_F(TlsClientTest, AServerThatFallsSilentEndsWithTheTimeToConnect) {
  const OddServer server("", "", false);
  address_ = "https://127.0.0.1:" + std::to_string(server.port());
  ingot_client_options options = Options();
  options.connect_timeout_ms = 100;
  Client client;
  ASSERT_EQ(Client::Create(&options, &client), INGOT_OK);
  client::OwnedSpec spec = RmsNormSpec(4, 64);
  Prepared prepared;
  EXPECT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_UNAVAILABLE);
  EXPECT_THAT(ingot_last_error(), HasSubstr("no answer in time"));
}

}  // namespace
}  // namespace ingot::testing
