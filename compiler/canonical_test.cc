#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

struct Vector {
  std::string name;
  Spec spec;
  std::string encoding;  // hex; empty when the spec must be refused
  std::string digest;
  bool refused = false;
};

int64_t Number(absl::string_view text) {
  int64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  return value;
}

Dim ParseDim(const std::vector<std::string>& words) {
  Dim dim{words[1]};
  if (words.size() > 2 && words[2] == "value") dim.value = Number(words[3]);
  if (words.size() > 2 && words[2] == "range") {
    dim.min = Number(words[3]);
    dim.max = Number(words[4]);
    dim.multiple_of = Number(words[5]);
  }
  return dim;
}

Operand ParseOperand(const std::vector<std::string>& words) {
  Operand operand{words[1], words[2]};
  if (words[3] == "static") operand.stride_mode = StrideMode::kStatic;
  if (words[3] == "dynamic") operand.stride_mode = StrideMode::kDynamic;
  operand.alignment = static_cast<uint32_t>(Number(words[4]));
  for (size_t i = 5; i < words.size(); ++i) {
    operand.strides.push_back(Number(words[i]));
  }
  return operand;
}

Attr ParseAttr(const std::string& line, const std::vector<std::string>& words) {
  Attr attr{words[1]};
  if (words[2] == "bool") attr.value = words[3] == "1";
  if (words[2] == "int") attr.value = Number(words[3]);
  if (words[2] == "float") {
    const uint64_t bits = std::stoull(words[3], nullptr, 16);
    double value;
    memcpy(&value, &bits, sizeof(value));
    attr.value = value;
  }
  if (words[2] == "string") {
    const size_t prefix = words[0].size() + words[1].size() + 9;
    attr.value = line.size() > prefix ? line.substr(prefix) : std::string();
  }
  return attr;
}

void ParseLine(const std::string& line, Vector* out) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  Spec& spec = out->spec;
  if (words[0] == "op") spec.op = words[1];
  if (words[0] == "target") spec.target = line.substr(7);
  if (words[0] == "dim") spec.dims.push_back(ParseDim(words));
  if (words[0] == "operand") spec.operands.push_back(ParseOperand(words));
  if (words[0] == "attr") spec.attrs.push_back(ParseAttr(line, words));
  if (words[0] == "tuning") spec.tuning.push_back({words[1], Number(words[2])});
  if (words[0] == "encoding") out->encoding = words[1];
  if (words[0] == "digest") out->digest = words[1];
  if (words[0] == "refused") out->refused = true;
}

std::vector<Vector> LoadVectors() {
  std::vector<Vector> vectors;
  for (const auto& entry :
       std::filesystem::directory_iterator("proto/vectors")) {
    if (entry.path().extension() != ".txt") continue;
    Vector vector;
    vector.name = entry.path().filename().string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) ParseLine(line, &vector);
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

TEST(Canonical, AgreesWithTheVectors) {
  const std::vector<Vector> vectors = LoadVectors();
  ASSERT_GE(vectors.size(), 50u);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.name);
    const absl::StatusOr<Spec> canonical = Canonicalize(vector.spec);
    if (vector.refused) {
      EXPECT_EQ(canonical.status().code(), absl::StatusCode::kInvalidArgument)
          << canonical.status();
      continue;
    }
    ASSERT_TRUE(canonical.ok()) << canonical.status();
    EXPECT_EQ(absl::BytesToHexString(EncodeSpec(*canonical)), vector.encoding);
    EXPECT_EQ(absl::BytesToHexString(SpecDigest(*canonical)), vector.digest);
  }
}

TEST(Canonical, OrderOfListsDoesNotMatter) {
  std::mt19937 random(1);
  for (Vector& vector : LoadVectors()) {
    if (vector.refused) continue;
    SCOPED_TRACE(vector.name);
    std::shuffle(vector.spec.dims.begin(), vector.spec.dims.end(), random);
    std::shuffle(vector.spec.operands.begin(), vector.spec.operands.end(),
                 random);
    std::shuffle(vector.spec.attrs.begin(), vector.spec.attrs.end(), random);
    std::shuffle(vector.spec.tuning.begin(), vector.spec.tuning.end(), random);
    const absl::StatusOr<Spec> canonical = Canonicalize(vector.spec);
    ASSERT_TRUE(canonical.ok()) << canonical.status();
    EXPECT_EQ(absl::BytesToHexString(SpecDigest(*canonical)), vector.digest);
  }
}

TEST(Canonical, CanonicalSpecsAreFixedPoints) {
  for (const Vector& vector : LoadVectors()) {
    if (vector.refused) continue;
    const absl::StatusOr<Spec> once = Canonicalize(vector.spec);
    ASSERT_TRUE(once.ok());
    const absl::StatusOr<Spec> twice = Canonicalize(*once);
    ASSERT_TRUE(twice.ok()) << vector.name << ": " << twice.status();
    EXPECT_EQ(EncodeSpec(*once), EncodeSpec(*twice)) << vector.name;
  }
}

TEST(Canonical, NoTwoVectorsShareADigest) {
  std::set<std::string> seen;
  for (const Vector& vector : LoadVectors()) {
    if (vector.refused) continue;
    EXPECT_TRUE(seen.insert(vector.digest).second) << vector.name;
  }
}

TEST(Canonical, RefusalsNameFieldFoundAndAllowed) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"n", -3}};
  EXPECT_THAT(std::string(Canonicalize(spec).status().message()),
              testing::AllOf(HasSubstr("dim n"), HasSubstr("-3"),
                             HasSubstr("0 or more")));
  spec.dims = {};
  spec.op = std::string(10240, 'x');
  const std::string message(Canonicalize(spec).status().message());
  EXPECT_THAT(message, HasSubstr("10240 bytes"));
  EXPECT_LT(message.size(), 300u);
}

TEST(Canonical, ADimWithValueAndRangeIsRefused) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"n", 3, 1}};
  EXPECT_EQ(Canonicalize(spec).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CanonicalTarget, KnowsGfx950Alone) {
  EXPECT_EQ(*CanonicalTarget("GFX950:xnack-:sramecc+"),
            "gfx950:sramecc+:xnack-");
  EXPECT_EQ(CanonicalTarget("gfx942").status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CanonicalTarget("gfx9-4-generic").status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CanonicalTarget("gfx942:foo+").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CanonicalTarget(absl::string_view("gfx950\0", 7)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ingot
