// One planted bug a kernel for the checks of barriers, EXEC, alignment and wait
// counters; the kernels that end in _ok are right.
.include "kernel.inc"

.macro ARGS
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_lshrrev_b32 v4, 6, v0
  v_readfirstlane_b32 s8, v4  // the wave's number
  s_waitcnt lgkmcnt(0)
.endm

// ---- Barriers ----

// Lanes 5 and up take the branch around the barrier.
BEGIN barrier_some_lanes
  ARGS
  v_cmp_gt_u32 vcc, 5, v0
  s_and_saveexec_b64 s[10:11], vcc
  s_barrier
  s_mov_b64 exec, s[10:11]
FINISH barrier_some_lanes

BEGIN barrier_after_branch_ok
  ARGS
  v_cmp_gt_u32 vcc, 5, v0
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32 v2, 0
  s_mov_b64 exec, s[10:11]
  s_barrier
FINISH barrier_after_branch_ok

// Wave 1 leaves early.
BEGIN barrier_wave_left
  ARGS
  s_cmp_eq_u32 s8, 1
  s_cbranch_scc1 .Lleft
  s_barrier
.Lleft:
FINISH barrier_wave_left

// Waves wait at different places.
BEGIN barrier_two_places_ok
  ARGS
  s_cmp_eq_u32 s8, 1
  s_cbranch_scc1 .Lother_place
  s_barrier
  s_branch .Lplaces_meet
.Lother_place:
  s_nop 1
  s_barrier
.Lplaces_meet:
  s_barrier
FINISH barrier_two_places_ok

// ---- EXEC ----

.macro ZERO16
  .irp n, 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23
  v_mov_b32 v\n, 0
  .endr
.endm

BEGIN mfma_lane_off
  ARGS
  ZERO16
  s_mov_b32 exec_hi, 0xfffffbff
  v_mfma_f32_16x16x32_bf16 v[16:19], v[8:11], v[12:15], v[16:19]
  s_mov_b64 exec, -1
FINISH mfma_lane_off

BEGIN smfmac_lane_off
  ARGS
  ZERO16
  s_mov_b32 exec_lo, 0xfffffffe
  v_smfmac_f32_16x16x32_bf16 v[16:19], v[8:9], v[12:15], v20
  s_mov_b64 exec, -1
FINISH smfmac_lane_off

BEGIN mfma_ok
  ARGS
  ZERO16
  v_mfma_f32_16x16x32_bf16 v[16:19], v[8:11], v[12:15], v[16:19]
FINISH mfma_ok

BEGIN transposing_torn
  ARGS
  v_lshlrev_b32 v6, 3, v0
  s_mov_b32 exec_lo, 0xffff7fff
  ds_read_b64_tr_b16 v[8:9], v6
  s_mov_b64 exec, -1
  s_waitcnt lgkmcnt(0)
FINISH transposing_torn, 1024

// Groups of 16 lanes that are off as a whole do no harm.
BEGIN transposing_ok
  ARGS
  v_lshlrev_b32 v6, 3, v0
  s_mov_b32 exec_lo, 0xffff0000
  ds_read_b64_tr_b16 v[8:9], v6
  s_mov_b64 exec, -1
  ds_read_b64_tr_b8 v[10:11], v6
  s_waitcnt lgkmcnt(0)
FINISH transposing_ok, 1024

// ---- Alignment ----

BEGIN scalar_misaligned
  ARGS
  s_load_dword s10, s[4:5], 0x2
  s_waitcnt lgkmcnt(0)
FINISH scalar_misaligned

BEGIN scalar_base_misaligned
  ARGS
  s_add_u32 s4, s4, 1
  s_addc_u32 s5, s5, 0
  s_load_dword s10, s[4:5], 0x4
  s_waitcnt lgkmcnt(0)
FINISH scalar_base_misaligned

BEGIN dma_misaligned
  ARGS
  s_mov_b32 m0, 6
  s_nop 1
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
FINISH dma_misaligned, 1024

BEGIN transposing_misaligned
  ARGS
  v_lshlrev_b32 v6, 3, v0
  ds_read_b64_tr_b16 v[8:9], v6 offset:4
  s_waitcnt lgkmcnt(0)
FINISH transposing_misaligned, 1024

BEGIN lds_atomic_misaligned
  ARGS
  ds_add_u64 v1, v[8:9]
  s_waitcnt lgkmcnt(0)
FINISH lds_atomic_misaligned, 1024

// Plain accesses may be misaligned: 64 loads and 63 stores here (lane 63's
// store is off), and 64 loads of LDS that only a dword's alignment counts for.
BEGIN misaligned_ok
  ARGS
  global_load_dwordx2 v[8:9], v1, s[4:5] offset:1
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v8
  ds_read_b64 v[10:11], v1
  ds_read_u16 v12, v1 offset:1
  s_waitcnt lgkmcnt(0)
  s_bitset0_b32 exec_hi, 31
  global_store_short v1, v0, s[6:7] offset:3
FINISH misaligned_ok, 1024

// ---- Wait counters ----

// A flat load counts twice, and neither counter alone covers it.
BEGIN flat_half_waited
  ARGS
  s_mov_b64 s[10:11], src_shared_base
  v_mov_b32 v9, s11
  v_lshlrev_b32 v8, 2, v0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  flat_load_dword v10, v[8:9]
  s_waitcnt vmcnt(0)
  v_add_u32 v10, v10, v0
FINISH flat_half_waited, 1024

