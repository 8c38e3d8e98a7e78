// Races between two waves of a workgroup, and the same kernels made right. A
// work-item's own dword of LDS is at v1; v2 is that of the other wave, v3 one
// that the lanes of both waves share.
.include "kernel.inc"

.macro ARGS
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1
  v_and_b32 v3, 0xff, v1
  v_lshrrev_b32 v4, 6, v0
  v_readfirstlane_b32 s8, v4  // the wave's number
  s_waitcnt lgkmcnt(0)
.endm
.macro SYNC
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_barrier
.endm

BEGIN lds_read_after_write
  ARGS
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v5, v2
  s_waitcnt lgkmcnt(0)
FINISH lds_read_after_write, 1024

BEGIN lds_read_after_write_ok
  ARGS
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v5, v2
  s_waitcnt lgkmcnt(0)
FINISH lds_read_after_write_ok, 1024

// The barrier does not wait for the store.
BEGIN lds_write_in_flight
  ARGS
  ds_write_b32 v1, v0
  s_barrier
  ds_read_b32 v5, v2
  s_waitcnt lgkmcnt(0)
FINISH lds_write_in_flight, 1024

BEGIN lds_write_after_read
  ARGS
  ds_write_b32 v1, v0
  SYNC
  ds_read_b32 v5, v2
  s_waitcnt lgkmcnt(0)
  ds_write_b32 v1, v5
  s_waitcnt lgkmcnt(0)
FINISH lds_write_after_read, 1024

BEGIN lds_write_after_read_ok
  ARGS
  ds_write_b32 v1, v0
  SYNC
  ds_read_b32 v5, v2
  SYNC
  ds_write_b32 v1, v5
  s_waitcnt lgkmcnt(0)
FINISH lds_write_after_read_ok, 1024

// The read is waited for, but after the barrier.
BEGIN lds_read_in_flight
  ARGS
  ds_write_b32 v1, v0
  SYNC
  ds_read_b32 v5, v2
  s_barrier
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
FINISH lds_read_in_flight, 1024

// Another barrier after the wait makes it right.
BEGIN lds_read_in_flight_ok
  ARGS
  ds_write_b32 v1, v0
  SYNC
  ds_read_b32 v5, v2
  s_barrier
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
FINISH lds_read_in_flight_ok, 1024

BEGIN lds_write_after_write
  ARGS
  ds_write_b32 v3, v0
  SYNC
FINISH lds_write_after_write, 1024

BEGIN lds_write_after_write_ok
  ARGS
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lnot_first
  ds_write_b32 v3, v0
  s_waitcnt lgkmcnt(0)
.Lnot_first:
  s_barrier
  s_cmp_eq_u32 s8, 1
  s_cbranch_scc0 .Lnot_second
  ds_write_b32 v3, v0
.Lnot_second:
  SYNC
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
FINISH lds_write_after_write_ok, 1024

// Both waves store the same value, as waves with replicated values do; 16 bytes
// and 2 as well.
BEGIN lds_same_value_ok
  ARGS
  v_and_b32 v5, 63, v0
  v_mov_b32 v10, v5
  v_mov_b32 v11, v5
  v_mov_b32 v12, v5
  v_mov_b32 v13, v5
  v_lshlrev_b32 v9, 4, v5
  ds_write_b32 v3, v5
  ds_write_b128 v9, v[10:13] offset:1024
  ds_write_b16 v3, v5 offset:512
  SYNC
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
FINISH lds_same_value_ok, 2048

// The last of 16 bytes are different.
BEGIN lds_almost_same_value
  ARGS
  v_and_b32 v5, 63, v0
  v_mov_b32 v10, v5
  v_mov_b32 v11, v5
  v_mov_b32 v12, v5
  v_lshlrev_b32 v13, 24, v0
  v_lshlrev_b32 v9, 4, v5
  ds_write_b128 v9, v[10:13]
  SYNC
FINISH lds_almost_same_value, 1024

// The same with 16 bytes a lane.
BEGIN lds_wide
  ARGS
  v_lshlrev_b32 v6, 4, v0
  v_xor_b32 v7, 0x400, v6
  ds_write_b128 v6, v[8:11]
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[12:15], v7
  s_waitcnt lgkmcnt(0)
FINISH lds_wide, 2048

BEGIN lds_wide_ok
  ARGS
  v_lshlrev_b32 v6, 4, v0
  v_xor_b32 v7, 0x400, v6
  ds_write_b128 v6, v[8:11]
  SYNC
  ds_read_b128 v[12:15], v7
  SYNC
  ds_write2_b64 v6, v[12:13], v[14:15] offset1:1
  SYNC
  ds_read2_b64 v[12:15], v7 offset1:1
  s_waitcnt lgkmcnt(0)
FINISH lds_wide_ok, 2048

