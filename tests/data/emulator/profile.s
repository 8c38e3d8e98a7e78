// Kernels whose instructions, loops and accesses can be counted by hand.
.include "kernel.inc"

// Arguments: in*, out*. One wave: 32 instructions.
//   mfma 1, valu 10 (4 of them accumulator moves), trans 1, salu 2, smem 1,
//   lds 2, vmem 4 (2 of them scratch), lds_dma 1, branch 2, wait 5, barrier 1,
//   nop 2 (of 4 and 16 slots)
BEGIN mix
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_cvt_f32_u32 v2, v0
  v_exp_f32 v3, v2
  s_mov_b32 m0, 0
  s_nop 3
  s_waitcnt lgkmcnt(0)
  global_load_dword v4, v1, s[4:5]
  global_load_lds_dword v1, s[4:5]
  v_accvgpr_write_b32 a0, 0
  v_accvgpr_write_b32 a1, 0
  v_accvgpr_write_b32 a2, 0
  v_accvgpr_write_b32 a3, 0
  s_waitcnt vmcnt(0)
  ds_read_b32 v5, v1
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_pk_fma_f32 v[6:7], v[4:5], v[4:5], v[4:5]
  v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[4:5], a[0:3]
  s_nop 15
  v_mov_b32 v8, v4
  v_add_f32 v8, v8, v5
  v_mul_f32 v8, v8, v5
  scratch_store_dword off, v8, off
  s_waitcnt vmcnt(0) lgkmcnt(3)
  scratch_load_dword v9, off, off
  s_waitcnt vmcnt(0)
  s_cmp_eq_u32 s4, s4
  s_cbranch_scc0 mix_never
  global_store_dword v1, v9, s[6:7]
  ds_write_b32 v1, v9
mix_never:
FINISH mix, 1024, 16

// Five times: two vector instructions and seven times one MFMA.
//   outer: 5 trips of 2 valu + 2 salu + 1 branch and 7 * (mfma, 2 salu, branch)
//   inner: 7 trips, 5 entries
BEGIN nested
  s_mov_b32 s4, 5
nested_outer:
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  s_mov_b32 s5, 7
nested_inner:
  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[2:3], a[0:15]
  s_sub_u32 s5, s5, 1
  s_cmp_lg_u32 s5, 0
  s_cbranch_scc1 nested_inner
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 nested_outer
FINISH nested

// The wave at place w of its group iterates 3 + 2 * w times, once a barrier.
BEGIN uneven
  v_lshrrev_b32 v1, 6, v0
  v_lshlrev_b32 v1, 1, v1
  v_add_u32 v1, 3, v1
  v_readfirstlane_b32 s4, v1
uneven_loop:
  s_nop 0
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 uneven_loop
  s_barrier
FINISH uneven

// A loop of four trips that leaves in its middle and calls a function, which
// has a loop of three trips.
BEGIN calling
  s_mov_b32 s4, 4
  s_getpc_b64 s[6:7]
calling_here:
  s_add_u32 s6, s6, calling_function-calling_here
  s_addc_u32 s7, s7, 0
calling_loop:
  s_sub_u32 s4, s4, 1
  s_cmp_eq_u32 s4, -1
  s_cbranch_scc1 calling_end
  s_swappc_b64 s[8:9], s[6:7]
  s_branch calling_loop
calling_end:
  s_endpgm
calling_function:
  s_mov_b32 s5, 3
calling_inner:
  s_sub_u32 s5, s5, 1
  s_cmp_lg_u32 s5, 0
  s_cbranch_scc1 calling_inner
  s_setpc_b64 s[8:9]
FINISH calling

// Arguments: addresses*. Each lane accesses LDS where its dword of the table
// says; data is 0.
.macro LDS_ACCESS name, instr:vararg
BEGIN \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_waitcnt vmcnt(0)
  \instr
  s_waitcnt lgkmcnt(0)
FINISH \name, 65536
.endm
LDS_ACCESS read_b32, ds_read_b32 v8, v2
LDS_ACCESS read_u8, ds_read_u8 v8, v2
LDS_ACCESS read_b64, ds_read_b64 v[8:9], v2
LDS_ACCESS read_b96, ds_read_b96 v[8:10], v2
LDS_ACCESS read_b128, ds_read_b128 v[8:11], v2
LDS_ACCESS read2_b32, ds_read2_b32 v[8:9], v2 offset1:64
LDS_ACCESS read_tr, ds_read_b64_tr_b16 v[8:9], v2
LDS_ACCESS write_b32, ds_write_b32 v2, v4
LDS_ACCESS write_b64, ds_write_b64 v2, v[4:5]
LDS_ACCESS write_b128, ds_write_b128 v2, v[4:7]
LDS_ACCESS add_u32, ds_add_u32 v2, v4
LDS_ACCESS bpermute, ds_bpermute_b32 v8, v2, v4

// Arguments: offsets*, in*, out*. Each lane loads a dword (16 bytes) at its
// offset and stores it at the same offset.
.macro GLOBAL_ACCESS name, load, store, reg
BEGIN \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  \load \reg, v2, s[6:7]
  s_waitcnt vmcnt(0)
  \store v2, \reg, s[8:9]
FINISH \name
.endm
GLOBAL_ACCESS copy_dword, global_load_dword, global_store_dword, v4
GLOBAL_ACCESS copy_dwordx4, global_load_dwordx4, global_store_dwordx4, v[4:7]

// Arguments: in*. 16 bytes a lane to LDS, lane by lane.
BEGIN dma
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  global_load_lds_dwordx4 v1, s[4:5]
  s_waitcnt vmcnt(0)
FINISH dma, 4096

// Stores where no argument points.
BEGIN wild
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  global_store_dword v[2:3], v2, off
FINISH wild
