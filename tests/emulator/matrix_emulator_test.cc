// Every matrix instruction against a multiplication of plain matrices. The
// values are small multiples of one half, so that results are exact and a wrong
// layout cannot hide behind a tolerance.
#include <cmath>
#include <cstdio>
#include <random>

#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

constexpr int kIn = 64,
              kOut = 64;  // dwords between the lanes of input and output

struct Type {
  const char* name;
  int bits, exponent, mantissa, bias;
};
constexpr Type kTypes[] = {{"f16", 16, 5, 10, 15},    {"bf16", 16, 8, 7, 127},
                           {"fp8", 8, 4, 3, 7},       {"bf8", 8, 5, 2, 15},
                           {"fp6", 6, 2, 3, 1},       {"bf6", 6, 3, 2, 3},
                           {"fp4", 4, 2, 1, 1},       {"f32", 32, 8, 23, 127},
                           {"f64", 64, 11, 52, 1023}, {"i8", 8, 0, 0, 0}};

const Type& TypeNamed(const std::string& name) {
  for (const Type& t : kTypes) {
    if (name == t.name) return t;
  }
  ADD_FAILURE() << "no type " << name;
  return kTypes[0];
}

// The code of an exactly representable value, by its definition.
uint64_t Encode(const Type& t, double value) {
  if (t.exponent == 0) return static_cast<uint8_t>(static_cast<int>(value));
  const uint64_t sign = uint64_t{std::signbit(value)} << (t.bits - 1);
  value = std::fabs(value);
  if (value == 0) return sign;
  int e;
  const double m = std::frexp(value, &e) * 2;  // 1 <= m < 2
  int field = e - 1 + t.bias;
  double fraction = m - 1;
  if (field < 1) {
    fraction = std::ldexp(m, field - 1);
    field = 0;
  }
  return sign | static_cast<uint64_t>(field) << t.mantissa |
         static_cast<uint64_t>(std::ldexp(fraction, t.mantissa));
}

struct Case {
  std::string kernel, kind;
  int dim = 0, k = 0, blocks = 1;
  Type a, b;
  bool integer = false, sparse = false, is_double = false;
  int groups() const { return 64 / (dim * blocks); }
  int per_lane() const { return k / groups(); }
};

// "mfma_f32_16x16x4_4b_bf16" and the like.
Case Parse(const std::string& kernel) {
  Case c;
  c.kernel = kernel;
  std::vector<std::string> parts;
  for (size_t at = 0; at <= kernel.size();) {
    const size_t end = std::min(kernel.find('_', at), kernel.size());
    parts.push_back(kernel.substr(at, end - at));
    at = end + 1;
  }
  size_t p = 0;
  c.kind = parts[p++];
  if (parts[p] == "abid") c.kind += "_" + parts[p++];
  c.sparse = c.kind.rfind("smfmac", 0) == 0;
  if (c.kind != "scale" && c.kind != "plain") {
    c.integer = parts[p] == "i32";
    c.is_double = parts[p++] == "f64";
  }
  EXPECT_EQ(std::sscanf(parts[p++].c_str(), "%dx%*dx%d", &c.dim, &c.k), 2)
      << kernel;
  if (parts[p].back() == 'b') c.blocks = std::stoi(parts[p++]);
  c.a = TypeNamed(parts[p]);
  c.b = TypeNamed(parts.back());
  return c;
}

// Where element k of row (or column) i of a block lies: lane, and place in it.
struct Spot {
  int lane, element;
};
Spot InputSpot(const Case& c, int block, int i, int k, int bits) {
  int group = k / c.per_lane(), element = k % c.per_lane();
  const int piece = 128 / bits;  // 16 bytes
  if (bits >= 8 && c.per_lane() > piece) {
    group = k / piece % c.groups();
    element = k / piece / c.groups() * piece + k % piece;
  }
  return {(group * c.blocks + block) * c.dim + i, element};
}

Spot OutputSpot(const Case& c, int block, int i, int j) {
  if (c.is_double) {
    return c.dim == 16 ? Spot{16 * (i % 4) + j, i / 4}
                       : Spot{16 * i + 4 * block + j, 0};
  }
  switch (c.dim) {
    case 4:
      return {4 * block + j, i};
    case 16:
      return {16 * (i / 4) + j, 4 * block + i % 4};
    default:
      return {32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4};
  }
}

