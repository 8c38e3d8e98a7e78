// Arithmetic that becomes long code or unusual instructions: wide integers,
// doubles, halves, small floats, conversions.
#include "device.inc"

#define BINARY(name, in, result, expression)                       \
  kernel void name(global const in* a, global const in* b,         \
                   global result* out, int n) {                    \
    int i = GLOBAL_ID(0);                                          \
    if (i >= n) return;                                            \
    in x = a[i], y = b[i];                                         \
    out[i] = expression;                                           \
  }
BINARY(div_i64, long, long, y == 0 ? -1 : x / y)
BINARY(rem_i64, long, long, y == 0 ? -1 : x % y)
BINARY(div_u64, ulong, ulong, y == 0 ? 0 : x / y)
BINARY(rem_u64, ulong, ulong, y == 0 ? 0 : x % y)
BINARY(div_i32, int, int, y == 0 ? -1 : x / y)
BINARY(rem_u32, uint, uint, y == 0 ? 0 : x % y)
BINARY(div_i16, short, short, y == 0 ? -1 : x / y)
BINARY(rem_u8, uchar, uchar, y == 0 ? 0 : x % y)
BINARY(mul_u64, ulong, ulong, x * y)
BINARY(mulhi_u64, ulong, ulong,
       (ulong)(((unsigned __int128)x * y) >> 64))
BINARY(shift_i64, long, long,
       (x << (y & 63)) ^ (x >> (y >> 6 & 63)) ^
           (long)((ulong)x >> (y >> 12 & 63)))
BINARY(saturate_i32, int, int,
       __builtin_elementwise_add_sat(x, y) ^ __builtin_elementwise_sub_sat(y, x))
BINARY(saturate_u16, ushort, ushort,
       __builtin_elementwise_add_sat(x, y) ^ __builtin_elementwise_sub_sat(x, y))
BINARY(bits_u32, uint, uint,
       __builtin_popcount(x) + (y == 0 ? 32 : __builtin_clz(y)) * 64 +
           (x == 0 ? 32 : __builtin_ctz(x)) * 4096 +
           (__builtin_bitreverse32(x) ^ __builtin_bswap32(y)))
BINARY(bytes_u32, uint, uint,
       __builtin_amdgcn_perm(x, y, 0x0c070103) +
           __builtin_amdgcn_alignbyte(x, y, 3) +
           __builtin_amdgcn_sad_u8(x, y, 5) + __builtin_amdgcn_lerp(x, y, ~0u))

BINARY(div_f64, double, double, x / y)
BINARY(fma_f64, double, double, __builtin_fma(x, y, x) + __builtin_sqrt(x * x))
BINARY(round_f64, double, double,
       __builtin_floor(x) + __builtin_ceil(y) * 3 + __builtin_trunc(y) * 5 +
           __builtin_rint(x) * 7)
BINARY(order_f64, double, double,
       __builtin_fmax(x, y) * 2 + __builtin_fmin(x, y) +
           (x < y ? 1.0 : x == y ? 2.0 : 4.0))
BINARY(scale_f64, double, double, __builtin_ldexp(x, (int)y % 40))
BINARY(ints_f64, double, long,
       (long)x * 3 + (long)(ulong)__builtin_fabs(y) + (int)(x / 1e6))
BINARY(div_f32, float, float, x / y)
BINARY(sqrt_f32, float, float, __builtin_sqrtf(__builtin_fabsf(x)) + y)
BINARY(arith_f16, half, half, x * y + (half)1.5h - x / y)
BINARY(arith_bf16, __bf16, __bf16, x * y + x)