// Wave 0 owns the even bytes, wave 1 the odd ones.
BEGIN lds_bytes_ok
  ARGS
  v_lshlrev_b32 v6, 1, v0
  v_and_b32 v6, 0x7e, v6
  v_add_u32 v6, v6, v4
  ds_write_b8 v6, v0
  s_waitcnt lgkmcnt(0)
  ds_read_u8 v7, v6
  SYNC
  ds_read_b32 v7, v3
  SYNC
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
FINISH lds_bytes_ok, 1024

// One byte of wave 1's lies in wave 0's words.
BEGIN lds_bytes
  ARGS
  v_lshlrev_b32 v6, 1, v0
  v_and_b32 v6, 0x7e, v6
  v_add_u32 v6, v6, v4
  ds_write_b8 v6, v0
  s_waitcnt lgkmcnt(0)
  v_and_b32 v6, 0x7e, v6
  ds_read_u16 v7, v6
  s_waitcnt lgkmcnt(0)
FINISH lds_bytes, 1024

BEGIN lds_atomics_ok
  ARGS
  ds_write_b32 v1, v0
  SYNC
  ds_add_u32 v3, v0
  ds_max_rtn_u32 v5, v3, v0
  SYNC
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
FINISH lds_atomics_ok, 1024

BEGIN lds_atomics
  ARGS
  ds_write_b32 v1, v0
  SYNC
  ds_add_u32 v3, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
FINISH lds_atomics, 1024

// Wave 0 only reads what three waves read, then overwrites it: the other
// readers matter though it read last.
BEGIN lds_many_readers
  ARGS
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s8, 2
  s_cbranch_scc0 .Lonly_reads
  ds_read_b32 v5, v3
  ds_write_b32 v3, v0
.Lonly_reads:
  s_waitcnt lgkmcnt(0)
FINISH lds_many_readers, 1024

// Wave 0 hands words over by a flag at 0, for which wave 1 polls.
.macro FLAG name, late
BEGIN \name
  ARGS
  v_mov_b32 v6, 0
  v_mov_b32 v7, 1
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lready_\name
  ds_write_b32 v6, v6
  s_waitcnt lgkmcnt(0)
.Lready_\name:
  s_barrier
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lpoll_\name
  .if \late == 0
  ds_write_b32 v3, v0 offset:256
  s_waitcnt lgkmcnt(0)
  .endif
  ds_write_b32 v6, v7
  .if \late
  ds_write_b32 v3, v0 offset:256
  .endif
  s_waitcnt lgkmcnt(0)
  s_endpgm
.Lpoll_\name:
  ds_read_b32 v5, v6
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s9, v5
  s_cmp_eq_u32 s9, 1
  s_cbranch_scc0 .Lpoll_\name
  ds_read_b32 v5, v3 offset:256
  s_waitcnt lgkmcnt(0)
FINISH \name, 1024
.endm
FLAG lds_flag_ok, 0
FLAG lds_flag_early, 1

// ---- Transfers from memory ----

.macro DMA lds
  s_mov_b32 m0, \lds
  s_nop 1
  global_load_lds_dword v3, s[4:5]
.endm
// Code between these is for wave 0.
.macro ONLY_FIRST label
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 \label
.endm

BEGIN dma_ok
  ARGS
  ONLY_FIRST .Ldma_ok
  DMA 0
  DMA 256
  s_waitcnt vmcnt(1)
.Ldma_ok:
  s_barrier
  ds_read_b32 v5, v3
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_barrier
  ds_read_b32 v5, v3 offset:256
  SYNC
  global_store_dword v1, v5, s[6:7]
FINISH dma_ok, 1024

// vmcnt(1) covers the first transfer only.
BEGIN dma_in_flight
  ARGS
  ONLY_FIRST .Ldma_in_flight
  DMA 0
  DMA 256
  s_waitcnt vmcnt(1)
.Ldma_in_flight:
  s_barrier
  ds_read_b32 v5, v3 offset:256
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH dma_in_flight, 1024

BEGIN dma_no_barrier
  ARGS
  ONLY_FIRST .Ldma_no_barrier
  DMA 0
  s_waitcnt vmcnt(0)
.Ldma_no_barrier:
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
FINISH dma_no_barrier, 1024

// A transfer overwrites what another wave may still be reading.
BEGIN dma_over_read
  ARGS
  ds_read_b32 v5, v3
  s_barrier
  ONLY_FIRST .Ldma_over_read
  s_waitcnt lgkmcnt(0)
  DMA 0
.Ldma_over_read:
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH dma_over_read, 1024

BEGIN dma_over_read_ok
  ARGS
  ds_read_b32 v5, v3
  SYNC
  ONLY_FIRST .Ldma_over_read_ok
  DMA 0
.Ldma_over_read_ok:
  s_waitcnt vmcnt(0)
FINISH dma_over_read_ok, 1024