// From memory it comes back under vmcnt, in order.
BEGIN flat_memory_ok
  ARGS
  v_mov_b32 v8, s4
  v_mov_b32 v9, s5
  flat_load_dword v10, v[8:9]
  global_load_dword v11, v1, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32 v12, v10, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH flat_memory_ok, 1024

// The flat load's count of lgkmcnt is taken back at an unknown time: 1 does not
// prove that the LDS load is there.
BEGIN flat_hides_lds
  ARGS
  v_mov_b32 v8, s4
  v_mov_b32 v9, s5
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v11, v1
  flat_load_dword v10, v[8:9]
  s_waitcnt lgkmcnt(1)
  v_add_u32 v12, v11, v0
FINISH flat_hides_lds, 1024

// Two ways into one register: the slower one wins.
BEGIN load_over_load
  ARGS
  ds_write_b32 v1, v0
  global_load_dword v10, v1, s[4:5]
  ds_read_b32 v10, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH load_over_load, 1024

BEGIN load_over_load_ok
  ARGS
  global_load_dword v10, v1, s[4:5]
  global_load_dword v10, v1, s[4:5] offset:4
  s_waitcnt vmcnt(0)
FINISH load_over_load_ok

BEGIN accumulator_in_flight
  ARGS
  global_load_dword a3, v1, s[4:5]
  v_accvgpr_read_b32 v5, a3
FINISH accumulator_in_flight

BEGIN mfma_operand_in_flight
  ARGS
  ZERO16
  global_load_dwordx4 v[12:15], v1, s[4:5]
  v_mfma_f32_16x16x32_bf16 v[16:19], v[8:11], v[12:15], v[16:19]
FINISH mfma_operand_in_flight

BEGIN mfma_result_over_load
  ARGS
  ZERO16
  global_load_dword v18, v1, s[4:5]
  v_mfma_f32_16x16x32_bf16 v[16:19], v[8:11], v[12:15], 0
FINISH mfma_result_over_load

BEGIN mfma_scale_in_flight
  ARGS
  ZERO16
  global_load_dword v24, v1, s[4:5]
  v_mfma_scale_f32_16x16x128_f8f6f4 v[16:19], v[8:15], v[8:15], v[16:19], v24, v23
FINISH mfma_scale_in_flight

BEGIN base_in_flight
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[4:5], 0x0
FINISH base_in_flight

BEGIN scalar_over_scalar
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dwordx2 s[4:5], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
FINISH scalar_over_scalar

BEGIN vcc_in_flight
  s_load_dwordx2 vcc, s[0:1], 0x0
  v_cndmask_b32 v5, v0, v1, vcc
FINISH vcc_in_flight

BEGIN vcc_high_in_flight
  s_load_dword vcc_hi, s[0:1], 0x0
  v_addc_co_u32 v5, vcc, v0, v1, vcc
FINISH vcc_high_in_flight

BEGIN vcc_branch_in_flight
  s_load_dwordx2 vcc, s[0:1], 0x0
  s_cbranch_vccz .Lvcc_branch
.Lvcc_branch:
FINISH vcc_branch_in_flight

BEGIN vcc_div_in_flight
  s_load_dwordx2 vcc, s[0:1], 0x0
  v_div_fmas_f32 v5, v0, v0, v0
FINISH vcc_div_in_flight

// Another mask than VCC is named.
BEGIN vcc_not_read_ok
  s_mov_b64 s[4:5], 0
  s_load_dwordx2 vcc, s[0:1], 0x0
  v_cndmask_b32 v5, v0, v0, s[4:5]
  s_cbranch_execz .Lvcc_not_read
.Lvcc_not_read:
  s_waitcnt lgkmcnt(0)
FINISH vcc_not_read_ok

BEGIN lane_select_in_flight
  s_load_dword s5, s[0:1], 0x0
  v_readlane_b32 s6, v0, s5
FINISH lane_select_in_flight

BEGIN atomic_result_in_flight
  ARGS
  v_mov_b32 v8, 0
  global_atomic_add v5, v1, v8, s[4:5] sc0
  v_add_u32 v5, v5, v0
FINISH atomic_result_in_flight

BEGIN lds_atomic_result_in_flight
  ARGS
  ds_write_b32 v1, v0
  ds_add_rtn_u32 v5, v1, v0
  s_waitcnt lgkmcnt(1)
  v_add_u32 v5, v5, v0
FINISH lds_atomic_result_in_flight, 1024

// A store's data and an address are read at issue.
BEGIN reuse_at_once_ok
  ARGS
  v_mov_b32 v5, v0
  global_store_dword v1, v5, s[6:7]
  v_mov_b32 v5, 1
  ds_write_b32 v1, v5
  v_mov_b32 v5, 2
  v_mov_b32 v1, 0
  global_load_dword v1, v1, s[4:5]
  s_waitcnt vmcnt(0)
FINISH reuse_at_once_ok, 1024

// The counter holds 63: the 64th load waits until the first is back.
BEGIN counter_full_ok
  ARGS
  global_load_dword v5, v1, s[4:5]
  .rept 63
  global_load_dword v6, v1, s[4:5]
  .endr
  s_waitcnt vmcnt(63)
  v_add_u32 v5, v5, v0
  s_waitcnt vmcnt(0)
FINISH counter_full_ok

BEGIN counter_high_bits
  ARGS
  global_load_dword v5, v1, s[4:5]
  .rept 18
  global_load_dword v6, v1, s[4:5]
  .endr
  s_waitcnt vmcnt(18)
  v_add_u32 v5, v5, v0
  global_load_dword v7, v1, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32 v5, v6, v0
  v_add_u32 v5, v7, v0
FINISH counter_high_bits
