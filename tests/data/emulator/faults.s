// One planted bug a kernel, and the same kernel without it.
.include "kernel.inc"

.macro ARGS
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
.endm

BEGIN clean
  ARGS
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[6:7]
FINISH clean, 1024

BEGIN load_outside
  ARGS
  v_mov_b32 v3, 0x7ffff000
  v_cmp_eq_u32 vcc, 5, v0
  v_cndmask_b32 v1, v1, v3, vcc
  global_load_dword v2, v1, s[4:5]
FINISH load_outside

// The lane that would fault is off.
BEGIN load_outside_masked
  ARGS
  v_mov_b32 v3, 0x7ffff000
  v_cmp_eq_u32 vcc, 5, v0
  v_cndmask_b32 v1, v1, v3, vcc
  s_andn2_b64 exec, exec, vcc
  global_load_dword v2, v1, s[4:5]
FINISH load_outside_masked

BEGIN store_past_end
  ARGS
  global_store_dword v1, v0, s[6:7] offset:4
FINISH store_past_end

BEGIN unknown_instruction
  ARGS
  .long 0xfc000000
FINISH unknown_instruction

BEGIN wait_vmem
  ARGS
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32 v4, v2, v0
  v_add_u32 v4, v3, v0
FINISH wait_vmem

BEGIN wait_smem
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_add_u32 s4, s4, 16
FINISH wait_smem

// lgkmcnt(1) proves nothing about two scalar loads.
BEGIN wait_smem_order
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  s_waitcnt lgkmcnt(1)
  s_add_u32 s4, s4, 16
FINISH wait_smem_order

BEGIN wait_lds
  ARGS
  ds_write_b32 v1, v0
  ds_read_b32 v2, v1
  v_add_u32 v3, v2, v0
FINISH wait_lds, 1024

// LDS answers in order: after lgkmcnt(1) the first of two reads is there.
BEGIN wait_lds_order
  ARGS
  ds_write_b32 v1, v0
  ds_read_b32 v2, v1
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(1)
  v_add_u32 v4, v2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v4, s[6:7]
FINISH wait_lds_order, 1024

BEGIN wait_overwrite
  ARGS
  global_load_dword v2, v1, s[4:5]
  v_mov_b32 v2, 0
FINISH wait_overwrite

BEGIN wait_store_data
  ARGS
  global_load_dword v2, v1, s[4:5]
  global_store_dword v1, v2, s[6:7]
FINISH wait_store_data

BEGIN wait_dma
  ARGS
  s_mov_b32 m0, 0
  s_nop 1
  global_load_lds_dword v1, s[4:5]
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
FINISH wait_dma, 1024

// Other waves may not read either, barrier or no barrier.
BEGIN wait_dma_barrier
  ARGS
  v_cmp_gt_u32 vcc, 64, v0
  s_cbranch_vccz skip_dma
  s_mov_b32 m0, 0
  s_nop 1
  global_load_lds_dword v1, s[4:5]
skip_dma:
  s_barrier
  v_and_b32 v2, 63, v0
  v_lshlrev_b32 v2, 2, v2
  ds_read_b32 v3, v2
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH wait_dma_barrier, 1024

BEGIN lds_outside
  ARGS
  ds_read_b32 v2, v1 offset:4
  s_waitcnt lgkmcnt(0)
FINISH lds_outside, 256

BEGIN scratch_outside
  ARGS
  v_mov_b32 v2, 0
  scratch_store_dword off, v2, off offset:12
  scratch_store_dword off, v2, off offset:16
FINISH scratch_outside, 0, 16

BEGIN atomic_misaligned
  ARGS
  v_mov_b32 v2, 2
  global_atomic_add v2, v0, s[6:7]
FINISH atomic_misaligned

BEGIN aborts
  s_trap 2
FINISH aborts

BEGIN never_ends
again:
  s_branch again
FINISH never_ends

BEGIN jumps_away
  s_mov_b64 s[4:5], 0
  s_setpc_b64 s[4:5]
FINISH jumps_away
