// An old client and a new daemon, a new client and an old daemon: what both
// know works, what one of them does not know is ignored where that is harmless
// and refused by name where it is not.
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "ingot/v1/kernels.pb.h"
#include "tests/e2e/client_fixture.h"
#include "tests/support/altering_server.h"

namespace ingot::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class VersionsTest : public ClientFixture {
 protected:
  VersionsTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }

  // From now on clients meet the daemon as that of another version.
  void Pretend(Alterations alterations) {
    server_ = std::make_unique<AlteringServer>(daemon_->socket() + ".other",
                                               daemon_->address(),
                                               std::move(alterations));
    address_ = server_->address();
  }

  // Answers to `method` are changed as messages.
  template <typename Message>
  void PretendReply(const std::string& method,
                    std::function<void(Message*)> change) {
    Alterations alterations;
    alterations.reply = [=](const std::string& called, std::string* bytes) {
      if (called == method) *bytes = Changed<Message>(*bytes, change);
    };
    Pretend(std::move(alterations));
  }
  void PretendRequest(std::function<void(v1::GetKernelRequest*)> change) {
    Alterations alterations;
    alterations.request = [=](const std::string& called, std::string* bytes) {
      if (called == "GetKernel") {
        *bytes = Changed<v1::GetKernelRequest>(*bytes, change);
      }
    };
    Pretend(std::move(alterations));
  }

  static ingot_status Ask(Client* client, int64_t n = 64) {
    client::OwnedSpec spec = RmsNormSpec(1, n);
    Prepared prepared;
    return client->Prepare(spec.spec(), nullptr, &prepared);
  }

  static std::string Capabilities(Client* client) {
    char* json = nullptr;
    EXPECT_EQ(ingot_capabilities(client->get(), &json), INGOT_OK)
        << ingot_last_error();
    const std::string text = json == nullptr ? "" : json;
    ingot_free(json);
    return text;
  }

 private:
  template <typename Message>
  static std::string Changed(const std::string& bytes,
                             const std::function<void(Message*)>& change) {
    Message message;
    EXPECT_TRUE(message.ParseFromString(bytes));
    change(&message);
    return message.SerializeAsString();
  }

  std::unique_ptr<AlteringServer> server_;
};

TEST_F(VersionsTest, ThroughTheServerNothingChanges) {
  Pretend({});
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_OK) << ingot_last_error();
  EXPECT_THAT(Capabilities(&client), HasSubstr("rmsnorm"));
}

TEST_F(VersionsTest, WhatANewerDaemonAddsIsIgnored) {
  PretendReply<v1::GetKernelResponse>(
      "GetKernel", [](v1::GetKernelResponse* response) {
        AddUnknownFields(response);
        response->mutable_kernels(0)->set_source(static_cast<v1::Source>(99));
      });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_OK) << ingot_last_error();
}

TEST_F(VersionsTest, CapabilitiesOfANewerDaemonAreRead) {
  PretendReply<v1::GetCapabilitiesResponse>(
      "GetCapabilities", [](v1::GetCapabilitiesResponse* response) {
        response->set_api_max(7);
        response->set_recipe_version_max(9);
        AddUnknownFields(response);
      });
  Client client = NewClient();
  EXPECT_THAT(
      Capabilities(&client),
      AllOf(HasSubstr("\"api_max\":7"), HasSubstr("\"recipe_version_max\":9"),
            HasSubstr("rmsnorm"), Not(HasSubstr("later version"))));
}

TEST_F(VersionsTest, ANewerRecipeIsRefusedByItsVersion) {
  PretendReply<v1::GetKernelResponse>(
      "GetKernel", [](v1::GetKernelResponse* response) {
        for (v1::Variant& variant :
             *response->mutable_plan()->mutable_variants()) {
          variant.mutable_recipe()->set_version(2);
        }
      });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(),
              AllOf(HasSubstr("recipe version 2"), HasSubstr("allowed 1")));
}

TEST_F(VersionsTest, AStepThatIsNotKnownIsNeverLeftOut) {
  PretendReply<v1::GetKernelResponse>(
      "GetKernel", [](v1::GetKernelResponse* response) {
        v1::Step* step = response->mutable_plan()
                             ->mutable_variants(0)
                             ->mutable_recipe()
                             ->add_steps();
        AddUnknownFields(step);
      });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(), HasSubstr("newer than this library"));
}

TEST_F(VersionsTest, AnArgumentThatIsNotKnownIsNeverLeftOut) {
  PretendReply<v1::GetKernelResponse>(
      "GetKernel", [](v1::GetKernelResponse* response) {
        for (v1::Step& step : *response->mutable_plan()
                                   ->mutable_variants(0)
                                   ->mutable_recipe()
                                   ->mutable_steps()) {
          if (!step.has_launch()) continue;
          step.mutable_launch()->mutable_args(0)->set_kind(
              static_cast<v1::Argument::Kind>(42));
        }
      });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(), HasSubstr("newer than this library"));
}

TEST_F(VersionsTest, CapabilitiesOfAnOlderDaemonHaveGaps) {
  PretendReply<v1::GetCapabilitiesResponse>(
      "GetCapabilities", [](v1::GetCapabilitiesResponse* response) {
        const uint32_t api_max = response->api_max();
        response->Clear();
        response->set_api_min(1);
        response->set_api_max(api_max);
      });
  Client client = NewClient();
  EXPECT_THAT(Capabilities(&client),
              AllOf(HasSubstr("\"api_min\":1"), HasSubstr("\"ops\":[]"),
                    HasSubstr("\"version\":\"\"")));
}

TEST_F(VersionsTest, AMethodThatAnOlderDaemonLacksIsNamed) {
  Alterations alterations;
  alterations.lacks = [](const std::string& method) {
    return method == "GetCapabilities" || method == "GetKernels";
  };
  Pretend(std::move(alterations));
  Client client = NewClient();
  char* json = nullptr;
  EXPECT_EQ(ingot_capabilities(client.get(), &json), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(),
              AllOf(HasSubstr("/ingot.v1.Kernels/GetCapabilities"),
                    HasSubstr("does not have")));
  // Which costs no more than that call.
  EXPECT_EQ(Ask(&client), INGOT_OK) << ingot_last_error();
}

TEST_F(VersionsTest, ALaterProtocolIsRefusedWithBothVersions) {
  PretendRequest([](v1::GetKernelRequest* request) {
    request->set_api_version(request->api_version() + 1);
  });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(),
              HasSubstr("api_version: found 2, allowed up to 1"));
}

TEST_F(VersionsTest, WhatANewerClientAddsToARequestIsIgnored) {
  PretendRequest([](v1::GetKernelRequest* request) {
    const v1::Spec spec = request->spec();
    AddUnknownFields(request);
    *request->mutable_spec() = spec;
  });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_OK) << ingot_last_error();
}

TEST_F(VersionsTest, WhatANewerClientAddsToASpecIsRefused) {
  // It would be another kernel.
  PretendRequest([](v1::GetKernelRequest* request) {
    AddUnknownFields(request->mutable_spec()->mutable_operands(0));
  });
  Client client = NewClient();
  EXPECT_EQ(Ask(&client), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(), HasSubstr("the client is newer"));
}

}  // namespace
}  // namespace ingot::testing
