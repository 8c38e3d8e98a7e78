// Atomics of every width, in LDS, global memory and through generic pointers;
// loops of compare and swap; waves that wait for each other.
#include "device.inc"

// One operation on shared places by all; old values go out, so that each has
// been seen once.
#define ALL(name, type, op, place, scope)                                  \
  kernel void name(global type* places, global type* old, global const type* v, \
                   int n) {                                                \
    int i = GLOBAL_ID(0);                                                  \
    if (i < n) old[i] = FETCH(op, &places[place], v[i], scope);            \
  }
ALL(add_u32, uint, add, i % 7, DEVICE)
ALL(add_u64, ulong, add, i % 7, DEVICE)
ALL(sub_u32, uint, sub, i % 7, DEVICE)
ALL(min_i32, int, min, i % 7, DEVICE)
ALL(max_u64, ulong, max, i % 7, SYSTEM)
ALL(min_i64, long, min, i % 7, DEVICE)
ALL(max_i32, int, max, i % 7, SYSTEM)
ALL(and_u32, uint, and, i % 7, DEVICE)
ALL(or_u64, ulong, or, i % 7, DEVICE)
ALL(xor_u32, uint, xor, i % 7, DEVICE)
ALL(add_f32, float, add, i % 7, DEVICE)
ALL(add_f64, double, add, i % 7, DEVICE)
ALL(max_f32, float, max, i % 7, DEVICE)
ALL(min_f64, double, min, i % 7, DEVICE)
ALL(add_u8, uchar, add, i % 7, DEVICE)
ALL(add_u16, ushort, add, i % 7, DEVICE)

// The same in LDS by one workgroup; the places go back at the end.
#define ALL_LDS(name, type, op)                                             \
  kernel void lds_##name(global type* places, global type* old,             \
                         global const type* v, int n) {                     \
    local type s[7];                                                        \
    int i = LOCAL_ID(0);                                                    \
    if (i < 7) s[i] = places[i];                                            \
    BARRIER();                                                              \
    if (i < n) old[i] = FETCH(op, &s[i % 7], v[i], WRKGRP);                 \
    BARRIER();                                                              \
    if (i < 7) places[i] = s[i];                                            \
  }
ALL_LDS(add_u32, uint, add)
ALL_LDS(add_u64, ulong, add)
ALL_LDS(max_i32, int, max)
ALL_LDS(min_i64, long, min)
ALL_LDS(xor_u32, uint, xor)
ALL_LDS(add_f32, float, add)
ALL_LDS(add_f64, double, add)

// Packed pairs, which have builtins only.
kernel void add_pairs(global half2* h, global bf2* b, int n) {
  local half2 lh;
  int i = LOCAL_ID(0);
  if (i == 0) lh = h[1];
  BARRIER();
  if (i < n) {
    __builtin_amdgcn_global_atomic_fadd_v2f16(&h[0], (half2)(1.0h, 0.5h));
    typedef short short2v __attribute__((ext_vector_type(2)));
    __builtin_amdgcn_global_atomic_fadd_v2bf16((global short2v*)&b[0],
                                               (short2v)(0x3f80, 0x4000));
    __builtin_amdgcn_ds_atomic_fadd_v2f16(&lh, (half2)(2.0h, -1.0h));
  }
  BARRIER();
  if (i == 0) h[1] = lh;
}

// A lock-free stack: each pushes its node by compare and swap.
kernel void push(global uint* head, global uint* next, int n) {
  uint i = GLOBAL_ID(0);
  if (i >= n) return;
  uint old = __scoped_atomic_load_n(head, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  do {
    next[i] = old;
  } while (!__scoped_atomic_compare_exchange_n(
      head, &old, i, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
      __MEMORY_SCOPE_DEVICE));
}

// A product modulo 2^64, by a loop that no instruction does.
kernel void multiply(global ulong* product, global const ulong* v, int n) {
  uint i = GLOBAL_ID(0);
  if (i >= n) return;
  ulong old = *product;
  while (!__scoped_atomic_compare_exchange_n(product, &old, old * v[i], true,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __MEMORY_SCOPE_DEVICE)) {
  }
}

// Generic pointers: half of the work-items meet LDS, half global memory.
kernel void generic_add(global uint* places, global uint* out, int n) {
  local uint s[4];
  int i = LOCAL_ID(0);
  if (i < 4) s[i] = 100;
  BARRIER();
  uint* p = i % 2 == 0 ? (uint*)&s[i % 4] : (uint*)&places[i % 4];
  if (i < n) __scoped_atomic_fetch_add(p, i, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  BARRIER();
  if (i < 4) out[i] = s[i];
}

// Wave w waits for wave w - 1's flag; the first starts. No barrier.
kernel THREADS(512) void relay(global uint* out) {
  local uint flag, sum;
  uint t = LOCAL_ID(0), wave = t / 64;
  if (t == 0) {
    flag = 0;
    sum = 1;
  }
  BARRIER();
  while (__scoped_atomic_load_n(&flag, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP) != wave)
    __builtin_amdgcn_s_sleep(1);
  if (t % 64 == 0) {
    uint s = __scoped_atomic_load_n(&sum, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    out[wave] = s;
    __scoped_atomic_store_n(&sum, s * 3 + wave, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    __scoped_atomic_store_n(&flag, wave + 1, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
  }
}
