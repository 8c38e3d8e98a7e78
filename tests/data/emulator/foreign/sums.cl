// Sums, scans, histograms: the ways in which lanes, waves and workgroups give
// their values to each other.
#include "device.inc"

#define DPP(value, control, rows) \
  __builtin_amdgcn_update_dpp(0, value, control, rows, 0xf, false)

// Lane l gets the sum of lanes 0 to l.
static int ScanDpp(int v) {
  v += DPP(v, 0x111, 0xf);  // row_shr:1
  v += DPP(v, 0x112, 0xf);
  v += DPP(v, 0x114, 0xf);
  v += DPP(v, 0x118, 0xf);
  v += DPP(v, 0x142, 0xa);  // row_bcast:15
  v += DPP(v, 0x143, 0xc);  // row_bcast:31
  return v;
}

static int SumSwizzle(int v) {
  v += __builtin_amdgcn_ds_swizzle(v, 0x041f);  // xor 1
  v += __builtin_amdgcn_ds_swizzle(v, 0x081f);
  v += __builtin_amdgcn_ds_swizzle(v, 0x101f);
  v += __builtin_amdgcn_ds_swizzle(v, 0x201f);
  v += __builtin_amdgcn_ds_swizzle(v, 0x401f);
  return __builtin_amdgcn_readlane(v, 0) + __builtin_amdgcn_readlane(v, 32);
}

static int SumBpermute(int v) {
  for (int d = 32; d != 0; d >>= 1)
    v += __builtin_amdgcn_ds_bpermute((LANE() ^ d) * 4, v);
  return v;
}

static int SumPermute(int v) {
  for (int d = 32; d != 0; d >>= 1)
    v += __builtin_amdgcn_ds_permute((LANE() ^ d) * 4, v);
  return v;
}

static int SumSwaps(int v) {
  v += DPP(v, 0x128, 0xf);  // row_ror:8
  v += DPP(v, 0x124, 0xf);
  v += DPP(v, 0x122, 0xf);
  v += DPP(v, 0x121, 0xf);
  uint2 p = __builtin_bit_cast(
      uint2, __builtin_amdgcn_permlane16_swap(v, v, false, false));
  v = p.x + p.y;
  p = __builtin_bit_cast(uint2,
                         __builtin_amdgcn_permlane32_swap(v, v, false, false));
  return p.x + p.y;
}

static int SumMirrors(int v) {
  v += DPP(v, 0xb1, 0xf);   // quad_perm 1,0,3,2
  v += DPP(v, 0x4e, 0xf);   // quad_perm 2,3,0,1
  v += DPP(v, 0x141, 0xf);  // row_half_mirror
  v += DPP(v, 0x140, 0xf);  // row_mirror
  return __builtin_amdgcn_readlane(v, 5) + __builtin_amdgcn_readlane(v, 20) +
         __builtin_amdgcn_readlane(v, 33) + __builtin_amdgcn_readlane(v, 63);
}

static int Mine(global const int* in, int n) {
  int sum = 0;
  for (int i = GLOBAL_ID(0); i < n; i += GLOBAL_SIZE(0)) sum += in[i];
  return sum;
}

// One value a wave; out[] has one place for each wave of the grid.
#define WAVE_SUM(name, function)                                            \
  kernel void name(global const int* in, global int* out, int n) {          \
    int v = function(Mine(in, n));                                          \
    if (LOCAL_ID(0) % 64 == 0)                                              \
      out[GROUP_ID(0) * (LOCAL_SIZE(0) / 64) + LOCAL_ID(0) / 64] = v;       \
  }
WAVE_SUM(sum_swizzle, SumSwizzle)
WAVE_SUM(sum_bpermute, SumBpermute)
WAVE_SUM(sum_permute, SumPermute)
WAVE_SUM(sum_swaps, SumSwaps)
WAVE_SUM(sum_mirrors, SumMirrors)

// The compiler's own choice of a reduction over the wave.
kernel void sum_atomic(global const int* in, global int* out, int n) {
  FETCH(add, out, Mine(in, n), DEVICE);
}