// Within one wave.
BEGIN dma_over_own_read
  ARGS
  ds_read_b32 v5, v1
  DMA 0
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH dma_over_own_read, 1024

BEGIN dma_over_own_write
  ARGS
  ds_write_b32 v1, v0
  DMA 0
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH dma_over_own_write, 1024

BEGIN write_over_own_dma
  ARGS
  DMA 0
  ds_write_b32 v1, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
FINISH write_over_own_dma, 1024

BEGIN own_dma_ok
  ARGS
  ds_read_b32 v5, v1
  s_waitcnt lgkmcnt(0)
  DMA 0
  DMA 0
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v0
  ds_read_b32 v5, v1
  s_waitcnt lgkmcnt(0)
FINISH own_dma_ok, 1024

// Wave 1 is one barrier behind all the time, so that the waves take turns with
// the same words.
.macro STAGGERED name, wait
BEGIN \name
  ARGS
  s_mov_b32 s9, 4
  s_cmp_eq_u32 s8, 1
  s_cbranch_scc0 .Lloop_\name
  s_barrier
.Lloop_\name:
  s_barrier
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
  v_add_u32 v5, v5, v0
  ds_write_b32 v3, v5
  .if \wait
  s_waitcnt lgkmcnt(0)
  .endif
  s_barrier
  s_sub_u32 s9, s9, 1
  s_cmp_eq_u32 s9, 0
  s_cbranch_scc0 .Lloop_\name
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lend_\name
  s_barrier
.Lend_\name:
  s_waitcnt lgkmcnt(0)
FINISH \name, 1024
.endm
STAGGERED staggered_ok, 1
STAGGERED staggered_write_in_flight, 0

// A reader that comes one barrier too early.
BEGIN staggered_early
  ARGS
  s_cmp_eq_u32 s8, 1
  s_cbranch_scc0 .Lstaggered_reader
  s_barrier
  ds_write_b32 v3, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_endpgm
.Lstaggered_reader:
  s_barrier
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
  s_barrier
FINISH staggered_early, 1024

// ---- Memory ----

BEGIN global_read_after_write
  ARGS
  global_store_dword v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
  global_load_dword v5, v2, s[6:7]
  s_waitcnt vmcnt(0)
FINISH global_read_after_write

BEGIN global_read_after_write_ok
  ARGS
  global_store_dword v1, v0, s[6:7]
  s_barrier
  global_load_dword v5, v2, s[6:7]
  s_barrier
  s_waitcnt vmcnt(0)
  global_store_dword v1, v5, s[6:7]
FINISH global_read_after_write_ok

BEGIN global_write_after_write
  ARGS
  global_store_byte v1, v0, s[6:7] offset:3
  v_cmp_eq_u32 vcc, 70, v0
  v_add_u32 v6, v3, 3
  v_cndmask_b32 v6, v1, v6, vcc
  global_store_short v6, v0, s[6:7]
FINISH global_write_after_write

// The waves write every other byte of the same words.
BEGIN global_bytes_ok
  ARGS
  v_add_u32 v6, v3, v4
  global_store_byte v6, v0, s[6:7]
  global_store_byte v6, v0, s[6:7] offset:2
FINISH global_bytes_ok

BEGIN global_atomics_ok
  ARGS
  global_atomic_add v3, v0, s[6:7]
  global_load_dword v5, v3, s[6:7] sc1
  s_waitcnt vmcnt(0)
FINISH global_atomics_ok

BEGIN global_atomics
  ARGS
  global_atomic_add v3, v0, s[6:7]
  s_waitcnt vmcnt(0)
  global_load_dword v5, v3, s[6:7]
  s_waitcnt vmcnt(0)
FINISH global_atomics

// Wave 0 hands its words over by a flag: no barrier, and none is needed.
BEGIN global_flag_ok
  ARGS
  v_mov_b32 v6, 0
  v_mov_b32 v7, 1
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lflag_wait
  global_store_dword v3, v0, s[6:7]
  s_waitcnt vmcnt(0)
  global_store_dword v6, v7, s[4:5] sc1
  s_endpgm
.Lflag_wait:
  global_load_dword v5, v6, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s9, v5
  s_cmp_eq_u32 s9, 1
  s_cbranch_scc0 .Lflag_wait
  global_load_dword v5, v3, s[6:7]
  s_waitcnt vmcnt(0)
FINISH global_flag_ok

// Scalar loads go through a cache of their own.
BEGIN scalar_after_store
  ARGS
  global_store_dword v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
  s_load_dword s10, s[6:7], 0x4
  s_waitcnt lgkmcnt(0)
FINISH scalar_after_store

BEGIN scalar_after_store_ok
  ARGS
  global_store_dword v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
  s_dcache_inv
  s_waitcnt lgkmcnt(0)
  s_load_dword s10, s[6:7], 0x4
  s_waitcnt lgkmcnt(0)
FINISH scalar_after_store_ok
