// Data that changes its place: transposes, transposing reads, buffers and their
// bounds, LDS-DMA, exchanges between lanes.
#include "device.inc"

// Through a padded tile of 32 x 32 by 32 x 8 work-items.
#define TRANSPOSE(name, type)                                            \
  kernel void name(global const type* in, global type* out, int w, int h) { \
    local type tile[32][33];                                              \
    int x = GROUP_ID(0) * 32 + LOCAL_ID(0), y0 = GROUP_ID(1) * 32;        \
    for (int r = LOCAL_ID(1); r < 32; r += 8)                             \
      if (x < w && y0 + r < h)                                            \
        tile[r][LOCAL_ID(0)] = in[(size_t)(y0 + r) * w + x];              \
    BARRIER();                                                            \
    int ox = y0 + LOCAL_ID(0), oy0 = GROUP_ID(0) * 32;                    \
    for (int r = LOCAL_ID(1); r < 32; r += 8)                             \
      if (ox < h && oy0 + r < w)                                          \
        out[(size_t)(oy0 + r) * h + ox] = tile[LOCAL_ID(0)][r];           \
  }
TRANSPOSE(transpose8, uchar)
TRANSPOSE(transpose16, ushort)
TRANSPOSE(transpose32, uint)
TRANSPOSE(transpose64, ulong)
TRANSPOSE(transpose128, uint4)

// Lane l reads at byte l * step; the result's dwords go to out[l][].
#define READ_TR(name, builtin, vector, step, words)                       \
  kernel THREADS(64) void name(global const uint* in, global uint* out) { \
    local uint tile[256];                                                 \
    int l = LOCAL_ID(0);                                                  \
    for (int i = l; i < 256; i += 64) tile[i] = in[i];                    \
    BARRIER();                                                            \
    vector v = __builtin_amdgcn_ds_read_##builtin(                        \
        (local vector*)((local uchar*)tile + l * step));                  \
    union {                                                               \
      vector v;                                                           \
      uint w[words];                                                      \
    } u = {v};                                                            \
    for (int i = 0; i < words; ++i) out[l * words + i] = u.w[i];          \
  }
READ_TR(read_tr4, tr4_b64_v2i32, int2, 8, 2)
READ_TR(read_tr8, tr8_b64_v2i32, int2, 8, 2)
READ_TR(read_tr16, tr16_b64_v4i16, short4, 8, 2)

kernel THREADS(64) void read_tr6(global const uint* in, global uint* out) {
  local uint tile[256];
  int l = LOCAL_ID(0);
  for (int i = l; i < 256; i += 64) tile[i] = in[i];
  BARRIER();
  int3 v = __builtin_amdgcn_ds_read_tr6_b96_v3i32(
      (local int3*)((local uchar*)tile + l * 16));
  out[l * 3] = v.x;
  out[l * 3 + 1] = v.y;
  out[l * 3 + 2] = v.z;
}

// Work-item i moves element i - 2, so that both ends lie outside.
#define CLIP(bits, type)                                                    \
  kernel void clip##bits(global uchar* in, global uchar* out, int in_bytes, \
                         int out_bytes) {                                   \
    __amdgpu_buffer_rsrc_t from =                                           \
        __builtin_amdgcn_make_buffer_rsrc(in, 0, in_bytes, 0x27000);        \
    __amdgpu_buffer_rsrc_t to =                                             \
        __builtin_amdgcn_make_buffer_rsrc(out, 0, out_bytes, 0x27000);      \
    int at = ((int)GLOBAL_ID(0) - 2) * (bits / 8);                          \
    type v = __builtin_amdgcn_raw_buffer_load_b##bits(from, at, 0, 0);      \
    __builtin_amdgcn_raw_buffer_store_b##bits(v, to, at, 0, 0);             \
  }
CLIP(8, uchar)
CLIP(16, ushort)
CLIP(32, uint)
CLIP(64, uint2)
CLIP(96, uint3)
CLIP(128, uint4)

