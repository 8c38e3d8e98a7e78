// Control flow and storage that compilers find hard: calls, private
// arrays, vectors with a variable index, large switches, all hidden arguments.
#include "device.inc"

__attribute__((noinline)) static ulong ManyArguments(
    int a, long b, float c, double d, int4 e, ulong8 f, int g, int h) {
  ulong sum = a + b * 3 + (ulong)(c * 8) + (ulong)(d * 16);
  sum += e.x + e.y * 5 + e.z * 7 + e.w * 11;
  for (int i = 0; i < 8; ++i) sum = sum * 13 + f[i];
  return sum + g * 17 + h;
}
kernel void many_arguments(global const ulong* in, global ulong* out) {
  int i = GLOBAL_ID(0);
  ulong8 f = ((global const ulong8*)in)[i % 4];
  out[i] = ManyArguments(i, (long)i << 33, i * 0.125f, i * 0.0625,
                         (int4)(i, i + 1, i + 2, i + 3), f, -i, i * i);
}

kernel void private_array(global const int* index, global int* out) {
  int a[64], g = GLOBAL_ID(0);
  for (int i = 0; i < 64; ++i) a[i] = i * 3 + g;
  for (int i = 0; i < 16; ++i) {
    int j = index[(g + i) & 255] & 63, k = a[j];
    a[(j * 7) & 63] = k + 1;
  }
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += a[i] * (i + 1);
  out[g] = sum;
}
kernel void private_bytes(global const uchar* in, global uchar* out) {
  uchar a[40];
  int g = GLOBAL_ID(0);
  for (int i = 0; i < 40; ++i) a[i] = in[(g * 5 + i) & 127];
  for (int i = 0; i < 40; ++i) {
    int j = a[i] % 40;
    uchar t = a[j];
    a[j] = a[i];
    a[i] = t;
  }
  for (int i = 0; i < 40; ++i) out[g * 40 + i] = a[i];
}

kernel void vector_index(global const int* index, global int* out) {
  int g = GLOBAL_ID(0);
  int16 v = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) * (g + 1);
  int at = index[g] & 15, uniform = index[0] & 15;
  v[at] = -1;
  v[uniform] += 1000;
  out[2 * g] = v[index[g + 1] & 15];
  out[2 * g + 1] = v[(uniform + 3) & 15];
}

kernel void many_cases(global const int* in, global int* out) {
  int g = GLOBAL_ID(0), x = in[g], r = 0;
  switch (x & 31) {
    case 0: r = x * 3; break;
    case 1: r = x ^ 0x55; break;
    case 2: r = -x; break;
    case 3: r = x / 3; // falls into the next
    case 4: r += x << 2; break;
    case 5: r = x % 7; break;
    case 6: for (int i = 0; i < (x >> 5 & 7); ++i) r += i * x; break;
    case 7: r = x | 1; break;
    case 8: r = __builtin_popcount(x); break;
    case 11: r = 11; break;
    case 12: if (x & 64) r = 12; else r = 13; break;
    case 17: r = x * x; break;
    case 23: r = ~x; break;
    case 31: r = x >> 3; break;
    default: r = 99;
  }
  out[g] = r;
}
// The same with one value for the whole wave: a table of jumps.
kernel void uniform_cases(global const int* in, global int* out) {
  int x = in[GROUP_ID(0)], r = LOCAL_ID(0);
  switch (x & 7) {
    case 0: r += 3; break;
    case 1: r *= x; break;
    case 2: r ^= 0x55; break;
    case 3: r = -r; break;
    case 4: r <<= 2; break;
    case 5: r += x; break;
    case 6: r -= x; break;
    default: r = 99;
  }
  out[GROUP_ID(0) * 64 + LOCAL_ID(0)] = r;
}

// Divergent loops with two exits and a jump over.
kernel void collatz(global const uint* in, global uint* out, uint limit) {
  int g = GLOBAL_ID(0);
  uint x = in[g], steps = 0;
  while (x > 1) {
    if (steps == limit) {
      steps = ~0u;
      break;
    }
    ++steps;
    if (x % 2 == 0) {
      x /= 2;
      continue;
    }
    x = 3 * x + 1;
  }
  out[g] = steps;
}

// Everything a kernel can ask of its launch, seven words a work-item.
kernel void geometry(global uint* out) {
  uint3 count = (uint3)(GROUPS(0), GROUPS(1), GROUPS(2));
  uint3 size = (uint3)(LOCAL_SIZE(0), LOCAL_SIZE(1), LOCAL_SIZE(2));
  uint3 id = (uint3)(GLOBAL_ID(0), GLOBAL_ID(1), GLOBAL_ID(2));
  constant const ushort* rest = (constant const ushort*)(IMPLICIT + 18);
  constant const ulong* offset = (constant const ulong*)(IMPLICIT + 40);
  ushort dims = *(constant const ushort*)(IMPLICIT + 64);
  uint at = (id.z * (count.y * size.y) + id.y) * (count.x * size.x) + id.x;
  out += at * 7;
  out[0] = id.x | id.y << 10 | id.z << 20;
  out[1] = count.x | count.y << 10 | count.z << 20;
  out[2] = size.x | size.y << 10 | size.z << 20;
  out[3] = rest[0] | rest[1] << 10 | rest[2] << 20;
  out[4] = offset[0] + offset[1] + offset[2];
  out[5] = dims;
  constant const uchar* packet = __builtin_amdgcn_dispatch_ptr();
  out[6] = *(constant const uint*)(packet + 12);
}

// Clocks never run backwards; priority and sleep change nothing.
kernel void clocks(global ulong* out) {
  ulong a = __builtin_amdgcn_s_memtime(), b = __builtin_amdgcn_s_memrealtime();
  __builtin_amdgcn_s_setprio(3);
  __builtin_amdgcn_s_sleep(2);
  __builtin_amdgcn_s_setprio(0);
  out[GLOBAL_ID(0) * 2] = __builtin_amdgcn_s_memtime() - a;
  out[GLOBAL_ID(0) * 2 + 1] = __builtin_amdgcn_s_memrealtime() - b;
}
