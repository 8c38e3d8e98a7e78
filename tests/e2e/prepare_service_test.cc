// ingot_prepare against a real daemon, with no GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/client_fixture.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;

class PrepareTest : public ClientFixture {
 protected:
  PrepareTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }
};

TEST_F(PrepareTest, ATokenCountNeverCausesACall) {
  Client client = NewClient();
  std::set<ingot_prepared*> handles;
  for (int64_t rows = 1; rows <= 64; ++rows) {
    client::OwnedSpec spec = RmsNormSpec(rows, 256);
    Prepared prepared;
    ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK)
        << ingot_last_error();
    handles.insert(prepared.get());
  }
  EXPECT_EQ(handles.size(), 1u);
  EXPECT_EQ(Stats(client).prepare_calls, 1u);
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), 1);
}

TEST_F(PrepareTest, AnotherClientHits) {
  client::OwnedSpec spec = RmsNormSpec(4, 320);
  Client cold = NewClient();
  Prepared prepared;
  ASSERT_EQ(cold.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_GT(Describe(prepared).compile_us, 0u);
  Client warm = NewClient();
  ASSERT_EQ(warm.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_EQ(Describe(prepared).compile_us, 0u);
  ingot_kernel_info kernel = {sizeof(kernel)};
  ASSERT_EQ(ingot_prepared_kernel(prepared.get(), 0, &kernel), INGOT_OK);
  EXPECT_EQ(kernel.source, static_cast<uint32_t>(INGOT_SOURCE_MEMORY));
  EXPECT_STREQ(kernel.target, "gfx950");
  ASSERT_NE(kernel.bytes, nullptr);
  EXPECT_EQ(memcmp(kernel.bytes,
                   "\x7f"
                   "ELF",
                   4),
            0);
  EXPECT_EQ(ingot_prepared_kernel(prepared.get(), 99, &kernel),
            INGOT_OUT_OF_RANGE);
}

TEST_F(PrepareTest, OrderAndSpellingShareTheAnswer) {
  Client client = NewClient();
  client::OwnedSpec one = RmsNormSpec(4, 128);
  client::OwnedSpec two;
  two.SetOp("rmsnorm");
  two.SetTarget("GFX950");
  two.AddOperand("y", "bf16", INGOT_STRIDES_DENSE, 16);
  two.AddOperand("x", "bf16");
  two.AddDim("n", 128);
  two.AddRange("rows", 0, 0, 1);
  Prepared first;
  Prepared second;
  ASSERT_EQ(client.Prepare(one.spec(), nullptr, &first), INGOT_OK);
  ASSERT_EQ(client.Prepare(two.spec(), nullptr, &second), INGOT_OK)
      << ingot_last_error();
  EXPECT_EQ(Stats(client).prepare_calls, 1u);
  EXPECT_STREQ(ingot_prepared_dim(first.get(), 0), "rows");
  EXPECT_STREQ(ingot_prepared_dim(second.get(), 0), "n");
  EXPECT_STREQ(ingot_prepared_operand(second.get(), 0), "y");
  EXPECT_EQ(ingot_prepared_operand(second.get(), 2), nullptr);
  EXPECT_STREQ(ingot_prepared_scalar(first.get(), 0), "eps");
  EXPECT_STREQ(ingot_prepared_scalar_dtype(first.get(), 0), "f32");
}

TEST_F(PrepareTest, WithoutAGpuOnlyLaunchesFail) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 64);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  const int64_t dims[2] = {4, 64};
  void* operands[2] = {&spec, &spec};
  ingot_launch_args args = {sizeof(args)};
  args.dims = dims;
  args.dim_count = 2;
  args.operands = operands;
  args.operand_count = 2;
  EXPECT_EQ(prepared.Launch(nullptr, args), INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(ingot_last_error(), HasSubstr("/nowhere/libhip.so"));
  EXPECT_EQ(ingot_prepared_load(prepared.get()), INGOT_FAILED_PRECONDITION);
  uint64_t bytes = 1;
  EXPECT_EQ(ingot_workspace_bytes(prepared.get(), &args, &bytes, nullptr),
            INGOT_OK);
  EXPECT_EQ(bytes, 0u);
}

TEST_F(PrepareTest, WarmUpBringsNoBytesAndALaterCallDoes) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 192);
  const ingot_prepare_options warm_up =
      With(INGOT_PREPARE_NO_BYTES | INGOT_PREPARE_WARMUP);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), &warm_up, &prepared), INGOT_OK);
  ingot_kernel_info kernel = {sizeof(kernel)};
  ASSERT_EQ(ingot_prepared_kernel(prepared.get(), 0, &kernel), INGOT_OK);
  EXPECT_EQ(kernel.bytes, nullptr);
  EXPECT_EQ(Stats(client).object_bytes, 0u);
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  ASSERT_EQ(ingot_prepared_kernel(prepared.get(), 0, &kernel), INGOT_OK);
  EXPECT_NE(kernel.bytes, nullptr);
  EXPECT_EQ(Stats(client).objects, 1u);
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), 1);
}

