// Whole algorithms over rows and arrays: norms, softmax, sorting.
#include "device.inc"

static float SumGroup(float v, local float* part) {
  int t = LOCAL_ID(0);
  part[t] = v;
  BARRIER();
  for (int d = LOCAL_SIZE(0) / 2; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    BARRIER();
  }
  v = part[0];
  BARRIER();
  return v;
}

static float MaxGroup(float v, local float* part) {
  int t = LOCAL_ID(0);
  part[t] = v;
  BARRIER();
  for (int d = LOCAL_SIZE(0) / 2; d > 0; d >>= 1) {
    if (t < d) part[t] = __builtin_fmaxf(part[t], part[t + d]);
    BARRIER();
  }
  v = part[0];
  BARRIER();
  return v;
}

kernel void softmax(global const half* in, global half* out, int n) {
  local float part[256];
  in += (size_t)GROUP_ID(0) * n;
  out += (size_t)GROUP_ID(0) * n;
  float top = -INFINITY;
  for (int i = LOCAL_ID(0); i < n; i += LOCAL_SIZE(0))
    top = __builtin_fmaxf(top, (float)in[i]);
  top = MaxGroup(top, part);
  float sum = 0;
  for (int i = LOCAL_ID(0); i < n; i += LOCAL_SIZE(0))
    sum += __builtin_expf((float)in[i] - top);
  sum = SumGroup(sum, part);
  for (int i = LOCAL_ID(0); i < n; i += LOCAL_SIZE(0))
    out[i] = (half)(__builtin_expf((float)in[i] - top) / sum);
}

kernel void layernorm(global const __bf16* in, global const float* weight,
                      global const float* bias, global __bf16* out, int n,
                      float eps) {
  local float part[256];
  in += (size_t)GROUP_ID(0) * n;
  out += (size_t)GROUP_ID(0) * n;
  float sum = 0;
  for (int i = LOCAL_ID(0); i < n; i += LOCAL_SIZE(0)) sum += (float)in[i];
  float mean = SumGroup(sum, part) / n;
  float squares = 0;
  for (int i = LOCAL_ID(0); i < n; i += LOCAL_SIZE(0)) {
    float d = (float)in[i] - mean;
    squares += d * d;
  }
  float scale = 1 / __builtin_sqrtf(SumGroup(squares, part) / n + eps);
  for (int i = LOCAL_ID(0); i < n; i += LOCAL_SIZE(0))
    out[i] = (__bf16)(((float)in[i] - mean) * scale * weight[i] + bias[i]);
}

// 512 keys by 256 work-items, in LDS.
kernel THREADS(256) void sort_bitonic(global ulong* keys) {
  local ulong s[512];
  uint t = LOCAL_ID(0);
  keys += GROUP_ID(0) * 512;
  s[t] = keys[t];
  s[t + 256] = keys[t + 256];
  for (uint k = 2; k <= 512; k *= 2) {
    for (uint j = k / 2; j > 0; j /= 2) {
      BARRIER();
      uint i = 2 * t - (t & (j - 1));
      bool up = (i & k) == 0;
      ulong a = s[i], b = s[i + j];
      if ((a > b) == up) {
        s[i] = b;
        s[i + j] = a;
      }
    }
  }
  BARRIER();
  keys[t] = s[t];
  keys[t + 256] = s[t + 256];
}

// 256 keys, a bit a round: ballots count, LDS exchanges.
kernel THREADS(256) void sort_radix(global uint* keys, global uint* values) {
  local uint key[256], value[256], ones[4];
  uint t = LOCAL_ID(0), wave = t / 64;
  key[t] = keys[t];
  value[t] = values[t];
  for (uint bit = 0; bit < 32; ++bit) {
    BARRIER();
    uint k = key[t], v = value[t];
    bool one = (k >> bit & 1) != 0;
    ulong ballot = __builtin_amdgcn_ballot_w64(one);
    uint below = __builtin_amdgcn_mbcnt_hi(
        (uint)(ballot >> 32), __builtin_amdgcn_mbcnt_lo((uint)ballot, 0));
    if (t % 64 == 0) ones[wave] = __builtin_popcountl(ballot);
    BARRIER();
    uint before = below, all = 0;
    for (uint w = 0; w < 4; ++w) {
      before += w < wave ? ones[w] : 0;
      all += ones[w];
    }
    uint to = one ? 256 - all + before : t - before;
    key[to] = k;
    value[to] = v;
  }
  BARRIER();
  keys[t] = key[t];
  values[t] = value[t];
}
