// Kernels in the shapes that compilers make of ordinary code: reductions, LDS,
// scratch, 64-bit integers, division. The geometry comes from the implicit
// arguments, so that no device library is needed.
#define get_local_id(d)                          \
  ((d) == 0   ? __builtin_amdgcn_workitem_id_x() \
   : (d) == 1 ? __builtin_amdgcn_workitem_id_y() \
              : __builtin_amdgcn_workitem_id_z())
#define get_group_id(d)                           \
  ((d) == 0   ? __builtin_amdgcn_workgroup_id_x() \
   : (d) == 1 ? __builtin_amdgcn_workgroup_id_y() \
              : __builtin_amdgcn_workgroup_id_z())
#define IMPL ((constant const uchar*)__builtin_amdgcn_implicitarg_ptr())
#define get_local_size(d) ((uint)((constant const ushort*)(IMPL + 12))[d])
#define get_num_groups(d) (((constant const uint*)IMPL)[d])
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
#define barrier(x)                                         \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)
#define fmax __builtin_fmaxf
#define atomic_inc(p) \
  __scoped_atomic_fetch_add(p, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
#define atomic_add(p, v) \
  __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define rotate(x, n) \
  (((ulong)(x) << ((n) & 63)) | ((ulong)(x) >> ((64 - (n)) & 63)))
#define popcount(x) __builtin_popcountl(x)
#define clz(x) ((x) == 0 ? 64 : __builtin_clzl(x))
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef __bf16 bf8v __attribute__((ext_vector_type(8)));
typedef float f4 __attribute__((ext_vector_type(4)));
kernel void vadd(global const float* a, global const float* b, global float* c,
                 int n) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void reduce(
    global const float* a, global float* out, int n) {
  local float s[256];
  int t = get_local_id(0);
  float acc = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) acc += a[i];
  s[t] = acc;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = s[0];
}
kernel void histogram(global const uchar* in, global uint* bins, int n) {
  local uint h[256];
  int t = get_local_id(0);
  for (int i = t; i < 256; i += get_local_size(0)) h[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&h[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = t; i < 256; i += get_local_size(0)) atomic_add(&bins[i], h[i]);
}
kernel void softmax(global const float* in, global float* out, int n) {
  local float red[256];
  int t = get_local_id(0), row = get_group_id(0);
  in += (size_t)row * n;
  out += (size_t)row * n;
  float m = -INFINITY;
  for (int i = t; i < n; i += 256) m = fmax(m, in[i]);
  red[t] = m;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d; d >>= 1) {
    if (t < d) red[t] = fmax(red[t], red[t + d]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  m = red[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (int i = t; i < n; i += 256) s += __builtin_expf(in[i] - m);
  red[t] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d; d >>= 1) {
    if (t < d) red[t] += red[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  s = red[0];
  for (int i = t; i < n; i += 256) out[i] = __builtin_expf(in[i] - m) / s;
}
kernel void transpose(global const float* in, global float* out, int w, int h) {
  local float tile[16][17];
  int x = get_group_id(0) * 16 + get_local_id(0),
      y = get_group_id(1) * 16 + get_local_id(1);
  if (x < w && y < h) tile[get_local_id(1)][get_local_id(0)] = in[y * w + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int ox = get_group_id(1) * 16 + get_local_id(0),
      oy = get_group_id(0) * 16 + get_local_id(1);
  if (ox < h && oy < w)
    out[oy * h + ox] = tile[get_local_id(0)][get_local_id(1)];
}
kernel void scratchy(global const int* idx, global int* out, int n) {
  int a[64];
  int g = get_global_id(0);
  for (int i = 0; i < 64; i++) a[i] = i * 3 + g;
  for (int i = 0; i < 16; i++) {
    int j = idx[(g + i) & 255] & 63;
    int k = a[j];
    a[(j * 7) & 63] = k + 1;
  }
  int s = 0;
  for (int i = 0; i < 64; i++) s += a[i] * (i + 1);
  out[g] = s;
}
kernel void ints(global const long* a, global const long* b, global long* out) {
  int i = get_global_id(0);
  long x = a[i], y = b[i];
  long r = x * y + (x / (y | 1)) + (x % (y | 1)) + ((ulong)x / ((ulong)y | 3));
  r ^= (int)x / ((int)y | 1);
  r += (uint)x % ((uint)y | 5);
  r = rotate(r, y & 63);
  r += popcount(x) + clz(y);
  out[i] = r;
}
kernel void floats(global const double* a, global double* out) {
  int i = get_global_id(0);
  double x = a[i];
  float f = (float)x;
  half h = (half)f;
  double r = x / 3.7 + __builtin_sqrt(__builtin_fabs(x));
  r += (double)(f / 1.3f) + (double)__builtin_sqrtf(__builtin_fabsf(f)) +
       (double)(float)(h * (half)1.5f);
  r += __builtin_floor(x) + __builtin_trunc(x);
  out[i] = r;
}
kernel void mfma(global const __bf16* a, global const __bf16* b,
                 global float* c, int K) {
  int l = get_local_id(0);
  int row = l % 16, g = l / 16;
  f4 acc = 0;
  int mt = get_group_id(0), nt = get_group_id(1), N = get_num_groups(1) * 16;
  for (int k = 0; k < K; k += 32) {
    bf8v av = *(global const bf8v*)(a + (mt * 16 + row) * K + k + g * 8);
    bf8v bv = *(global const bf8v*)(b + (nt * 16 + row) * K + k + g * 8);
    acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(av, bv, acc, 0, 0, 0);
  }
  for (int j = 0; j < 4; j++) {
    float v;
    if (j == 0)
      v = acc.x;
    else if (j == 1)
      v = acc.y;
    else if (j == 2)
      v = acc.z;
    else
      v = acc.w;
    c[(mt * 16 + g * 4 + j) * N + nt * 16 + row] = v;
  }
}