kernel void clip_atomic(global int* bins, int bytes, int n) {
  __amdgpu_buffer_rsrc_t to =
      __builtin_amdgcn_make_buffer_rsrc(bins, 0, bytes, 0x27000);
  int i = GLOBAL_ID(0);
  if (i < n)
    __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(i + 1, to, i % 20 * 4, 0, 0);
}

// in -> LDS without registers -> out, 100 lanes on. A lane's place in LDS is
// 4 bytes, or 16 for those that move more.
#define DMA(name, words, slot, load)                                     \
  kernel THREADS(128) void name(global uint* in, global uint* out,       \
                                int in_bytes) {                          \
    local uint tile[128 * slot];                                         \
    int t = LOCAL_ID(0), wave = t / 64;                                  \
    local uint* to =                                                     \
        tile + __builtin_amdgcn_readfirstlane(wave) * 64 * slot;         \
    int at = (GROUP_ID(0) * 128 + t) * words * 4;                        \
    __amdgpu_buffer_rsrc_t from =                                        \
        __builtin_amdgcn_make_buffer_rsrc(in, 0, in_bytes, 0x27000);     \
    (void)from;                                                          \
    load;                                                                \
    __builtin_amdgcn_s_waitcnt(0);                                       \
    BARRIER();                                                           \
    int other = (t + 100) % 128;                                         \
    for (int i = 0; i < words; ++i)                                      \
      out[(GROUP_ID(0) * 128 + t) * words + i] = tile[other * slot + i]; \
  }
#define GLOBAL_LDS(bytes) \
  __builtin_amdgcn_global_load_lds((global uchar*)in + at, to, bytes, 0, 0)
#define BUFFER_LDS(bytes) \
  __builtin_amdgcn_raw_ptr_buffer_load_lds(from, to, bytes, at, 0, 0, 0)
DMA(dma_global4, 1, 1, GLOBAL_LDS(4))
DMA(dma_global12, 3, 4, GLOBAL_LDS(12))
DMA(dma_global16, 4, 4, GLOBAL_LDS(16))
DMA(dma_buffer4, 1, 1, BUFFER_LDS(4))
DMA(dma_buffer12, 3, 4, BUFFER_LDS(12))
DMA(dma_buffer16, 4, 4, BUFFER_LDS(16))

int WriteLane(int value, int lane, int old)
    __asm("llvm.amdgcn.writelane.i32");

kernel THREADS(64) void lanes(global const int* in, global int* out,
                              global ulong* masks, int lane) {
  int l = LOCAL_ID(0), v = in[l];
  masks[0] = __builtin_amdgcn_ballot_w64(v > 0);
  out[l] = __builtin_amdgcn_readlane(v, lane) + l;
  out[64 + l] = WriteLane(lane * 7, lane, v);
  out[128 + l] = __builtin_amdgcn_readfirstlane(v);
  if (v > 0) {
    masks[1] = __builtin_amdgcn_read_exec();
    out[192 + l] = __builtin_amdgcn_readfirstlane(v);
  }
  uint2 s = __builtin_bit_cast(
      uint2, __builtin_amdgcn_permlane16_swap(v, l, false, false));
  out[256 + l] = s.x;
  out[320 + l] = s.y;
  s = __builtin_bit_cast(uint2,
                         __builtin_amdgcn_permlane32_swap(v, l, false, false));
  out[384 + l] = s.x;
  out[448 + l] = s.y;
}

// A loop over the distinct keys of a wave, as compilers make it for values
// that must be the same in all lanes.
kernel THREADS(64) void waterfall(global const int* keys, global int* out,
                                  global int* rounds) {
  int l = LOCAL_ID(0), key = keys[l], n = 0;
  bool open = true;
  while (open) {
    int first = __builtin_amdgcn_readfirstlane(key);
    if (key == first) {
      out[l] = first * 1000 + n;
      open = false;
    }
    ++n;
  }
  rounds[l] = n;
}