TEST_F(PrepareTest, MatchingVariantsComeOneByOne) {
  client::OwnedSpec small;
  client::OwnedSpec large;
  for (client::OwnedSpec* spec : {&small, &large}) {
    spec->SetOp("gemm");
    spec->AddDim("m", spec == &small ? 1 : 4096);
    spec->AddDim("n", 256);
    spec->AddDim("k", 256);
    for (const char* name : {"a", "b", "d"}) spec->AddOperand(name, "bf16");
  }
  Client client = NewClient();
  const ingot_prepare_options matching =
      With(INGOT_PREPARE_NO_LOAD, INGOT_FETCH_MATCHING);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(small.spec(), &matching, &prepared), INGOT_OK)
      << ingot_last_error();
  EXPECT_EQ(Stats(client).objects, 1u);
  ASSERT_EQ(client.Prepare(large.spec(), &matching, &prepared), INGOT_OK);
  EXPECT_EQ(Stats(client).objects, 2u);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(client.Prepare(small.spec(), &matching, &prepared), INGOT_OK);
    ASSERT_EQ(client.Prepare(large.spec(), &matching, &prepared), INGOT_OK);
  }
  EXPECT_EQ(Stats(client).prepare_calls, 2u);
}

TEST_F(PrepareTest, ManySpecsTakeOneCall) {
  std::vector<client::OwnedSpec> owned;
  for (int64_t n = 1; n <= 20; ++n) owned.push_back(RmsNormSpec(1, n * 16));
  owned.push_back(RmsNormSpec(1, 0));           // refused
  owned.push_back(RmsNormSpec(99, 16));         // the first one's digest
  owned.push_back(RmsNormSpec(1, 16, "e5m2"));  // refused by the op
  std::vector<const ingot_spec*> specs;
  for (client::OwnedSpec& spec : owned) specs.push_back(spec.spec());
  specs.push_back(nullptr);
  std::vector<ingot_prepared*> prepared(specs.size());
  std::vector<ingot_status> statuses(specs.size());
  std::vector<char*> messages(specs.size());
  Client client = NewClient();
  EXPECT_EQ(
      ingot_prepare_many(client.get(), specs.data(), specs.size(), nullptr,
                         prepared.data(), statuses.data(), messages.data()),
      INGOT_INVALID_ARGUMENT);
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool good = i < 20 || i == 21;
    EXPECT_EQ(statuses[i] == INGOT_OK, good) << i;
    EXPECT_EQ(prepared[i] != nullptr, good) << i;
    EXPECT_EQ(messages[i] == nullptr, good)
        << i << ": " << (messages[i] == nullptr ? "" : messages[i]);
    ingot_free(messages[i]);
    ingot_prepared_release(prepared[i]);
  }
  EXPECT_EQ(Stats(client).calls, 1u);
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), 20);
}

TEST_F(PrepareTest, RefusalsNameFieldFoundAndAllowed) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 131073);
  Prepared prepared;
  EXPECT_EQ(client.Prepare(spec.spec(), nullptr, &prepared),
            INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("131073"));
  client::OwnedSpec unknown = RmsNormSpec(4, 64);
  unknown.SetOp("no_such_op");
  EXPECT_EQ(client.Prepare(unknown.spec(), nullptr, &prepared),
            INGOT_UNIMPLEMENTED);
  EXPECT_FALSE(prepared);
}

TEST_F(PrepareTest, HandlesOutliveTheirClientAndKnowWhenTheyAreGone) {
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(4, 64);
  ingot_prepared* first = nullptr;
  ingot_prepared* second = nullptr;
  ASSERT_EQ(ingot_prepare(client.get(), spec.spec(), nullptr, &first),
            INGOT_OK);
  ASSERT_EQ(ingot_prepare(client.get(), spec.spec(), nullptr, &second),
            INGOT_OK);
  EXPECT_EQ(first, second);
  EXPECT_EQ(ingot_prepared_release(first), INGOT_OK);
  client.reset();
  EXPECT_STREQ(ingot_prepared_dim(second, 0), "rows");
  EXPECT_EQ(ingot_prepared_release(second), INGOT_OK);
  EXPECT_EQ(ingot_prepared_release(second), INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_prepared_dim(second, 0), nullptr);
  ingot_launch_args args = {sizeof(args)};
  EXPECT_EQ(ingot_launch(second, nullptr, &args), INGOT_INVALID_ARGUMENT);
}

TEST_F(PrepareTest, ManyThreadsPrepareTheSameAndDifferentSpecs) {
  Client client = NewClient();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        client::OwnedSpec spec = RmsNormSpec(i + 1, 32 * (1 + (i + t) % 6));
        Prepared prepared;
        if (client.Prepare(spec.spec(), nullptr, &prepared) == INGOT_OK) {
          good.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 8 * 40);
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), 6);
}

TEST_F(PrepareTest, AForkedChildPreparesAndParentGoesOn) {
  Client client = NewClient();
  client::OwnedSpec known = RmsNormSpec(4, 64);
  client::OwnedSpec fresh = RmsNormSpec(4, 96);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(known.spec(), nullptr, &prepared), INGOT_OK);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    Prepared own;
    const bool good = client.Prepare(known.spec(), nullptr, &own) == INGOT_OK &&
                      client.Prepare(fresh.spec(), nullptr, &own) == INGOT_OK &&
                      ingot_prepared_dim(prepared.get(), 0) != nullptr;
    _exit(good ? 0 : 1);
  }
  ASSERT_EQ(client.Prepare(fresh.spec(), nullptr, &prepared), INGOT_OK);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(PrepareTest, CapabilitiesAreJson) {
  Client client = NewClient();
  char* json = nullptr;
  ASSERT_EQ(ingot_capabilities(client.get(), &json), INGOT_OK);
  EXPECT_THAT(json, HasSubstr("\"name\":\"rmsnorm\""));
  EXPECT_THAT(json, HasSubstr("\"targets\":[\"gfx950\"]"));
  ingot_free(json);
}

}  // namespace
}  // namespace ingot::testing
