// The two canonical encodings, in C and C++, against each other: random specs,
// good and bad, must be encoded to the same bytes or refused with the same
// code.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "client/src/canonical.h"
#include "client/testing/spec_text.h"
#include "compiler/spec.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

class SpecFuzzer {
 public:
  explicit SpecFuzzer(uint64_t seed) : random_(seed) {}

  Spec Next() {
    Spec spec;
    spec.op = Name();
    spec.target = Target();
    for (int i = Count(64); i > 0; --i) spec.dims.push_back(NextDim());
    for (int i = Count(32); i > 0; --i) spec.operands.push_back(NextOperand());
    for (int i = Count(64); i > 0; --i) {
      spec.attrs.push_back({Name(), NextValue()});
    }
    for (int i = Count(64); i > 0; --i) {
      spec.tuning.push_back({Name(), Integer()});
    }
    return spec;
  }

 private:
  bool Once(int in) { return random_() % static_cast<uint64_t>(in) == 0; }

  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return *(values.begin() + random_() % values.size());
  }

  // Mostly few, now and then around the limit.
  int Count(int limit) {
    if (Once(100)) return limit + static_cast<int>(random_() % 3) - 1;
    return static_cast<int>(random_() % 5);
  }

  std::string Name() {
    if (Once(60)) {
      return Pick<std::string>({"", "A", "a-b", "a b", std::string(64, 'x'),
                                std::string(65, 'x'), "\xc3\xa4"});
    }
    if (Once(3)) {
      return Pick<std::string>({"m", "rows", "total_m", "sq", "sk", "context",
                                "b", "kv_len", "n", "k", "g", "d", "mm",
                                "row"});
    }
    std::string name;
    for (uint64_t i = 0; i <= random_() % 6; ++i) {
      name += "abcxyz_019"[random_() % 10];
    }
    return name;
  }

  std::string Target() {
    if (Once(10)) {
      return Pick<std::string>({"", "gfx942", "gfx950:", ":", "gfx950:xnack",
                                "gfx950:xnack+:xnack-", "gfx950:foo+",
                                "gfx950:+", "gfx9_50", "gfx950:sramecc+ ",
                                std::string(300, 'g')});
    }
    std::string target = Once(3) ? "GFX950" : "gfx950";
    const bool swapped = Once(2);
    for (const char* feature :
         {swapped ? ":xnack" : ":sramecc", swapped ? ":sramecc" : ":XNACK"}) {
      if (Once(2)) target += feature + Pick<std::string>({"+", "-"});
    }
    return target;
  }

  int64_t Integer() {
    return Pick<int64_t>({0, 1, 2, 16, 4096, -1, int64_t{1} << 40, INT64_MAX,
                          INT64_MIN, static_cast<int64_t>(random_() >> 20)});
  }

  int64_t Extent() {
    return Once(40) ? Integer() : static_cast<int64_t>(random_() % 5000);
  }

  Dim NextDim() {
    Dim dim;
    dim.name = Name();
    if (Once(2)) {
      dim.value = Extent();
      return dim;
    }
    if (Once(2)) dim.min = Extent();
    if (Once(2)) dim.max = Extent();
    if (Once(2)) dim.multiple_of = Extent() % 3;
    return dim;
  }

  Operand NextOperand() {
    Operand operand;
    operand.name = Name();
    operand.dtype = Once(30) ? Name() : Pick<std::string>({"bf16", "f32"});
    operand.stride_mode = static_cast<StrideMode>(Once(60) ? 3 : random_() % 3);
    const bool listed = operand.stride_mode == StrideMode::kStatic;
    if (listed != Once(40)) {
      for (uint64_t i = 0; i < random_() % (Once(20) ? 10 : 4); ++i) {
        operand.strides.push_back(Integer());
      }
    }
    operand.alignment = Pick<uint32_t>({0, 1, 2, 16, 64, 4096});
    if (Once(40)) operand.alignment = Pick<uint32_t>({3, 8192, 0x80000000u});
    return operand;
  }

  AttrValue NextValue() {
    switch (random_() % 4) {
      case 0:
        return Once(2);
      case 1:
        return Integer();
      case 2:
        if (Once(20)) return std::nan("");
        return Pick<double>({0.0, -0.0, 1.5, 1e-300, -1e300,
                             std::numeric_limits<double>::infinity()});
      default:
        return std::string(Once(40) ? 255 + random_() % 4 : random_() % 9, 's');
    }
  }

  std::mt19937_64 random_;
};

client::OwnedSpec ToStructs(const Spec& spec) {
  client::OwnedSpec out;
  out.SetOp(spec.op);
  out.SetTarget(spec.target);
  for (const Dim& dim : spec.dims) {
    if (dim.value.has_value()) {
      out.AddDim(dim.name, *dim.value);
    } else {
      out.AddRange(dim.name, dim.min, dim.max, dim.multiple_of);
    }
  }
  for (const Operand& operand : spec.operands) {
    out.AddOperand(operand.name, operand.dtype,
                   static_cast<uint32_t>(operand.stride_mode),
                   operand.alignment, operand.strides);
  }
  for (const Attr& attr : spec.attrs) {
    if (const bool* flag = std::get_if<bool>(&attr.value)) {
      out.AddBool(attr.name, *flag);
    } else if (const int64_t* integer = std::get_if<int64_t>(&attr.value)) {
      out.AddInt(attr.name, *integer);
    } else if (const double* number = std::get_if<double>(&attr.value)) {
      out.AddFloat(attr.name, *number);
    } else {
      out.AddString(attr.name, std::get<std::string>(attr.value));
    }
  }
  for (const Tuning& tuning : spec.tuning) {
    out.AddTuning(tuning.name, tuning.value);
  }
  return out;
}

TEST(CanonicalFuzzTest, BothImplementationsAgree) {
  SpecFuzzer fuzzer(20261130);
  int good = 0;
  int bad = 0;
  for (int round = 0; round < 100000; ++round) {
    const Spec spec = fuzzer.Next();
    client::OwnedSpec owned = ToStructs(spec);
    uint8_t* data = nullptr;
    size_t size = 0;
    char error[512] = "";
    const ingot_status status = ingot_canonical_encode(
        owned.spec(), "gfx950", &data, &size, error, sizeof(error));
    const absl::StatusOr<Spec> canonical = Canonicalize(spec);
    ASSERT_EQ(status, static_cast<int>(canonical.status().code()))
        << "round " << round << ": C says \"" << error << "\", C++ says "
        << canonical.status();
    if (status != INGOT_OK) {
      ++bad;
      continue;
    }
    ++good;
    const std::string bytes(reinterpret_cast<char*>(data), size);
    free(data);
    ASSERT_EQ(bytes, EncodeSpec(*canonical)) << "round " << round;
  }
  EXPECT_GT(good, 20000);
  EXPECT_GT(bad, 10000);
}

}  // namespace
}  // namespace ingot