// Pairs of halves in one register.
kernel void packed_f16(global const half2* a, global const half2* b,
                       global half2* out, int n) {
  int i = GLOBAL_ID(0);
  if (i >= n) return;
  half2 x = a[i], y = b[i];
  out[i] = __builtin_elementwise_max(__builtin_elementwise_fma(x, y, -x),
                                     y.yx * x.xx + y);
}
kernel void packed_i16(global const short2* a, global const short2* b,
                       global short2* out, int n) {
  int i = GLOBAL_ID(0);
  if (i >= n) return;
  short2 x = a[i], y = b[i];
  short2 s = __builtin_elementwise_min(x * y + x, y.yx);
  out[i] = (s << (y & (short2)15)) - (x >> (short2)3);
}
kernel void packed_f32(global const float2* a, global const float2* b,
                       global float2* out, int n) {
  int i = GLOBAL_ID(0);
  if (i >= n) return;
  float2 x = a[i], y = b[i];
  out[i] = __builtin_elementwise_fma(x, y, x + y) * (y.xx - x.yx);
}
kernel void dots(global const int* a, global const int* b, global int* out,
                 int n) {
  int i = GLOBAL_ID(0);
  if (i >= n) return;
  int x = a[i], y = b[i];
  out[i * 3] = __builtin_amdgcn_sdot4(x, y, 7, false);
  out[i * 3 + 1] = __builtin_amdgcn_sdot8(x, y, -7, false);
  out[i * 3 + 2] = __builtin_amdgcn_sdot2(__builtin_bit_cast(short2, x),
                                          __builtin_bit_cast(short2, y), 1, false);
}

// Conversions between formats; a scale is a power of two.
kernel void narrow(global const float* in, global uint* out, int n) {
  int i = GLOBAL_ID(0);
  if (2 * i + 1 >= n) return;
  float x = in[2 * i], y = in[2 * i + 1];
  out += i * 8;
  out[0] = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0x11112222, true);
  out[1] = __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0x22220000, false);
  out[2] = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(0x33333333, x, y, 2.0f, 2);
  out[3] = __builtin_bit_cast(
      uint, __builtin_amdgcn_cvt_scalef32_pk_fp8_f32((short2)(0x4444), x, y,
                                                     0.5f, true));
  out[4] = __builtin_bit_cast(uint, __builtin_amdgcn_cvt_pkrtz(x, y));
  half2 h = (half2)((half)x, (half)y);
  out[5] = __builtin_bit_cast(uint, h);
  bf2 b = (bf2)((__bf16)x, (__bf16)y);
  out[6] = __builtin_bit_cast(uint, b);
  out[7] = (uint)(uchar)(int)x | (uint)(ushort)(short)(int)y << 16;
}
kernel void widen(global const uint* in, global float* out, int n) {
  int i = GLOBAL_ID(0);
  if (i >= n) return;
  uint x = in[i];
  out += i * 16;
  out[0] = __builtin_amdgcn_cvt_f32_fp8(x, 0);
  out[1] = __builtin_amdgcn_cvt_f32_fp8(x, 3);
  out[2] = __builtin_amdgcn_cvt_f32_bf8(x, 1);
  float2 p = __builtin_amdgcn_cvt_pk_f32_fp8(x, true);
  out[3] = p.x;
  out[4] = p.y;
  p = __builtin_amdgcn_cvt_pk_f32_bf8(x, false);
  out[5] = p.x;
  out[6] = p.y;
  p = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(x, 4.0f, 1);
  out[7] = p.x;
  out[8] = p.y;
  out[9] = __builtin_amdgcn_cvt_scalef32_f32_fp8(x, 0.25f, 2);
  out[10] = (float)__builtin_bit_cast(half, (ushort)x);
  out[11] = (float)__builtin_bit_cast(__bf16, (ushort)(x >> 16));
  out[12] = (float)(x >> 8 & 0xff);
  out[13] = (float)(short)x;
  out[14] = (float)(int)x;
  out[15] = (float)x;
}
// 32 values of six bits, there and back. The packing instruction takes turns
// between its two sources.
kernel void six_bits(global const float* in, global float* out,
                     global uint* codes) {
  int l = LOCAL_ID(0);
  in += l * 32;
  out += l * 32;
  float16 lo, hi;
  for (int i = 0; i < 16; ++i) {
    lo[i] = in[2 * i];
    hi[i] = in[2 * i + 1];
  }
  typedef uint uint6 __attribute__((ext_vector_type(6)));
  uint6 c = __builtin_amdgcn_cvt_scalef32_2xpk16_fp6_f32(lo, hi, 2.0f);
  float32 back = __builtin_amdgcn_cvt_scalef32_pk32_f32_fp6(c, 2.0f);
  for (int i = 0; i < 32; ++i) out[i] = back[i];
  for (int i = 0; i < 6; ++i) codes[l * 6 + i] = c[i];
}
