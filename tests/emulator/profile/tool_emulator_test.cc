// What surrounds a profile: arguments, ops, the JSON form.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/emulator/profile/arguments.h"
#include "tests/emulator/profile/print.h"
#include "tests/emulator/profile/run_file.h"
#include "tests/emulator/profile/run_op.h"

namespace ingot::profile {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

Spec Gemm(int64_t n, int64_t k, std::vector<Tuning> tuning) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
  spec.attrs = {{"layout", std::string("nt")}};
  spec.tuning = std::move(tuning);
  return spec;
}

OpRequest LargeTile() {
  OpRequest request;
  request.spec = Gemm(512, 1024,
                      {{"tile_m", 256},
                       {"tile_n", 256},
                       {"tile_k", 64},
                       {"waves_m", 2},
                       {"waves_n", 2},
                       {"split_k", 1}});
  request.dims = {{"m", 512}, {"n", 512}, {"k", 1024}};
  request.most_groups = 1;
  return request;
}

// hotloops.md: what an iteration of the 256x256x64 loop holds, and half of what
// it may take of LDS and the vector memory path.
TEST(ToolTest, TheLoopOfTheLargeGemmTile) {
  const absl::StatusOr<OpProfile> profile = ProfileOp(LargeTile());
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->variant, "dma_256x256x64");
  ASSERT_EQ(profile->launches.size(), 1u);
  const Profile& p = profile->launches[0];
  EXPECT_EQ(p.groups, 4u);
  EXPECT_EQ(p.groups_run, 1u);
  ASSERT_EQ(p.loops.size(), 1u);
  const LoopProfile& l = p.loops[0];
  const uint64_t n = l.loop.iterations;
  // Two tiles of 64 an iteration, four waves.
  EXPECT_EQ(n, 4u * 1024 / 64 / 2);
  EXPECT_EQ(l.waves, 4u);
  EXPECT_EQ(l.tally.Of(Class::kMfma), 256 * n);
  EXPECT_EQ(l.tally.Of(Class::kLds), 64 * n);
  EXPECT_EQ(l.tally.Of(Class::kLdsDma), 32 * n);
  EXPECT_EQ(l.tally.Of(Class::kBarrier), 4 * n);
  EXPECT_EQ(l.tally.Of(Class::kValu), 0u);
  EXPECT_EQ(l.tally.acc_moves, 0u);
  EXPECT_EQ(l.tally.scratch_accesses, 0u);
  EXPECT_EQ(l.tally.memory.lds_degree, 1);
  EXPECT_EQ(l.tally.memory.lds.read, 64 * 1024 * n);
  // The last of eight iterations asks for steps beyond k, which cost nothing.
  EXPECT_EQ(l.tally.memory.global.read, 32 * 1024 * n * 7 / 8);
  EXPECT_EQ(l.clocks.mfma, 256 * 16);
  EXPECT_EQ(l.clocks.lds, 4 * (64 * 4 + 32 * 8));
  EXPECT_EQ(l.clocks.vmem, 4 * 32 * 16 * 7 / 8);
  EXPECT_STREQ(l.clocks.Bound().name, "mfma");
  // 2 * 256 * 256 * 1024 operations of one workgroup.
  EXPECT_EQ(p.tally.matrix_flops, 2.0 * 256 * 256 * 1024);
  // a, b and d are read and written once at least.
  EXPECT_NEAR(p.hbm_bytes, 2.0 * (2 * 512 * 1024 + 512 * 512), 256);
}

TEST(ToolTest, AnOpNeedsAllDims) {
  OpRequest request = LargeTile();
  request.dims.erase("m");
  const absl::Status status = ProfileOp(request).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("dim m"), absl::string_view::npos) << status;
}

const Value& At(const Value& value, const std::string& name) {
  static const Value none;
  const auto& fields = value.struct_value().fields();
  const auto found = fields.find(name);
  if (found == fields.end()) {
    ADD_FAILURE() << "no field " << name;
    return none;
  }
  return found->second;
}

TEST(ToolTest, JsonSaysWhatTheProfileHolds) {
  absl::StatusOr<OpProfile> profile = ProfileOp(LargeTile());
  ASSERT_TRUE(profile.ok()) << profile.status();
  profile->launches[0].kernel = "a \"name\"\n";  // must be escaped
  Value root;
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      ToJson(profile->launches, 3), &root);
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  EXPECT_EQ(At(root, "schema").number_value(), 1);
  const Value& kernel = At(root, "kernels").list_value().values(0);
  EXPECT_EQ(At(kernel, "kernel").string_value(), "a \"name\"\n");
  EXPECT_EQ(At(kernel, "scale").number_value(), 4);
  EXPECT_EQ(At(kernel, "mnemonics").list_value().values_size(), 3);
  EXPECT_EQ(At(kernel, "waves").list_value().values_size(), 4);
  EXPECT_EQ(At(At(kernel, "occupancy"), "limit").string_value(), "registers");
  const Value& loop = At(kernel, "loops").list_value().values(0);
  EXPECT_EQ(At(At(loop, "per_iteration"), "mfma").number_value(), 256);
  EXPECT_EQ(At(At(loop, "memory"), "lds_conflict_max").number_value(), 1);
  EXPECT_EQ(At(At(loop, "clocks"), "bound").string_value(), "mfma");
  EXPECT_GT(At(loop, "waits").list_value().values_size(), 0);
  EXPECT_GT(At(At(kernel, "modelled"), "bound_microseconds").number_value(), 0);
}

