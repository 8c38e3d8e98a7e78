// Conversions and modes. Arguments: in*, out*. Lane l of group g loads 4 dwords
// v[4:7] at 16 * (64 g + l); 4 dwords v[8:11] are stored there.
.include "kernel.inc"

.macro CONVERT name, before, instr, after
BEGIN \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  s_lshl_b32 s8, s2, 10
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  s_add_u32 s6, s6, s8
  s_addc_u32 s7, s7, 0
  global_load_dwordx4 v[4:7], v1, s[4:5]
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  s_waitcnt vmcnt(0)
  \before
  \instr
  \after
  global_store_dwordx4 v1, v[8:11], s[6:7]
FINISH \name
.endm
.macro PLAIN name, instr
CONVERT \name, , "\instr"
.endm
.macro SATURATING name, instr
CONVERT \name, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1", "\instr"
.endm

PLAIN fp8_to_f32, "v_cvt_pk_f32_fp8 v[8:9], v4"
PLAIN bf8_to_f32, "v_cvt_pk_f32_bf8 v[8:9], v4"
PLAIN byte2_to_f32, "v_cvt_f32_fp8_sdwa v8, v4 src0_sel:BYTE_2"
PLAIN f32_to_fp8, "v_cvt_pk_fp8_f32 v8, v4, v5"
PLAIN f32_to_bf8, "v_cvt_pk_bf8_f32 v8, v4, v5"
PLAIN f32_to_fp8_high, "v_cvt_pk_fp8_f32 v8, v4, v5 op_sel:[0,0,1]"
SATURATING f32_to_fp8_saturated, "v_cvt_pk_fp8_f32 v8, v4, v5"
SATURATING f32_to_bf8_saturated, "v_cvt_pk_bf8_f32 v8, v4, v5"
SATURATING f32_to_f16_saturated, "v_cvt_f16_f32 v8, v4"
PLAIN sr_fp8, "v_cvt_sr_fp8_f32 v8, v4, v5 op_sel:[0,0,1,0]"
PLAIN sr_bf16, "v_cvt_sr_bf16_f32 v8, v4, v5"
PLAIN scale_fp4_to_f32, "v_cvt_scalef32_pk_f32_fp4 v[8:9], v4, v5 op_sel:[1,0,0]"
PLAIN scale_f32_to_fp4, "v_cvt_scalef32_pk_fp4_f32 v8, v4, v5, v6 op_sel:[0,0,1,0]"
PLAIN scale_f32_to_fp8, "v_cvt_scalef32_pk_fp8_f32 v8, v4, v5, v6 op_sel:[0,0,0,1]"
PLAIN scale_fp8_to_f16, "v_cvt_scalef32_pk_f16_fp8 v8, v4, v5"
PLAIN scale_bf8_to_f32_byte3, "v_cvt_scalef32_f32_bf8 v8, v4, v5 op_sel:[1,1,0]"
PLAIN scale_f16_to_fp4, "v_cvt_scalef32_pk_fp4_f16 v8, v4, v5"

// Modes: round up, down, toward zero for f32 and f16.
CONVERT add_f32_up, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 1", "v_add_f32 v8, v4, v5"
CONVERT add_f32_down, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 2", "v_add_f32 v8, v4, v5"
CONVERT mul_f16_zero, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 12", "v_mul_f16 v8, v4, v5"
CONVERT add_f32_flushed, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", "v_add_f32 v8, v4, v5"

// 32 elements: f32 pairs of v[16:31], v[32:47] are written from v4 up in steps.
BEGIN scale_many
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 7, v0
  s_waitcnt lgkmcnt(0)
.irp n,0,1,2,3,4,5,6,7
  global_load_dwordx4 v[16+4*\n:19+4*\n], v1, s[4:5] offset:16*\n
.endr
  v_mov_b32 v4, 2.0
  s_waitcnt vmcnt(0)
  v_cvt_scalef32_2xpk16_fp6_f32 v[8:13], v[16:31], v[32:47], v4
  v_cvt_scalef32_pk32_f32_fp6 v[48:79], v[8:13], v4
.irp n,0,1,2,3,4,5,6,7
  global_store_dwordx4 v1, v[48+4*\n:51+4*\n], s[6:7] offset:16*\n
.endr
FINISH scale_many