class Matrix : public KernelFixture {
 protected:
  void SetUp() override {
    Load("matrix.hsaco");
    in_ = Allocate<uint32_t>(64 * kIn);
    out_ = Allocate<uint32_t>(64 * kOut);
  }

  void PutBits(int lane, int dword, int bit, int bits, uint64_t value) {
    for (int n = 0; n < bits; ++n) {
      const int at = dword * 32 + bit + n;
      uint32_t& word = in_[lane * kIn + at / 32];
      word = (word & ~(1u << at % 32)) | static_cast<uint32_t>(value >> n & 1)
                                             << at % 32;
    }
  }

  double Small(const Case& c) {
    static constexpr double kValues[] = {0,    0.5, 1,    1.5, 2, 3,
                                         -0.5, -1,  -1.5, -2,  -3};
    const double v = kValues[random_() % 11];
    return c.integer ? std::trunc(v) : v;
  }

  void Check(const Case& c) {
    FillInputs(c);
    LaunchConfig one_wave;
    one_wave.block[0] = 64;
    Options options;
    options.check_exec = false;  // one kernel turns lanes off
    const RunResult result =
        Run(c.kernel, Arguments().Add(in_).Add(out_), one_wave, options);
    ASSERT_EQ(result.status, RunStatus::kOk) << result.report;
    for (int b = 0; b < c.blocks; ++b) {
      for (int i = 0; i < c.dim; ++i) {
        for (int j = 0; j < c.dim; ++j) {
          ASSERT_EQ(Output(c, b, i, j), Expected(c, b, i, j))
              << c.kernel << " block " << b << " row " << i << " column " << j;
        }
      }
    }
  }

  void FillInputs(const Case& c) {
    for (int n = 0; n < 64 * kIn; ++n)
      in_[n] = static_cast<uint32_t>(random_());
    a_.assign(static_cast<size_t>(c.blocks * c.dim * c.k), 0);
    b_ = a_;
    c_.assign(static_cast<size_t>(c.blocks * c.dim * c.dim), 0);
    for (int b = 0; b < c.blocks; ++b) {
      for (int i = 0; i < c.dim; ++i) {
        for (int k = 0; k < c.k; ++k) {
          const double y = Small(c);
          B(c, b, i, k) = y;
          const Spot s = InputSpot(c, b, i, k, c.b.bits);
          PutBits(s.lane, 8, s.element * c.b.bits, c.b.bits, Encode(c.b, y));
        }
        for (int j = 0; j < c.dim; ++j) PutAccumulator(c, b, i, j);
      }
    }
    if (c.sparse) {
      FillSparseA(c);
    } else {
      FillDenseA(c);
    }
    if (c.kind == "scale") FillScales(c);
  }

  void PutAccumulator(const Case& c, int b, int i, int j) {
    const double v = c.kind == "acc" ? 1.0 : Small(c) * 2;
    c_[static_cast<size_t>((b * c.dim + i) * c.dim + j)] = v;
    const Spot s = OutputSpot(c, b, i, j);
    if (c.is_double) {
      PutBits(s.lane, 16 + 2 * s.element, 0, 64, Encode(TypeNamed("f64"), v));
    } else {
      const uint32_t bits =
          c.integer ? static_cast<uint32_t>(static_cast<int>(v))
                    : static_cast<uint32_t>(Encode(TypeNamed("f32"), v));
      in_[s.lane * kIn + 16 + s.element] = bits;
    }
  }

  void FillDenseA(const Case& c) {
    for (int b = 0; b < c.blocks; ++b) {
      for (int i = 0; i < c.dim; ++i) {
        for (int k = 0; k < c.k; ++k) {
          const double x = Small(c);
          A(c, b, i, k) = x;
          const Spot s = InputSpot(c, b, i, k, c.a.bits);
          PutBits(s.lane, 0, s.element * c.a.bits, c.a.bits, Encode(c.a, x));
        }
      }
    }
  }

