#include "client/src/canonical.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "client/src/code_object.h"
#include "client/src/spec_key.h"
#include "client/testing/spec_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

using testing::HasSubstr;

struct Encoded {
  ingot_status status;
  std::string bytes;
  std::string error;
};

Encoded Encode(const ingot_spec* spec) {
  uint8_t* data = nullptr;
  size_t size = 0;
  char error[512] = "";
  Encoded result;
  result.status = ingot_canonical_encode(spec, "gfx950", &data, &size, error,
                                         sizeof(error));
  if (result.status == INGOT_OK) {
    result.bytes.assign(reinterpret_cast<char*>(data), size);
    free(data);
  }
  result.error = error;
  return result;
}

OwnedSpec Gemm() {
  OwnedSpec spec;
  spec.SetOp("gemm");
  spec.AddDim("m", 128);
  spec.AddDim("n", 4096);
  spec.AddDim("k", 4096);
  spec.AddOperand("a", "bf16");
  spec.AddOperand("b", "bf16");
  spec.AddOperand("d", "f32");
  spec.AddString("layout", "nt");
  return spec;
}

TEST(CanonicalTest, AgreesWithTheVectors) {
  int encoded = 0;
  int refused = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("proto/vectors")) {
    if (entry.path().extension() != ".txt") continue;
    SCOPED_TRACE(entry.path().string());
    Vector vector = ReadVector(entry.path().string());
    const Encoded result = Encode(vector.spec.spec());
    if (vector.refused) {
      ++refused;
      EXPECT_EQ(result.status, INGOT_INVALID_ARGUMENT) << result.error;
      EXPECT_THAT(result.error, HasSubstr("found"));
      EXPECT_THAT(result.error, HasSubstr("allowed"));
      continue;
    }
    ++encoded;
    ASSERT_EQ(result.status, INGOT_OK) << result.error;
    EXPECT_EQ(Hex(result.bytes), vector.encoding);
    EXPECT_EQ(Hex(Sha256(result.bytes.data(), result.bytes.size())),
              vector.digest);
  }
  EXPECT_GE(encoded, 10);
  EXPECT_GE(refused, 20);
}

TEST(CanonicalTest, TokenValuesDoNotReachTheEncoding) {
  OwnedSpec one;
  one.SetOp("rmsnorm");
  one.AddDim("rows", 1);
  OwnedSpec two;
  two.SetOp("rmsnorm");
  two.AddDim("rows", 4096);
  OwnedSpec open;
  open.SetOp("rmsnorm");
  open.AddRange("rows", 0, 0, 1);
  EXPECT_EQ(Encode(one.spec()).bytes, Encode(two.spec()).bytes);
  EXPECT_EQ(Encode(one.spec()).bytes, Encode(open.spec()).bytes);
}

TEST(CanonicalTest, NullPointersAreRefusedByName) {
  OwnedSpec owned = Gemm();
  ingot_spec spec = *owned.spec();
  spec.op = nullptr;
  EXPECT_THAT(Encode(&spec).error, HasSubstr("name of op: found NULL"));
  spec = *owned.spec();
  spec.dims = nullptr;
  EXPECT_THAT(Encode(&spec).error, HasSubstr("dims: found NULL"));
  EXPECT_EQ(Encode(nullptr).status, INGOT_INVALID_ARGUMENT);
  ingot_operand operand = {sizeof(operand)};
  operand.name = "a";
  spec = *owned.spec();
  spec.operands = &operand;
  spec.operand_count = 1;
  EXPECT_THAT(Encode(&spec).error, HasSubstr("dtype of operand a: found NULL"));
}

TEST(CanonicalTest, SizesOfANewerCallerAreTaken) {
  struct NewerSpec {
    ingot_spec spec;
    uint64_t added;
  };
  OwnedSpec owned = Gemm();
  NewerSpec newer = {*owned.spec(), 0};
  newer.spec.size = sizeof(newer);
  EXPECT_EQ(Encode(&newer.spec).bytes, Encode(owned.spec()).bytes);
  newer.added = 1;
  EXPECT_THAT(Encode(&newer.spec).error, HasSubstr("spec size: found"));
  newer.spec.size = 8;
  EXPECT_EQ(Encode(&newer.spec).status, INGOT_INVALID_ARGUMENT);
}

TEST(CanonicalTest, WhatIsReservedIsZero) {
  OwnedSpec owned = Gemm();
  ingot_spec spec = *owned.spec();
  spec.reserved = 7;
  EXPECT_EQ(Encode(&spec).status, INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(Encode(&spec).error, HasSubstr("reserved: found 7"));
  SpecKey key;
  EXPECT_TRUE(MakeSpecKey(*owned.spec(), 0, &key));
  EXPECT_FALSE(MakeSpecKey(spec, 0, &key));
}

TEST(CanonicalTest, ElementsAreSteppedByTheirOwnSize) {
  struct NewerDim {
    ingot_dim dim;
    uint64_t added;
  };
  OwnedSpec owned;
  owned.SetOp("gemm");
  owned.AddDim("n", 7);
  owned.AddDim("k", 9);
  ingot_spec spec = *owned.spec();
  NewerDim dims[2] = {{spec.dims[0], 0}, {spec.dims[1], 0}};
  dims[0].dim.size = dims[1].dim.size = sizeof(NewerDim);
  spec.dims = &dims[0].dim;
  EXPECT_EQ(Encode(&spec).bytes, Encode(owned.spec()).bytes);
  dims[1].dim.size = sizeof(ingot_dim);
  EXPECT_THAT(Encode(&spec).error, HasSubstr("dim 1: found a size of"));
}

TEST(CanonicalTest, TargetsOfOtherProcessorsAreUnimplemented) {
  OwnedSpec spec = Gemm();
  spec.SetTarget("gfx942");
  const Encoded result = Encode(spec.spec());
  EXPECT_EQ(result.status, INGOT_UNIMPLEMENTED);
  EXPECT_THAT(result.error, HasSubstr("gfx942"));
}

TEST(CanonicalTest, DefaultTargetStandsInForNone) {
  OwnedSpec owned = Gemm();
  ingot_spec spec = *owned.spec();
  spec.target = nullptr;
  EXPECT_EQ(Encode(&spec).bytes, Encode(owned.spec()).bytes);
}

}  // namespace
}  // namespace ingot::client