kernel THREADS(256) void sum_tree(global const float* in, global float* out,
                                  int n) {
  local float part[256];
  int t = LOCAL_ID(0);
  float sum = 0;
  for (int i = GLOBAL_ID(0); i < n; i += GLOBAL_SIZE(0)) sum += in[i];
  part[t] = sum;
  BARRIER();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    BARRIER();
  }
  if (t == 0) out[GROUP_ID(0)] = part[0];
}

// The last workgroup to arrive adds what all have left.
kernel THREADS(256) void sum_last_group(global const int* in, global int* parts,
                                        global uint* arrived, global int* out,
                                        int n) {
  local int wave[4];
  local uint is_last;
  int t = LOCAL_ID(0);
  int v = SumSwizzle(Mine(in, n));
  if (t % 64 == 0) wave[t / 64] = v;
  BARRIER();
  if (t == 0) {
    __scoped_atomic_store_n(&parts[GROUP_ID(0)],
                            wave[0] + wave[1] + wave[2] + wave[3],
                            __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    uint before = __scoped_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL,
                                            __MEMORY_SCOPE_DEVICE);
    is_last = before == GROUPS(0) - 1;
  }
  BARRIER();
  if (is_last == 0) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  int sum = 0;
  for (uint i = t; i < GROUPS(0); i += 256) sum += parts[i];
  sum = SumSwizzle(sum);
  if (t % 64 == 0) FETCH(add, out, sum, DEVICE);
}

kernel THREADS(256) void scan_tree(global const int* in, global int* out,
                                   int n) {
  local int s[512];
  int t = LOCAL_ID(0), i = GLOBAL_ID(0);
  int at = 0;
  s[t] = i < n ? in[i] : 0;
  BARRIER();
  for (int d = 1; d < 256; d *= 2) {
    int v = s[at + t] + (t >= d ? s[at + t - d] : 0);
    at ^= 256;
    s[at + t] = v;
    BARRIER();
  }
  if (i < n) out[i] = s[at + t];
}

kernel THREADS(320) void scan_waves(global const int* in, global int* out,
                                    int n) {
  local int total[5];
  int t = LOCAL_ID(0), i = GLOBAL_ID(0);
  int v = i < n ? in[i] : 0;
  int inclusive = ScanDpp(v);
  if (t % 64 == 63) total[t / 64] = inclusive;
  BARRIER();
  int before = 0;
  for (int w = 0; w < t / 64; ++w) before += total[w];
  if (i < n) out[i] = before + inclusive - v;
}

kernel void histogram_local(global const uchar* in, global uint* bins, int n) {
  local uint h[256];
  for (uint i = LOCAL_ID(0); i < 256; i += LOCAL_SIZE(0)) h[i] = 0;
  BARRIER();
  for (int i = GLOBAL_ID(0); i < n; i += GLOBAL_SIZE(0))
    FETCH(add, &h[in[i]], 1u, WRKGRP);
  BARRIER();
  for (uint i = LOCAL_ID(0); i < 256; i += LOCAL_SIZE(0))
    FETCH(add, &bins[i], h[i], DEVICE);
}

kernel void histogram_global(global const uchar* in, global uint* bins, int n) {
  for (int i = GLOBAL_ID(0); i < n; i += GLOBAL_SIZE(0))
    FETCH(add, &bins[in[i]], 1u, DEVICE);
}

// As histogram_local, with LDS whose size comes with the launch.
kernel void histogram_dynamic(global const uchar* in, global uint* bins,
                              local uint* h, int n) {
  for (uint i = LOCAL_ID(0); i < 256; i += LOCAL_SIZE(0)) h[i] = 0;
  BARRIER();
  for (int i = GLOBAL_ID(0); i < n; i += GLOBAL_SIZE(0))
    FETCH(add, &h[in[i]], 1u, WRKGRP);
  BARRIER();
  for (uint i = LOCAL_ID(0); i < 256; i += LOCAL_SIZE(0))
    FETCH(add, &bins[i], h[i], DEVICE);
}
