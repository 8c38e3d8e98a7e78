// A multiplication of matrices by each matrix builtin: one wave computes
// D += A * B^T for `steps` times the builtin's K. Matrices come with one code of
// an element in each uint, row by row, and the kernels place them as the
// instruction wants them.
//
// Names: dense|sparse|scaled _ accumulator _ dim x K x blocks _ A's type _ B's.
#include "device.inc"

typedef union {
  uint word[8];
  int i1;
  int2 i2;
  int4 i4;
  int8 i8;
  long l1;
  float f1;
  double d1;
  half4 h4;
  half8 h8;
  half16 h16;
  short4 s4;
  short8 s8;
  bf8 b8;
  bf16 b16;
} Fragment;

typedef union {
  float f[32];
  int i[32];
  double d[4];
  double d1;
  double4 d4;
  float4 f4;
  float16 f16;
  float32 f32;
  int4 i4;
  int16 i16;
  int32 i32;
} Accumulator;

// `count` codes of a lane of `group`, packed upwards. What is wider than 16
// bytes comes in two pieces, each next to the other groups' pieces.
static Fragment Pack(global const uint* row, int bits, int count, int group,
                     int groups) {
  Fragment f = {0};
  for (int e = 0; e < count; ++e) {
    int piece = bits >= 8 && count > 128 / bits ? 128 / bits : count;
    int k = (e / piece * groups + group) * piece + e % piece;
    int at = e * bits;
    f.word[at / 32] |= row[k] << at % 32;
    if (at % 32 + bits > 32) f.word[at / 32 + 1] |= row[k] >> (32 - at % 32);
  }
  return f;
}

// Row and block of accumulator element r of a lane; its column is lane % dim
// but for the 4 x 4 ones of f64.
static int RowOf(int dim, int lane, int r) {
  return dim == 4 ? r : dim == 16 ? lane / 16 * 4 + r % 4
                                  : r % 16 / 4 * 8 + lane / 32 * 4 + r % 4;
}
static int BlockOf(int dim, int lane, int r) {
  return dim == 4 ? lane / 4 : dim == 16 ? r / 4 : r / 16;
}

#define WALK(field, dim, blocks, d, action)                               \
  for (int r = 0; r < dim * dim * blocks / 64; ++r) {                     \
    int row = RowOf(dim, l, r), block = BlockOf(dim, l, r);               \
    int at = (block * dim + row) * dim + l % dim;                         \
    action;                                                               \
  }

#define DENSE(name, field, type, dim, k, blocks, bits, multiply)            \
  kernel THREADS(64) void dense_##name(global const uint* a,                \
                                       global const uint* b,                \
                                       global type* d, int steps) {         \
    int l = LOCAL_ID(0), i = l % dim, block = l / dim % blocks;             \
    int group = l / (dim * blocks), groups = 64 / (dim * blocks);           \
    Accumulator c;                                                          \
    WALK(field, dim, blocks, d, c.field[r] = d[at])                         \
    for (int s = 0; s < steps; ++s) {                                       \
      size_t from = (size_t)(block * dim + i) * k * steps + s * k;          \
      Fragment x = Pack(a + from, bits, k / groups, group, groups);         \
      Fragment y = Pack(b + from, bits, k / groups, group, groups);         \
      multiply;                                                             \
    }                                                                       \
    WALK(field, dim, blocks, d, d[at] = c.field[r])                         \
  }
#define F32(name, dim, k, blocks, bits, in, out, builtin)     \
  DENSE(f32_##dim##x##k##x##blocks##_##name, f, float, dim, k, blocks, bits, \
        c.out = __builtin_amdgcn_mfma_f32_##builtin(x.in, y.in, c.out, 0, 0, 0))
#define I32(dim, k, blocks, in, out, builtin)                               \
  DENSE(i32_##dim##x##k##x##blocks##_i8_i8, i, int, dim, k, blocks, 8,      \
        c.out = __builtin_amdgcn_mfma_i32_##builtin(x.in, y.in, c.out, 0, 0, \
                                                    0))
