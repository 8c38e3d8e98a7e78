// Undefined values in lane 5 of v2, from each kind of source into each place
// where they must not be; then on ways between, and kernels in which they do
// no harm. Arguments: in, of whose dwords number 5 is not written; out.
.include "kernel.inc"

.macro ARGS
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
.endm

.macro BUT_LANE_5
  s_mov_b32 exec_lo, 0xffffffdf
.endm
.macro ALL_LANES
  s_mov_b64 exec, -1
.endm

// ---- Sources: v2 = 4 in all lanes but one ----

.macro FROM_register
  BUT_LANE_5
  v_mov_b32 v2, 4
  ALL_LANES
.endm
.macro FROM_lds
  v_mov_b32 v3, 4
  BUT_LANE_5
  ds_write_b32 v1, v3
  ALL_LANES
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
.endm
.macro FROM_scratch
  v_mov_b32 v3, 4
  BUT_LANE_5
  scratch_store_dword off, v3, off offset:8
  ALL_LANES
  scratch_load_dword v2, off, off offset:8
  s_waitcnt vmcnt(0)
.endm
.macro FROM_global
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_and_b32 v2, 4, v2
.endm

// ---- Sinks ----

.macro TO_store
  global_store_dword v1, v2, s[6:7]
.endm
.macro TO_address
  global_load_dword v3, v2, s[6:7]
.endm
.macro TO_flat
  v_mov_b32 v3, 0
  v_lshl_add_u64 v[4:5], s[6:7], 0, v[2:3]
  flat_load_dword v6, v[4:5]
.endm
.macro TO_lds
  ds_write_b32 v2, v0
.endm
.macro TO_scalar
  v_readlane_b32 s8, v2, 5
  s_load_dword s9, s[6:7], s8
.endm
.macro TO_resource
  v_readlane_b32 s10, v2, 5
  s_mov_b64 s[8:9], s[6:7]
  s_mov_b32 s11, 0
  buffer_load_dword v3, v1, s[8:11], 0 offen
.endm
.macro TO_atomic
  global_atomic_add v1, v2, s[6:7]
.endm
.macro TO_scc
  v_readlane_b32 s8, v2, 5
  s_cmp_eq_u32 s8, 4
  s_cbranch_scc1 0
.endm
.macro TO_vcc
  v_cmp_ne_u32 vcc, 4, v2
  s_cbranch_vccnz 0
.endm
.macro TO_exec
  v_cmp_eq_u32 vcc, 4, v2
  s_and_saveexec_b64 s[8:9], vcc
  ALL_LANES
.endm
.macro TO_jump
  v_readlane_b32 s8, v2, 5
  s_mov_b32 s9, 0
  s_setpc_b64 s[8:9]
.endm

.irp source, register, lds, scratch, global
.irp sink, store, address, flat, lds, scalar, resource, atomic, scc, vcc, exec, jump
BEGIN \source\()_\sink
  ARGS
  FROM_\source
  TO_\sink
FINISH \source\()_\sink, 1024, 16
.endr
.endr

// ---- Ways: what follows an undefined v2 and ends in v2 ----

.macro WAY name, lds=0, scratch=0
BEGIN way_\name
  ARGS
  FROM_register
  VIA_\name
  TO_store
FINISH way_\name, \lds, \scratch
.endm

.macro VIA_arithmetic
  v_add_u32 v3, 3, v2
  v_mul_lo_u32 v3, v3, v0
  v_sub_u32 v3, v3, v0
  v_lshl_add_u32 v2, v3, 2, v0
.endm
.macro VIA_bits
  v_xor_b32 v3, v2, v0
  v_bfi_b32 v3, -1, v3, v0
  v_alignbit_b32 v2, v3, v3, 8
.endm
.macro VIA_float
  v_cvt_f32_u32 v3, v2
  v_fma_f32 v3, v3, 2.0, v3
  v_cvt_f16_f32 v3, v3
  v_pk_add_f16 v3, v3, v3
  v_cvt_f32_f16 v2, v3
.endm
.macro VIA_double
  v_cvt_f64_u32 v[4:5], v2
  v_add_f64 v[4:5], v[4:5], 1.0
  v_cvt_u32_f64 v2, v[4:5]
