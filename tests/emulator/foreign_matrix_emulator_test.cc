// Matrix multiplications of clang's, one kernel for each matrix builtin: see
// foreign/matrix.cl. Values are small and exact in every type, so that results
// are exact too.
#include <cmath>
#include <cstdio>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

// Codes of 0, 1/2, 1, 3/2, 2, 3 in each type; the sign is the highest bit.
struct Type {
  const char* name;
  int bits;
  uint32_t codes[6];
};
constexpr Type kTypes[] = {
    {"f32",
     32,
     {0, 0x3f000000, 0x3f800000, 0x3fc00000, 0x40000000, 0x40400000}},
    {"f16", 16, {0, 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4200}},
    {"bf16", 16, {0, 0x3f00, 0x3f80, 0x3fc0, 0x4000, 0x4040}},
    {"fp8", 8, {0, 0x30, 0x38, 0x3c, 0x40, 0x44}},
    {"bf8", 8, {0, 0x38, 0x3c, 0x3e, 0x40, 0x42}},
    {"fp6", 6, {0, 0x04, 0x08, 0x0c, 0x10, 0x14}},
    {"bf6", 6, {0, 0x08, 0x0c, 0x0e, 0x10, 0x12}},
    {"fp4", 4, {0, 0x1, 0x2, 0x3, 0x4, 0x5}}};
constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3};

struct Case {
  std::string kernel;
  char kind[16], accumulator[8], a[8], b[8];
  int dim, k, blocks;
  bool is(const char* what) const { return std::string(kind) == what; }
};

class MatrixBuiltins : public Foreign {
 protected:
  static constexpr int kSteps = 3;

  void SetUp() override { LoadGroup("matrix"); }

  // A random element of a type: its value, and its code.
  double Element(const std::string& type, uint32_t* code) {
    if (type == "i8") {
      const int value = Random(15) - 7;
      *code = static_cast<uint8_t>(value);
      return value;
    }
    for (const Type& t : kTypes) {
      if (type != t.name) continue;
      const int n = Random(6), sign = Random(2);
      *code = t.codes[n] | static_cast<uint32_t>(sign) << (t.bits - 1);
      return sign != 0 ? -kValues[n] : kValues[n];
    }
    ADD_FAILURE() << "no type " << type;
    return 0;
  }

  // The operands as plain matrices and as the kernel takes them. Sparse ones
  // have two elements of every four, at increasing places.
  struct Matrix {
    std::vector<double> values;
    uint32_t* codes;
    double* doubles;
    uint32_t* places;
  };
  Matrix Operand(const Case& c, const std::string& type, bool sparse) {
    const size_t size = static_cast<size_t>(c.blocks * c.dim * c.k * kSteps);
    Matrix m;
    m.values.assign(size, 0);
    if (type == "f64") {
      m.doubles = Filled<double>(size, [&](size_t i) {
        return m.values[i] = (Random(200) - 100) * 0.125;
      });
      return m;
    }
    if (!sparse) {
      m.codes = Filled<uint32_t>(size, [&](size_t i) {
        uint32_t code;
        m.values[i] = Element(type, &code);
        return code;
      });
      return m;
    }
    m.codes = Buffer<uint32_t>(size / 2);
    m.places = Buffer<uint32_t>(size / 2);
    for (size_t pair = 0; pair < size / 4; ++pair) {
      const int first = Random(3), second = first + 1 + Random(3 - first);
      const int places[] = {first, second};
      for (size_t n = 0; n < 2; ++n) {
        m.places[2 * pair + n] = static_cast<uint32_t>(places[n]);
        m.values[4 * pair + static_cast<size_t>(places[n])] =
            Element(type, &m.codes[2 * pair + n]);
      }
    }
    return m;
  }

  // Powers of two for every 32 along K.
  std::vector<double> Scales(size_t size, uint32_t** codes) {
    std::vector<double> scales;
    *codes = Filled<uint32_t>(size, [&](size_t) {
      const int exponent = Random(5) - 2;
      scales.push_back(std::ldexp(1.0, exponent));
      return 127 + exponent;
    });
    return scales;
  }

  template <class T>
  void Check(const Case& c) {
    const Matrix a = Operand(c, c.a, c.is("sparse")),
                 b = Operand(c, c.b, false);
    const size_t size = static_cast<size_t>(c.blocks * c.dim * c.dim);
    T* d = Filled<T>(size, [this](size_t) { return Random(9) - 4; });
    std::vector<double> want(d, d + size);
    Arguments args;
    if (std::string(c.a) == "f64") {
      args.Add(a.doubles).Add(b.doubles);
    } else {
      args.Add(a.codes).Add(b.codes);
    }
    args.Add(d).Add(int{kSteps});
    std::vector<double> scale_a(a.values.size() / 32 + 1, 1.0),
        scale_b = scale_a;
    if (c.is("sparse")) args.Add(a.places);
    if (c.is("scaled")) {
      uint32_t *codes_a, *codes_b;
      scale_a = Scales(a.values.size() / 32, &codes_a);
      scale_b = Scales(b.values.size() / 32, &codes_b);
      args.Add(codes_a).Add(codes_b);
    }
    Go(c.kernel, args, 1, 64);
    const size_t dim = static_cast<size_t>(c.dim),
                 depth = static_cast<size_t>(c.k * kSteps);
    for (size_t at = 0; at < size; ++at) {
      const size_t block = at / (dim * dim), i = at / dim % dim, j = at % dim;
      for (size_t k = 0; k < depth; ++k) {
        const size_t x = (block * dim + i) * depth + k,
                     y = (block * dim + j) * depth + k;
        want[at] +=
            a.values[x] * b.values[y] * scale_a[x / 32] * scale_b[y / 32];
      }
      ASSERT_EQ(static_cast<double>(d[at]), want[at])
          << c.kernel << " block " << block << " row " << i << " column " << j;
    }
  }
};

TEST_P(MatrixBuiltins, AllMultiply) {
  int kernels = 0;
  for (const KernelInfo& kernel : program_->object().kernels) {
    Case c;
    c.kernel = kernel.name;
    ASSERT_EQ(
        std::sscanf(kernel.name.c_str(),
                    "%15[a-z]_%7[a-z0-9]_%dx%dx%d_%7[a-z0-9]_%7[a-z0-9]",
                    c.kind, c.accumulator, &c.dim, &c.k, &c.blocks, c.a, c.b),
        7)
        << kernel.name;
    const std::string accumulator = c.accumulator;
    if (accumulator == "f32") Check<float>(c);
    if (accumulator == "i32") Check<int>(c);
    if (accumulator == "f64") Check<double>(c);
    ++kernels;
  }
  EXPECT_EQ(kernels, 36 + 28 + 50);
}

INGOT_FOREIGN_VARIANTS(MatrixBuiltins);

}  // namespace
}  // namespace ingot::emulator