F32(f32_f32, 32, 1, 2, 32, f1, f32, 32x32x1f32)
F32(f32_f32, 16, 1, 4, 32, f1, f16, 16x16x1f32)
F32(f32_f32, 4, 1, 16, 32, f1, f4, 4x4x1f32)
F32(f32_f32, 32, 2, 1, 32, f1, f16, 32x32x2f32)
F32(f32_f32, 16, 4, 1, 32, f1, f4, 16x16x4f32)
F32(f16_f16, 32, 4, 2, 16, h4, f32, 32x32x4f16)
F32(f16_f16, 16, 4, 4, 16, h4, f16, 16x16x4f16)
F32(f16_f16, 4, 4, 16, 16, h4, f4, 4x4x4f16)
F32(f16_f16, 32, 8, 1, 16, h4, f16, 32x32x8f16)
F32(f16_f16, 16, 16, 1, 16, h4, f4, 16x16x16f16)
F32(f16_f16, 32, 16, 1, 16, h8, f16, 32x32x16_f16)
F32(f16_f16, 16, 32, 1, 16, h8, f4, 16x16x32_f16)
F32(bf16_bf16, 32, 4, 2, 16, s4, f32, 32x32x4bf16_1k)
F32(bf16_bf16, 16, 4, 4, 16, s4, f16, 16x16x4bf16_1k)
F32(bf16_bf16, 4, 4, 16, 16, s4, f4, 4x4x4bf16_1k)
F32(bf16_bf16, 32, 8, 1, 16, s4, f16, 32x32x8bf16_1k)
F32(bf16_bf16, 16, 16, 1, 16, s4, f4, 16x16x16bf16_1k)
F32(bf16_bf16, 32, 16, 1, 16, b8, f16, 32x32x16_bf16)
F32(bf16_bf16, 16, 32, 1, 16, b8, f4, 16x16x32_bf16)
F32(fp8_fp8, 16, 32, 1, 8, l1, f4, 16x16x32_fp8_fp8)
F32(fp8_bf8, 16, 32, 1, 8, l1, f4, 16x16x32_fp8_bf8)
F32(bf8_fp8, 16, 32, 1, 8, l1, f4, 16x16x32_bf8_fp8)
F32(bf8_bf8, 16, 32, 1, 8, l1, f4, 16x16x32_bf8_bf8)
F32(fp8_fp8, 32, 16, 1, 8, l1, f16, 32x32x16_fp8_fp8)
F32(fp8_bf8, 32, 16, 1, 8, l1, f16, 32x32x16_fp8_bf8)
F32(bf8_fp8, 32, 16, 1, 8, l1, f16, 32x32x16_bf8_fp8)
F32(bf8_bf8, 32, 16, 1, 8, l1, f16, 32x32x16_bf8_bf8)
I32(32, 4, 2, i1, i32, 32x32x4i8)
I32(16, 4, 4, i1, i16, 16x16x4i8)
I32(4, 4, 16, i1, i4, 4x4x4i8)
I32(32, 16, 1, l1, i16, 32x32x16_i8)
I32(16, 32, 1, l1, i4, 16x16x32_i8)
I32(32, 32, 1, i4, i16, 32x32x32_i8)
I32(16, 64, 1, i4, i4, 16x16x64_i8)

kernel THREADS(64) void dense_f64_16x4x1_f64_f64(global const double* a,
                                                 global const double* b,
                                                 global double* d, int steps) {
  int l = LOCAL_ID(0);
  Accumulator c;
  for (int r = 0; r < 4; ++r) c.d[r] = d[(r * 4 + l / 16) * 16 + l % 16];
  for (int s = 0; s < steps; ++s) {
    int at = l % 16 * 4 * steps + s * 4 + l / 16;
    c.d4 = __builtin_amdgcn_mfma_f64_16x16x4f64(a[at], b[at], c.d4, 0, 0, 0);
  }
  for (int r = 0; r < 4; ++r) d[(r * 4 + l / 16) * 16 + l % 16] = c.d[r];
}

kernel THREADS(64) void dense_f64_4x4x4_f64_f64(global const double* a,
                                                global const double* b,
                                                global double* d, int steps) {
  int l = LOCAL_ID(0), block = l / 4 % 4;
  int to = (block * 4 + l / 16) * 4 + l % 4;
  double c = d[to];
  for (int s = 0; s < steps; ++s) {
    int at = (block * 4 + l % 4) * 4 * steps + s * 4 + l / 16;
    c = __builtin_amdgcn_mfma_f64_4x4x4f64(a[at], b[at], c, 0, 0, 0);
  }
  d[to] = c;
}

// A holds two of every four along K, `where` their places among the four.
#define SPARSE(name, field, type, dim, k, bits, multiply)                     \
  kernel THREADS(64) void sparse_##name(                                      \
      global const uint* a, global const uint* b, global type* d, int steps,  \
      global const uint* where) {                                             \
    int l = LOCAL_ID(0), i = l % dim, group = l / dim, groups = 64 / dim;     \
    Accumulator c;                                                            \
    WALK(field, dim, 1, d, c.field[r] = d[at])                                \
    for (int s = 0; s < steps; ++s) {                                         \
      size_t from = (size_t)i * k * steps + s * k;                            \
      Fragment x = {0};                                                       \
      Fragment y = Pack(b + from, bits, k / groups, group, groups);           \
      int index = 0;                                                          \
      for (int e = 0; e < k / groups / 2; ++e) {                              \
        size_t at = from / 2 + group * (k / groups / 2) + e;                  \
        x.word[e * bits / 32] |= a[at] << e * bits % 32;                      \
        index |= where[at] << 2 * e;                                          \
      }                                                                       \
      multiply;                                                               \
    }                                                                         \
    WALK(field, dim, 1, d, d[at] = c.field[r])                                \
  }