.endm
.macro VIA_compare
  v_cmp_eq_u32 vcc, 4, v2
  v_cndmask_b32 v2, 1, 2, vcc
.endm
.macro VIA_carry
  v_mov_b32 v4, -1
  v_add_co_u32 v3, vcc, v2, v4
  v_addc_co_u32 v2, vcc, v0, v0, vcc
.endm
.macro VIA_accumulator
  v_accvgpr_write_b32 a7, v2
  s_nop 4
  v_accvgpr_read_b32 v2, a7
.endm
.macro VIA_spill
  scratch_store_dword off, v2, off offset:4
  s_waitcnt vmcnt(0)
  v_mov_b32 v2, 0
  scratch_load_dword v2, off, off offset:4
  s_waitcnt vmcnt(0)
.endm
.macro VIA_exchange
  v_mov_b32 v4, v1
  ds_bpermute_b32 v2, v4, v2
  s_waitcnt lgkmcnt(0)
.endm
.macro VIA_lds
  v_mov_b32 v3, v0
  ds_write_b64 v1, v[2:3]
  s_waitcnt lgkmcnt(0)
  ds_read_u8 v2, v1
  s_waitcnt lgkmcnt(0)
.endm
.macro VIA_scalar
  v_readlane_b32 s8, v2, 5
  s_mul_i32 s8, s8, 3
  s_bfe_u32 s8, s8, 0x10001
  v_mov_b32 v2, 4
  v_writelane_b32 v2, s8, 5
.endm

WAY arithmetic
WAY bits
WAY float
WAY double
WAY compare
WAY carry
WAY accumulator
WAY spill, 0, 16
WAY exchange
WAY lds, 1024
WAY scalar

// A quad permutation takes lane 5 to lane 6.
BEGIN way_dpp
  ARGS
  FROM_register
  v_mov_b32 v3, 0
  s_nop 1
  v_mov_b32_dpp v3, v2 quad_perm:[0,3,1,2] row_mask:0xf bank_mask:0xf
  v_mov_b32 v2, v3
  TO_store
FINISH way_dpp

// Lane 5 holds row 5 of A; row 5 of D is register 1 of lanes 16 to 31.
.macro PRODUCT
  v_mov_b32 v3, 0
  v_mov_b64 v[4:5], 0
  v_mov_b64 v[8:9], 0
  v_mov_b64 v[10:11], 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[4:5], v[8:11]
  s_nop 15
.endm
BEGIN way_matrix
  ARGS
  FROM_register
  PRODUCT
  v_mov_b32 v2, v13
  TO_store
FINISH way_matrix

// As above with the operands in the other order: column 5 of all rows.
BEGIN way_matrix_column
  ARGS
  FROM_register
  v_mov_b32 v3, 0
  v_mov_b64 v[4:5], 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[2:3], 0
  s_nop 15
  v_mov_b32 v2, v15
  TO_store
FINISH way_matrix_column

// Memory to LDS past the registers.
BEGIN way_transfer
  ARGS
  s_mov_b32 m0, 0
  s_nop 1
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  TO_store
FINISH way_transfer, 1024

// A transposing read: lane 5 holds columns 4 to 7 of row 1, which go to the
// high half of lanes 4 to 7.
BEGIN way_transpose
  ARGS
  v_lshlrev_b32 v4, 3, v0
  v_mov_b64 v[2:3], 0
  BUT_LANE_5
  ds_write_b64 v4, v[2:3]
  ALL_LANES
  s_waitcnt lgkmcnt(0)
  ds_read_b64_tr_b16 v[2:3], v4
  s_waitcnt lgkmcnt(0)
  TO_store
FINISH way_transpose, 1024

// A scalar load of a dword that was not written.
BEGIN way_scalar_load
  ARGS
  s_load_dword s8, s[4:5], 20
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s8
  TO_store
FINISH way_scalar_load

// ---- No harm ----

// Sixteen bytes whose second dword was not written; a mask takes it out.
BEGIN clean_masked_tail
  ARGS
  global_load_dwordx4 v[4:7], v1, s[4:5] offset:16
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 1, v0
  v_cndmask_b32 v2, v4, 0, vcc
  TO_store