std::string TextValue(const std::string& text) {
  const absl::StatusOr<Argument> argument = ParseArgument(text);
  return argument.ok() ? argument->value : "refused";
}

TEST(ToolTest, ValuesAsTheyLieInMemory) {
  EXPECT_EQ(TextValue("i32:-2"), std::string("\xfe\xff\xff\xff", 4));
  EXPECT_EQ(TextValue("u8:255"), "\xff");
  EXPECT_EQ(TextValue("i64:1"), std::string("\x01\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(TextValue("f32:1.5"), std::string("\0\0\xc0\x3f", 4));
  EXPECT_EQ(TextValue("bf16:1.5"), std::string("\xc0\x3f", 2));
  EXPECT_EQ(TextValue("f16:-2"), std::string("\0\xc0", 2));
  EXPECT_EQ(TextValue("f64:1"), std::string("\0\0\0\0\0\0\xf0\x3f", 8));
  EXPECT_EQ(TextValue("hex:00ffA0"), std::string("\0\xff\xa0", 3));
  for (const char* bad :
       {"", "i32", "i32:", "i32:x", "i8:128", "u8:-1", "u32:4294967296",
        "f32:abc", "hex:0", "hex:0g", "hex:", "q:1", "ptr:", "ptr:0",
        "ptr:64:what", "ptr:-1", "ptr:9999999G"}) {
    EXPECT_EQ(TextValue(bad), "refused") << bad;
  }
}

TEST(ToolTest, PointersAndTheirFill) {
  const absl::StatusOr<Argument> argument = ParseArgument("ptr:2K:iota-i32");
  ASSERT_TRUE(argument.ok()) << argument.status();
  EXPECT_TRUE(argument->pointer());
  EXPECT_EQ(argument->bytes, 2048u);
  uint32_t memory[5] = {9, 9, 9, 9, 9};
  ASSERT_TRUE(Fill("iota-i32", memory, 16).ok());
  const uint32_t wanted[5] = {0, 1, 2, 3, 9};
  EXPECT_EQ(std::memcmp(memory, wanted, sizeof(memory)), 0);
  float normal[1000];
  ASSERT_TRUE(Fill("random-f32", normal, sizeof(normal)).ok());
  double squares = 0;
  for (const float x : normal) squares += double{x} * x;
  EXPECT_NEAR(squares / 1000, 1, 0.2);
  EXPECT_FALSE(Fill("file=/nothing/here", memory, 4).ok());
}

TEST(ToolTest, ArgumentsFromJson) {
  const auto parsed = ParseArgumentsJson(
      R"([{"type": "ptr", "bytes": "1K", "fill": "zero", "offset": 16},
          {"type": "i64", "value": "9007199254740993"},
          {"type": "i32", "value": 7}, {"type": "f32", "value": 1.5}])");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->size(), 4u);
  EXPECT_EQ((*parsed)[0].bytes, 1024u);
  EXPECT_EQ((*parsed)[0].offset, 16u);
  EXPECT_EQ((*parsed)[1].value, std::string("\x01\0\0\0\0\0\x20\0", 8));
  EXPECT_EQ((*parsed)[3].value, std::string("\0\0\xc0\x3f", 4));
  for (const char* bad :
       {"", "{}", "[1]", "[", R"([{"type": "i32"}])",
        R"([{"type": "ptr", "value": 1}])", R"([{"typ": "i32", "value": 1}])",
        R"([{"type": "i32", "value": 1, "fill": "zero"}])",
        R"([{"type": "ptr", "bytes": 64, "offset": 65}])"}) {
    EXPECT_FALSE(ParseArgumentsJson(bad).ok()) << bad;
  }
}

FileRequest Vadd() {
  FileRequest request;
  request.path = "tests/data/emulator/kernels_O2.hsaco";
  request.kernel = "vadd";
  request.grid = "2";
  request.block = "64,1,1";
  request.arguments = {"ptr:512:random-f32", "ptr:512", "ptr:512", "i32:128"};
  return request;
}

TEST(ToolTest, AFileIsLaunchedAsToldAndRefusedWithReason) {
  const absl::StatusOr<Profile> profile = ProfileFile(Vadd());
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->groups, 2u);
  EXPECT_EQ(profile->tally.memory.global.written, 512u);
  ASSERT_EQ(profile->buffers.size(), 3u);
  EXPECT_EQ(profile->buffers[2].name, "pointer at 16 of the arguments");
  EXPECT_EQ(profile->buffers[2].distinct.written, 512u);
  const std::string text = ToText(*profile, 5);
  EXPECT_NE(text.find("modelled"), std::string::npos);
  EXPECT_NE(text.find("vadd"), std::string::npos);

  FileRequest request = Vadd();
  request.arguments.pop_back();
  EXPECT_EQ(ProfileFile(request).status().message(),
            "arguments of vadd: found 3, allowed 4");
  request = Vadd();
  request.arguments[3] = "i64:1";
  EXPECT_EQ(ProfileFile(request).status().message(),
            "argument 3 of vadd: found 8 bytes, allowed 4");
  request = Vadd();
  request.block = "1025";
  EXPECT_EQ(ProfileFile(request).status().code(),
            absl::StatusCode::kInvalidArgument);
  request = Vadd();
  request.kernel = "sub";
  EXPECT_NE(ProfileFile(request).status().message().find("vadd"),
            absl::string_view::npos);
  request = Vadd();
  request.arguments[0] = "ptr:256";  // half of what is read
  EXPECT_EQ(ProfileFile(request).status().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace ingot::profile