  // Two of every four consecutive k are kept; two index bits tell which.
  void FillSparseA(const Case& c) {
    const int kept = c.k / 2 / c.groups();
    const int base = c.kind == "smfmac_abid" ? 2 * kept : 0;
    for (int i = 0; i < c.dim; ++i) {
      for (int group = 0; group < c.groups(); ++group) {
        const int lane = group * c.dim + i;
        for (int e = 0; e < kept; e += 2) {
          const int first = static_cast<int>(random_() % 3);
          const int pick[2] = {
              first, first + 1 + static_cast<int>(random_() % (3 - first))};
          for (int n = 0; n < 2; ++n) {
            const double x = Small(c);
            A(c, 0, i, group * c.per_lane() + e / 2 * 4 + pick[n]) = x;
            PutBits(lane, 0, (e + n) * c.a.bits, c.a.bits, Encode(c.a, x));
            PutBits(lane, 48, base + 2 * (e + n), 2,
                    static_cast<uint64_t>(pick[n]));
          }
        }
      }
    }
  }

  // The byte that the kernel's op_sel picks; the others stay random.
  void FillScales(const Case& c) {
    static constexpr const char* kNames[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};
    int byte[2] = {0, 0};
    for (int n = 0; n < 5; ++n) {
      if (std::string(c.a.name) == kNames[n]) byte[0] = n & 3;
      if (std::string(c.b.name) == kNames[n]) byte[1] = n & 3;
    }
    for (int lane = 0; lane < 64; ++lane) {
      for (int n = 0; n < 2; ++n) {
        const int e = static_cast<int>(random_() % 5) - 2;
        scale_[n][lane] = std::ldexp(1.0, e);
        PutBits(lane, 48 + n, 8 * byte[n], 8, static_cast<uint64_t>(127 + e));
      }
    }
  }

  double& A(const Case& c, int b, int i, int k) {
    return a_[static_cast<size_t>((b * c.dim + i) * c.k + k)];
  }
  double& B(const Case& c, int b, int j, int k) {
    return b_[static_cast<size_t>((b * c.dim + j) * c.k + k)];
  }

  double Expected(const Case& c, int b, int i, int j) {
    double sum = c_[static_cast<size_t>((b * c.dim + i) * c.dim + j)];
    for (int k = 0; k < c.k; ++k) {
      double term = A(c, b, i, k) * B(c, b, j, k);
      if (c.kind == "scale") {
        term *=
            scale_[0][c.dim * (k / 32) + i] * scale_[1][c.dim * (k / 32) + j];
      }
      sum += term;
    }
    return sum;
  }

  double Output(const Case& c, int b, int i, int j) {
    const Spot s = OutputSpot(c, b, i, j);
    const uint32_t* lane = out_ + s.lane * kOut;
    if (c.is_double) {
      double d;
      std::memcpy(&d, lane + 2 * s.element, 8);
      return d;
    }
    if (c.integer) return static_cast<int32_t>(lane[s.element]);
    float f;
    std::memcpy(&f, lane + s.element, 4);
    return static_cast<double>(f);
  }

  uint32_t* in_ = nullptr;
  uint32_t* out_ = nullptr;
  std::mt19937 random_{1};
  std::vector<double> a_, b_, c_;
  double scale_[2][64] = {};
};

TEST_F(Matrix, EveryInstructionMultiplies) {
  int kernels = 0;
  for (const KernelInfo& k : program_->object().kernels) {
    const Case c = Parse(k.name);
    for (int round = 0; round < 3; ++round) Check(c);
    ++kernels;
  }
  EXPECT_EQ(kernels, 36 + 18 + 1 + 52 + 2);
}

// A NaN scale makes its block NaN; a scale byte of 0 is 2^-127.
TEST_F(Matrix, ScaleBytesAtTheEnds) {
  const Case c = Parse("scale_16x16x128_fp8_fp8");
  FillInputs(c);
  PutBits(3, 48, 0, 8, 255);
  ASSERT_EQ(RunWave(c.kernel, Arguments().Add(in_).Add(out_)).status,
            RunStatus::kOk);
  EXPECT_TRUE(std::isnan(Output(c, 0, 3, 0)));
  EXPECT_FALSE(std::isnan(Output(c, 0, 4, 0)));
}

}  // namespace
}  // namespace ingot::emulator
