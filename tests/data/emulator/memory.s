// Buffer bounds, LDS transfers, transposing reads, atomics.
.include "kernel.inc"

// Arguments: in*, out*, bytes. v1 = 16 * lane; s[8:11] becomes a resource.
.macro ARGS
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s10, s[0:1], 0x10
  v_lshlrev_b32 v1, 4, v0
  s_mov_b32 s11, 0x27000
  s_waitcnt lgkmcnt(0)
.endm

BEGIN buffer_load_x4
  ARGS
  s_mov_b64 s[8:9], s[4:5]
  buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
FINISH buffer_load_x4

// soffset and the instruction's offset count in the range check.
BEGIN buffer_load_offsets
  ARGS
  s_mov_b64 s[8:9], s[4:5]
  s_movk_i32 s14, 0x20
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  buffer_load_dword v4, v1, s[8:11], s14 offen offset:12
  buffer_load_ushort v5, v1, s[8:11], 0 offen offset:6
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
FINISH buffer_load_offsets

BEGIN buffer_store_x4
  ARGS
  s_mov_b64 s[8:9], s[6:7]
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[4:7], v1, s[8:11], 0 offen
FINISH buffer_store_x4

// Records of 24 bytes; the argument counts records.
BEGIN buffer_struct
  ARGS
  s_mov_b64 s[8:9], s[4:5]
  s_or_b32 s9, s9, 24 << 16
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  buffer_load_dwordx2 v[4:5], v0, s[8:11], 0 idxen offset:8
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
FINISH buffer_struct

// 16 bytes a lane from memory to LDS at M0 + 64 + 16 * lane, each lane from the
// address of its neighbour (lane ^ 1), then back.
BEGIN dma_x4
  ARGS
  s_mov_b64 s[8:9], s[4:5]
  v_xor_b32 v2, 16, v1
  s_movk_i32 m0, 0x100
  s_nop 1
  buffer_load_dwordx4 v2, s[8:11], 0 offen offset:64 lds
  s_waitcnt vmcnt(0)
  ds_read_b128 v[4:7], v1 offset:320
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
FINISH dma_x4, 2048

BEGIN dma_global_x4
  ARGS
  s_mov_b32 m0, 0
  s_nop 1
  global_load_lds_dwordx4 v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_read_b128 v[4:7], v1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
FINISH dma_global_x4, 2048

// One dword a lane; odd lanes are off and leave LDS as it was.
BEGIN dma_dword
  ARGS
  v_lshlrev_b32 v2, 2, v0
  v_mov_b32 v3, -1
  ds_write_b32 v2, v3
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 0
  s_mov_b32 s14, 0x55555555
  s_mov_b32 s15, s14
  s_mov_b64 exec, s[14:15]
  global_load_lds_dword v2, s[4:5]
  s_mov_b64 exec, -1
  s_waitcnt vmcnt(0)
  ds_read_b32 v4, v2
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
FINISH dma_dword, 1024

// Lane l writes its 16 bytes at 16 * l; the reads take 8 (12) bytes at 16 * l.
.macro TRANSPOSED name, instr, reg
BEGIN \name
  ARGS
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b128 v1, v[4:7]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  \instr \reg, v1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[8:11], s[6:7]
FINISH \name, 1024
.endm
TRANSPOSED tr_b16, ds_read_b64_tr_b16, v[8:9]
TRANSPOSED tr_b8, ds_read_b64_tr_b8, v[8:9]
TRANSPOSED tr_b4, ds_read_b64_tr_b4, v[8:9]
TRANSPOSED tr_b6, ds_read_b96_tr_b6, v[8:10]

// All lanes of all groups on the same places. in: 8 dwords; out: old values.
BEGIN atomics
  ARGS
  v_mov_b32 v2, 0
  v_add_u32 v3, 1, v0
  global_atomic_add v2, v3, s[4:5]
  global_atomic_smax v2, v3, s[4:5] offset:4
  global_atomic_or v2, v3, s[4:5] offset:8
  v_cvt_f32_u32 v4, v3
  global_atomic_add_f32 v2, v4, s[4:5] offset:12
  v_mov_b32 v5, 0x3f803f80
  global_atomic_pk_add_bf16 v2, v5, s[4:5] offset:16
  v_mov_b32 v6, 0
  v_mov_b32 v7, 1
  global_atomic_add_x2 v2, v[6:7], s[4:5] offset:24
  v_mov_b32 v8, 7
  v_mov_b32 v9, 0
  global_atomic_cmpswap v10, v2, v[8:9], s[4:5] offset:20 sc0
  s_waitcnt vmcnt(0)
  v_mov_b32 v11, 0
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  global_store_dwordx4 v1, v[10:13], s[6:7]
FINISH atomics