FINISH clean_masked_tail

BEGIN clean_select
  ARGS
  FROM_register
  v_cmp_eq_u32 vcc, 5, v0
  v_cndmask_b32 v2, v2, v0, vcc
  TO_store
FINISH clean_select

// The high half of an addend that the low half of the sum does not see.
BEGIN clean_high_half
  ARGS
  v_mov_b32 v4, 9
  v_mad_u64_u32 v[6:7], s[8:9], v0, v0, v[4:5]
  v_lshl_add_u64 v[6:7], v[6:7], 2, v[4:5]
  v_mov_b32 v2, v6
  TO_store
FINISH clean_high_half

BEGIN clean_and
  ARGS
  FROM_register
  v_cmp_ne_u32 vcc, 5, v0
  v_cndmask_b32 v3, 0, -1, vcc
  v_and_b32 v2, v2, v3
  TO_store
FINISH clean_and

BEGIN clean_product
  ARGS
  FROM_register
  v_cmp_ne_u32 vcc, 5, v0
  v_cndmask_b32 v3, 0, 2, vcc
  v_mul_lo_u32 v2, v2, v3
  TO_store
FINISH clean_product

// Only lanes that are off are undefined.
BEGIN clean_exec
  ARGS
  FROM_register
  BUT_LANE_5
  v_add_f32 v2, v2, v2
  TO_store
  v_cmp_ne_u32 vcc, 4, v2
  s_cbranch_vccnz 0
  ALL_LANES
FINISH clean_exec

// i < n && a[i] != 0, where a[i] is not written for i >= n.
BEGIN clean_short_circuit
  ARGS
  FROM_register
  v_cmp_ne_u32 s[8:9], 5, v0
  v_cmp_ne_u32 vcc, 0, v2
  s_and_b64 vcc, s[8:9], vcc
  s_and_saveexec_b64 s[10:11], vcc
  TO_store
  s_mov_b64 exec, s[10:11]
  s_cbranch_vccz 0
FINISH clean_short_circuit

// The defined bits decide.
BEGIN clean_comparison
  ARGS
  FROM_register
  v_or_b32 v2, 0x100, v2
  v_cmp_gt_u32 vcc, 0x100, v2
  s_and_saveexec_b64 s[8:9], vcc
  s_mov_b64 exec, s[8:9]
  v_cndmask_b32 v2, 1, 2, vcc
  TO_store
FINISH clean_comparison

BEGIN clean_shift
  ARGS
  FROM_register
  v_lshlrev_b32 v3, 16, v2
  v_or_b32 v3, v0, v3
  v_and_b32 v2, 0xffff, v3
  global_store_short v1, v3, s[6:7]
FINISH clean_shift

// Moved about and never used.
BEGIN clean_moves
  ARGS
  FROM_register
  v_mov_b32 v3, v2
  ds_write_b64 v1, v[2:3]
  scratch_store_dword off, v2, off
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_read_b32 v4, v1
  scratch_load_dword v5, off, off
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_accvgpr_write_b32 a1, v5
  v_readlane_b32 s8, v4, 5
  s_cmp_eq_u32 s8, 0
  s_cselect_b32 s8, s8, s9
  v_mov_b32 v2, v0
  TO_store
FINISH clean_moves, 1024, 16

// Past the end of a buffer there are zeros.
BEGIN clean_buffer_end
  ARGS
  s_mov_b64 s[8:9], s[4:5]
  s_mov_b32 s10, 20
  s_mov_b32 s11, 0
  buffer_load_dword v2, v1, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
  TO_store
FINISH clean_buffer_end

// Half a register is loaded, half a register is stored.
BEGIN clean_half
  ARGS
  global_load_short_d16 v9, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f16 v2, v9, v9
  global_store_short v1, v9, s[6:7]
  TO_store
FINISH clean_half

// Rows of D that do not meet row 5 of A.
BEGIN clean_matrix
  ARGS
  FROM_register
  PRODUCT
  v_mov_b32 v2, v12
  TO_store
FINISH clean_matrix