#define F32S(name, dim, k, bits, in, in2, out, builtin)                     \
  SPARSE(f32_##dim##x##k##x1_##name, f, float, dim, k, bits,                \
         c.out = __builtin_amdgcn_smfmac_f32_##builtin(x.in, y.in2, c.out,  \
                                                       index, 0, 0))
#define I32S(dim, k, in, in2, out, builtin)                                 \
  SPARSE(i32_##dim##x##k##x1_i8_i8, i, int, dim, k, 8,                      \
         c.out = __builtin_amdgcn_smfmac_i32_##builtin(x.in, y.in2, c.out,  \
                                                       index, 0, 0))
F32S(f16_f16, 16, 32, 16, h4, h8, f4, 16x16x32_f16)
F32S(f16_f16, 32, 16, 16, h4, h8, f16, 32x32x16_f16)
F32S(f16_f16, 16, 64, 16, h8, h16, f4, 16x16x64_f16)
F32S(f16_f16, 32, 32, 16, h8, h16, f16, 32x32x32_f16)
F32S(bf16_bf16, 16, 32, 16, s4, s8, f4, 16x16x32_bf16)
F32S(bf16_bf16, 32, 16, 16, s4, s8, f16, 32x32x16_bf16)
F32S(bf16_bf16, 16, 64, 16, b8, b16, f4, 16x16x64_bf16)
F32S(bf16_bf16, 32, 32, 16, b8, b16, f16, 32x32x32_bf16)
I32S(16, 64, i2, i4, i4, 16x16x64_i8)
I32S(32, 32, i2, i4, i16, 32x32x32_i8)
I32S(16, 128, i4, i8, i4, 16x16x128_i8)
I32S(32, 64, i4, i8, i16, 32x32x64_i8)
#define BYTES(name)                                        \
  F32S(name, 16, 64, 8, i2, i4, f4, 16x16x64_##name)       \
  F32S(name, 32, 32, 8, i2, i4, f16, 32x32x32_##name)      \
  F32S(name, 16, 128, 8, i4, i8, f4, 16x16x128_##name)     \
  F32S(name, 32, 64, 8, i4, i8, f16, 32x32x64_##name)
BYTES(fp8_fp8)
BYTES(fp8_bf8)
BYTES(bf8_fp8)
BYTES(bf8_bf8)

// One scale for every 32 along K, at another byte for each pair of types.
#define SCALED(dim, k, out, name, code_a, bits_a, code_b, bits_b)             \
  kernel THREADS(64) void scaled_f32_##dim##x##k##x1_##name(                  \
      global const uint* a, global const uint* b, global float* d, int steps, \
      global const uint* scale_a, global const uint* scale_b) {               \
    int l = LOCAL_ID(0), i = l % dim, group = l / dim, groups = 64 / dim;     \
    Accumulator c;                                                            \
    WALK(f, dim, 1, d, c.f[r] = d[at])                                        \
    for (int s = 0; s < steps; ++s) {                                         \
      size_t from = (size_t)i * k * steps + s * k;                            \
      Fragment x = Pack(a + from, bits_a, k / groups, group, groups);         \
      Fragment y = Pack(b + from, bits_b, k / groups, group, groups);         \
      int sa = scale_a[from / 32 + group] << 8 * (code_a % 4);                \
      int sb = scale_b[from / 32 + group] << 8 * (code_b % 4);                \
      c.out = __builtin_amdgcn_mfma_scale_f32_##dim##x##dim##x##k##_f8f6f4(   \
          x.i8, y.i8, c.out, code_a, code_b, code_a % 4, sa, code_b % 4, sb); \
    }                                                                         \
    WALK(f, dim, 1, d, d[at] = c.f[r])                                        \
  }
#define WITH_A(name, code, bits)                          \
  SCALED(16, 128, f4, name##_fp8, code, bits, 0, 8)       \
  SCALED(16, 128, f4, name##_bf8, code, bits, 1, 8)       \
  SCALED(16, 128, f4, name##_fp6, code, bits, 2, 6)       \
  SCALED(16, 128, f4, name##_bf6, code, bits, 3, 6)       \
  SCALED(16, 128, f4, name##_fp4, code, bits, 4, 4)       \
  SCALED(32, 64, f16, name##_fp8, code, bits, 0, 8)       \
  SCALED(32, 64, f16, name##_bf8, code, bits, 1, 8)       \
  SCALED(32, 64, f16, name##_fp6, code, bits, 2, 6)       \
  SCALED(32, 64, f16, name##_bf6, code, bits, 3, 6)       \
  SCALED(32, 64, f16, name##_fp4, code, bits, 4, 4)
WITH_A(fp8, 0, 8)
WITH_A(bf8, 1, 8)
WITH_A(fp6, 2, 6)
WITH_A(bf6, 3, 6)
WITH_A(fp4, 4, 4)
