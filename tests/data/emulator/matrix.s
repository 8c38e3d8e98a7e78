// Written by gen_matrix.py.
.include "kernel.inc"

.macro LOAD
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 8, v0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[16:19], v1, s[4:5] offset:0
  global_load_dwordx4 v[20:23], v1, s[4:5] offset:16
  global_load_dwordx4 v[24:27], v1, s[4:5] offset:32
  global_load_dwordx4 v[28:31], v1, s[4:5] offset:48
  global_load_dwordx4 v[64:67], v1, s[4:5] offset:64
  global_load_dwordx4 v[68:71], v1, s[4:5] offset:80
  global_load_dwordx4 v[72:75], v1, s[4:5] offset:96
  global_load_dwordx4 v[76:79], v1, s[4:5] offset:112
  global_load_dwordx4 v[80:83], v1, s[4:5] offset:128
  global_load_dwordx4 v[84:87], v1, s[4:5] offset:144
  global_load_dwordx4 v[88:91], v1, s[4:5] offset:160
  global_load_dwordx4 v[92:95], v1, s[4:5] offset:176
  global_load_dwordx2 v[8:9], v1, s[4:5] offset:192
  s_waitcnt vmcnt(0)
.endm

.macro SAVE
  s_nop 15
  s_nop 15
  global_store_dwordx4 v1, v[64:67], s[6:7] offset:0
  global_store_dwordx4 v1, v[68:71], s[6:7] offset:16
  global_store_dwordx4 v1, v[72:75], s[6:7] offset:32
  global_store_dwordx4 v1, v[76:79], s[6:7] offset:48
  global_store_dwordx4 v1, v[80:83], s[6:7] offset:64
  global_store_dwordx4 v1, v[84:87], s[6:7] offset:80
  global_store_dwordx4 v1, v[88:91], s[6:7] offset:96
  global_store_dwordx4 v1, v[92:95], s[6:7] offset:112
.endm

BEGIN mfma_f32_16x16x32_bf16
  LOAD
  v_mfma_f32_16x16x32_bf16 v[64:67], v[16:19], v[24:27], v[64:67]
  SAVE
FINISH mfma_f32_16x16x32_bf16

BEGIN mfma_f32_32x32x16_bf16
  LOAD
  v_mfma_f32_32x32x16_bf16 v[64:79], v[16:19], v[24:27], v[64:79]
  SAVE
FINISH mfma_f32_32x32x16_bf16

BEGIN mfma_f32_16x16x32_f16
  LOAD
  v_mfma_f32_16x16x32_f16 v[64:67], v[16:19], v[24:27], v[64:67]
  SAVE
FINISH mfma_f32_16x16x32_f16

BEGIN mfma_f32_32x32x16_f16
  LOAD
  v_mfma_f32_32x32x16_f16 v[64:79], v[16:19], v[24:27], v[64:79]
  SAVE
FINISH mfma_f32_32x32x16_f16

BEGIN mfma_f32_16x16x16_f16
  LOAD
  v_mfma_f32_16x16x16_f16 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_16x16x16_f16

BEGIN mfma_f32_32x32x8_f16
  LOAD
  v_mfma_f32_32x32x8_f16 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_32x32x8_f16

BEGIN mfma_f32_16x16x16_bf16
  LOAD
  v_mfma_f32_16x16x16_bf16 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_16x16x16_bf16

BEGIN mfma_f32_32x32x8_bf16
  LOAD
  v_mfma_f32_32x32x8_bf16 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_32x32x8_bf16

BEGIN mfma_f32_32x32x4_2b_f16
  LOAD
  v_mfma_f32_32x32x4_2b_f16 v[64:95], v[16:17], v[24:25], v[64:95]
  SAVE
FINISH mfma_f32_32x32x4_2b_f16

BEGIN mfma_f32_16x16x4_4b_f16
  LOAD
  v_mfma_f32_16x16x4_4b_f16 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_16x16x4_4b_f16

BEGIN mfma_f32_4x4x4_16b_f16
  LOAD
  v_mfma_f32_4x4x4_16b_f16 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_4x4x4_16b_f16

BEGIN mfma_f32_32x32x4_2b_bf16
  LOAD
  v_mfma_f32_32x32x4_2b_bf16 v[64:95], v[16:17], v[24:25], v[64:95]
  SAVE
FINISH mfma_f32_32x32x4_2b_bf16

BEGIN mfma_f32_16x16x4_4b_bf16
  LOAD
  v_mfma_f32_16x16x4_4b_bf16 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_16x16x4_4b_bf16

BEGIN mfma_f32_4x4x4_16b_bf16
  LOAD
  v_mfma_f32_4x4x4_16b_bf16 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_4x4x4_16b_bf16

BEGIN mfma_f32_32x32x1_2b_f32
  LOAD
  v_mfma_f32_32x32x1_2b_f32 v[64:95], v16, v24, v[64:95]
  SAVE
FINISH mfma_f32_32x32x1_2b_f32

BEGIN mfma_f32_16x16x1_4b_f32
  LOAD
  v_mfma_f32_16x16x1_4b_f32 v[64:79], v16, v24, v[64:79]
  SAVE
FINISH mfma_f32_16x16x1_4b_f32

BEGIN mfma_f32_4x4x1_16b_f32
  LOAD
  v_mfma_f32_4x4x1_16b_f32 v[64:67], v16, v24, v[64:67]
  SAVE
FINISH mfma_f32_4x4x1_16b_f32

BEGIN mfma_f32_32x32x2_f32
  LOAD
  v_mfma_f32_32x32x2_f32 v[64:79], v16, v24, v[64:79]
  SAVE
FINISH mfma_f32_32x32x2_f32

BEGIN mfma_f32_16x16x4_f32
  LOAD
  v_mfma_f32_16x16x4_f32 v[64:67], v16, v24, v[64:67]
  SAVE
FINISH mfma_f32_16x16x4_f32

BEGIN mfma_i32_16x16x64_i8
  LOAD
  v_mfma_i32_16x16x64_i8 v[64:67], v[16:19], v[24:27], v[64:67]
  SAVE
FINISH mfma_i32_16x16x64_i8

BEGIN mfma_i32_32x32x32_i8
  LOAD
  v_mfma_i32_32x32x32_i8 v[64:79], v[16:19], v[24:27], v[64:79]
  SAVE
FINISH mfma_i32_32x32x32_i8

BEGIN mfma_i32_32x32x4_2b_i8
  LOAD
  v_mfma_i32_32x32x4_2b_i8 v[64:95], v16, v24, v[64:95]
  SAVE
FINISH mfma_i32_32x32x4_2b_i8

BEGIN mfma_i32_16x16x4_4b_i8
  LOAD
  v_mfma_i32_16x16x4_4b_i8 v[64:79], v16, v24, v[64:79]
  SAVE
FINISH mfma_i32_16x16x4_4b_i8

BEGIN mfma_i32_4x4x4_16b_i8
  LOAD
  v_mfma_i32_4x4x4_16b_i8 v[64:67], v16, v24, v[64:67]
  SAVE
FINISH mfma_i32_4x4x4_16b_i8

BEGIN mfma_i32_32x32x16_i8
  LOAD
  v_mfma_i32_32x32x16_i8 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_i32_32x32x16_i8

BEGIN mfma_i32_16x16x32_i8
  LOAD
  v_mfma_i32_16x16x32_i8 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_i32_16x16x32_i8

BEGIN mfma_f64_16x16x4_f64
  LOAD
  v_mfma_f64_16x16x4_f64 v[64:71], v[16:17], v[24:25], v[64:71]
  SAVE
FINISH mfma_f64_16x16x4_f64

BEGIN mfma_f64_4x4x4_4b_f64
  LOAD
  v_mfma_f64_4x4x4_4b_f64 v[64:65], v[16:17], v[24:25], v[64:65]
  SAVE
FINISH mfma_f64_4x4x4_4b_f64

BEGIN mfma_f32_16x16x32_fp8_fp8
  LOAD
  v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_16x16x32_fp8_fp8

BEGIN mfma_f32_32x32x16_fp8_fp8
  LOAD
  v_mfma_f32_32x32x16_fp8_fp8 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_32x32x16_fp8_fp8

BEGIN mfma_f32_16x16x32_fp8_bf8
  LOAD
  v_mfma_f32_16x16x32_fp8_bf8 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_16x16x32_fp8_bf8

BEGIN mfma_f32_32x32x16_fp8_bf8
  LOAD
  v_mfma_f32_32x32x16_fp8_bf8 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_32x32x16_fp8_bf8

BEGIN mfma_f32_16x16x32_bf8_fp8
  LOAD
  v_mfma_f32_16x16x32_bf8_fp8 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_16x16x32_bf8_fp8

BEGIN mfma_f32_32x32x16_bf8_fp8
  LOAD
  v_mfma_f32_32x32x16_bf8_fp8 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_32x32x16_bf8_fp8

BEGIN mfma_f32_16x16x32_bf8_bf8
  LOAD
  v_mfma_f32_16x16x32_bf8_bf8 v[64:67], v[16:17], v[24:25], v[64:67]
  SAVE
FINISH mfma_f32_16x16x32_bf8_bf8

BEGIN mfma_f32_32x32x16_bf8_bf8
  LOAD
  v_mfma_f32_32x32x16_bf8_bf8 v[64:79], v[16:17], v[24:25], v[64:79]
  SAVE
FINISH mfma_f32_32x32x16_bf8_bf8

BEGIN smfmac_f32_16x16x32_f16
  LOAD
  v_smfmac_f32_16x16x32_f16 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_16x16x32_f16

BEGIN smfmac_f32_32x32x16_f16
  LOAD
  v_smfmac_f32_32x32x16_f16 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_32x32x16_f16

BEGIN smfmac_f32_16x16x32_bf16
  LOAD
  v_smfmac_f32_16x16x32_bf16 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_16x16x32_bf16

BEGIN smfmac_f32_32x32x16_bf16
  LOAD
  v_smfmac_f32_32x32x16_bf16 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_32x32x16_bf16

BEGIN smfmac_i32_16x16x64_i8
  LOAD
  v_smfmac_i32_16x16x64_i8 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_i32_16x16x64_i8

BEGIN smfmac_i32_32x32x32_i8
  LOAD
  v_smfmac_i32_32x32x32_i8 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_i32_32x32x32_i8

BEGIN smfmac_f32_16x16x64_f16
  LOAD
  v_smfmac_f32_16x16x64_f16 v[64:67], v[16:19], v[24:31], v8
  SAVE
FINISH smfmac_f32_16x16x64_f16

BEGIN smfmac_f32_32x32x32_f16
  LOAD
  v_smfmac_f32_32x32x32_f16 v[64:79], v[16:19], v[24:31], v8
  SAVE
FINISH smfmac_f32_32x32x32_f16

BEGIN smfmac_f32_16x16x64_bf16
  LOAD
  v_smfmac_f32_16x16x64_bf16 v[64:67], v[16:19], v[24:31], v8
  SAVE
FINISH smfmac_f32_16x16x64_bf16

BEGIN smfmac_f32_32x32x32_bf16
  LOAD
  v_smfmac_f32_32x32x32_bf16 v[64:79], v[16:19], v[24:31], v8
  SAVE
FINISH smfmac_f32_32x32x32_bf16

BEGIN smfmac_f32_16x16x64_fp8_fp8
  LOAD
  v_smfmac_f32_16x16x64_fp8_fp8 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_16x16x64_fp8_fp8

BEGIN smfmac_f32_32x32x32_fp8_fp8
  LOAD
  v_smfmac_f32_32x32x32_fp8_fp8 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_32x32x32_fp8_fp8

BEGIN smfmac_f32_16x16x64_fp8_bf8
  LOAD
  v_smfmac_f32_16x16x64_fp8_bf8 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_16x16x64_fp8_bf8

BEGIN smfmac_f32_32x32x32_fp8_bf8
  LOAD
  v_smfmac_f32_32x32x32_fp8_bf8 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_32x32x32_fp8_bf8

BEGIN smfmac_f32_16x16x64_bf8_fp8
  LOAD
  v_smfmac_f32_16x16x64_bf8_fp8 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_16x16x64_bf8_fp8

BEGIN smfmac_f32_32x32x32_bf8_fp8
  LOAD
  v_smfmac_f32_32x32x32_bf8_fp8 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_32x32x32_bf8_fp8

BEGIN smfmac_f32_16x16x64_bf8_bf8
  LOAD
  v_smfmac_f32_16x16x64_bf8_bf8 v[64:67], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_16x16x64_bf8_bf8

BEGIN smfmac_f32_32x32x32_bf8_bf8
  LOAD
  v_smfmac_f32_32x32x32_bf8_bf8 v[64:79], v[16:17], v[24:27], v8
  SAVE
FINISH smfmac_f32_32x32x32_bf8_bf8

BEGIN smfmac_abid_f32_16x16x64_f16
  LOAD
  v_smfmac_f32_16x16x64_f16 v[64:67], v[16:19], v[24:31], v8 abid:1
  SAVE
FINISH smfmac_abid_f32_16x16x64_f16

BEGIN scale_16x16x128_fp8_fp8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:31], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:0 blgp:0
  SAVE
FINISH scale_16x16x128_fp8_fp8

BEGIN scale_16x16x128_fp8_bf8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:31], v[64:67], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,0,0] cbsz:0 blgp:1
  SAVE
FINISH scale_16x16x128_fp8_bf8

BEGIN scale_16x16x128_fp8_fp6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:29], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,1,0] cbsz:0 blgp:2
  SAVE
FINISH scale_16x16x128_fp8_fp6

BEGIN scale_16x16x128_fp8_bf6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:29], v[64:67], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,1,0] cbsz:0 blgp:3
  SAVE
FINISH scale_16x16x128_fp8_bf6

BEGIN scale_16x16x128_fp8_fp4
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:27], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:0 blgp:4
  SAVE
FINISH scale_16x16x128_fp8_fp4

BEGIN scale_16x16x128_bf8_fp8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:31], v[64:67], v8, v9 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:1 blgp:0
  SAVE
FINISH scale_16x16x128_bf8_fp8

BEGIN scale_16x16x128_bf8_bf8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:31], v[64:67], v8, v9 op_sel:[1,1,0] op_sel_hi:[0,0,0] cbsz:1 blgp:1
  SAVE
FINISH scale_16x16x128_bf8_bf8

BEGIN scale_16x16x128_bf8_fp6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:29], v[64:67], v8, v9 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:1 blgp:2
  SAVE
FINISH scale_16x16x128_bf8_fp6

BEGIN scale_16x16x128_bf8_bf6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:29], v[64:67], v8, v9 op_sel:[1,1,0] op_sel_hi:[0,1,0] cbsz:1 blgp:3
  SAVE
FINISH scale_16x16x128_bf8_bf6

BEGIN scale_16x16x128_bf8_fp4
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:27], v[64:67], v8, v9 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:1 blgp:4
  SAVE
FINISH scale_16x16x128_bf8_fp4

BEGIN scale_16x16x128_fp6_fp8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:31], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[1,0,0] cbsz:2 blgp:0
  SAVE
FINISH scale_16x16x128_fp6_fp8

BEGIN scale_16x16x128_fp6_bf8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:31], v[64:67], v8, v9 op_sel:[0,1,0] op_sel_hi:[1,0,0] cbsz:2 blgp:1
  SAVE
FINISH scale_16x16x128_fp6_bf8

BEGIN scale_16x16x128_fp6_fp6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:29], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[1,1,0] cbsz:2 blgp:2
  SAVE
FINISH scale_16x16x128_fp6_fp6

BEGIN scale_16x16x128_fp6_bf6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:29], v[64:67], v8, v9 op_sel:[0,1,0] op_sel_hi:[1,1,0] cbsz:2 blgp:3
  SAVE
FINISH scale_16x16x128_fp6_bf6

BEGIN scale_16x16x128_fp6_fp4
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:27], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[1,0,0] cbsz:2 blgp:4
  SAVE
FINISH scale_16x16x128_fp6_fp4

BEGIN scale_16x16x128_bf6_fp8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:31], v[64:67], v8, v9 op_sel:[1,0,0] op_sel_hi:[1,0,0] cbsz:3 blgp:0
  SAVE
FINISH scale_16x16x128_bf6_fp8

BEGIN scale_16x16x128_bf6_bf8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:31], v[64:67], v8, v9 op_sel:[1,1,0] op_sel_hi:[1,0,0] cbsz:3 blgp:1
  SAVE
FINISH scale_16x16x128_bf6_bf8

BEGIN scale_16x16x128_bf6_fp6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:29], v[64:67], v8, v9 op_sel:[1,0,0] op_sel_hi:[1,1,0] cbsz:3 blgp:2
  SAVE
FINISH scale_16x16x128_bf6_fp6

BEGIN scale_16x16x128_bf6_bf6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:29], v[64:67], v8, v9 op_sel:[1,1,0] op_sel_hi:[1,1,0] cbsz:3 blgp:3
  SAVE
FINISH scale_16x16x128_bf6_bf6

BEGIN scale_16x16x128_bf6_fp4
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:21], v[24:27], v[64:67], v8, v9 op_sel:[1,0,0] op_sel_hi:[1,0,0] cbsz:3 blgp:4
  SAVE
FINISH scale_16x16x128_bf6_fp4

BEGIN scale_16x16x128_fp4_fp8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[24:31], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:0
  SAVE
FINISH scale_16x16x128_fp4_fp8

BEGIN scale_16x16x128_fp4_bf8
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[24:31], v[64:67], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,0,0] cbsz:4 blgp:1
  SAVE
FINISH scale_16x16x128_fp4_bf8

BEGIN scale_16x16x128_fp4_fp6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[24:29], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,1,0] cbsz:4 blgp:2
  SAVE
FINISH scale_16x16x128_fp4_fp6

BEGIN scale_16x16x128_fp4_bf6
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[24:29], v[64:67], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,1,0] cbsz:4 blgp:3
  SAVE
FINISH scale_16x16x128_fp4_bf6

BEGIN scale_16x16x128_fp4_fp4
  LOAD
  v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[24:27], v[64:67], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:4
  SAVE
FINISH scale_16x16x128_fp4_fp4

BEGIN plain_16x16x128_fp8_fp8
  LOAD
  v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:31], v[64:67]
  SAVE
FINISH plain_16x16x128_fp8_fp8

BEGIN scale_32x32x64_fp8_fp8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:31], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:0 blgp:0
  SAVE
FINISH scale_32x32x64_fp8_fp8

BEGIN scale_32x32x64_fp8_bf8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:31], v[64:79], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,0,0] cbsz:0 blgp:1
  SAVE
FINISH scale_32x32x64_fp8_bf8

BEGIN scale_32x32x64_fp8_fp6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:29], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,1,0] cbsz:0 blgp:2
  SAVE
FINISH scale_32x32x64_fp8_fp6

BEGIN scale_32x32x64_fp8_bf6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:29], v[64:79], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,1,0] cbsz:0 blgp:3
  SAVE
FINISH scale_32x32x64_fp8_bf6

BEGIN scale_32x32x64_fp8_fp4
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:27], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:0 blgp:4
  SAVE
FINISH scale_32x32x64_fp8_fp4

BEGIN scale_32x32x64_bf8_fp8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:31], v[64:79], v8, v9 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:1 blgp:0
  SAVE
FINISH scale_32x32x64_bf8_fp8

BEGIN scale_32x32x64_bf8_bf8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:31], v[64:79], v8, v9 op_sel:[1,1,0] op_sel_hi:[0,0,0] cbsz:1 blgp:1
  SAVE
FINISH scale_32x32x64_bf8_bf8

BEGIN scale_32x32x64_bf8_fp6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:29], v[64:79], v8, v9 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:1 blgp:2
  SAVE
FINISH scale_32x32x64_bf8_fp6

BEGIN scale_32x32x64_bf8_bf6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:29], v[64:79], v8, v9 op_sel:[1,1,0] op_sel_hi:[0,1,0] cbsz:1 blgp:3
  SAVE
FINISH scale_32x32x64_bf8_bf6

BEGIN scale_32x32x64_bf8_fp4
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:27], v[64:79], v8, v9 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:1 blgp:4
  SAVE
FINISH scale_32x32x64_bf8_fp4

BEGIN scale_32x32x64_fp6_fp8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:31], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[1,0,0] cbsz:2 blgp:0
  SAVE
FINISH scale_32x32x64_fp6_fp8

BEGIN scale_32x32x64_fp6_bf8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:31], v[64:79], v8, v9 op_sel:[0,1,0] op_sel_hi:[1,0,0] cbsz:2 blgp:1
  SAVE
FINISH scale_32x32x64_fp6_bf8

BEGIN scale_32x32x64_fp6_fp6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:29], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[1,1,0] cbsz:2 blgp:2
  SAVE
FINISH scale_32x32x64_fp6_fp6

BEGIN scale_32x32x64_fp6_bf6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:29], v[64:79], v8, v9 op_sel:[0,1,0] op_sel_hi:[1,1,0] cbsz:2 blgp:3
  SAVE
FINISH scale_32x32x64_fp6_bf6

BEGIN scale_32x32x64_fp6_fp4
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:27], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[1,0,0] cbsz:2 blgp:4
  SAVE
FINISH scale_32x32x64_fp6_fp4

BEGIN scale_32x32x64_bf6_fp8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:31], v[64:79], v8, v9 op_sel:[1,0,0] op_sel_hi:[1,0,0] cbsz:3 blgp:0
  SAVE
FINISH scale_32x32x64_bf6_fp8

BEGIN scale_32x32x64_bf6_bf8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:31], v[64:79], v8, v9 op_sel:[1,1,0] op_sel_hi:[1,0,0] cbsz:3 blgp:1
  SAVE
FINISH scale_32x32x64_bf6_bf8

BEGIN scale_32x32x64_bf6_fp6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:29], v[64:79], v8, v9 op_sel:[1,0,0] op_sel_hi:[1,1,0] cbsz:3 blgp:2
  SAVE
FINISH scale_32x32x64_bf6_fp6

BEGIN scale_32x32x64_bf6_bf6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:29], v[64:79], v8, v9 op_sel:[1,1,0] op_sel_hi:[1,1,0] cbsz:3 blgp:3
  SAVE
FINISH scale_32x32x64_bf6_bf6

BEGIN scale_32x32x64_bf6_fp4
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[24:27], v[64:79], v8, v9 op_sel:[1,0,0] op_sel_hi:[1,0,0] cbsz:3 blgp:4
  SAVE
FINISH scale_32x32x64_bf6_fp4

BEGIN scale_32x32x64_fp4_fp8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:19], v[24:31], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:0
  SAVE
FINISH scale_32x32x64_fp4_fp8

BEGIN scale_32x32x64_fp4_bf8
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:19], v[24:31], v[64:79], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,0,0] cbsz:4 blgp:1
  SAVE
FINISH scale_32x32x64_fp4_bf8

BEGIN scale_32x32x64_fp4_fp6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:19], v[24:29], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,1,0] cbsz:4 blgp:2
  SAVE
FINISH scale_32x32x64_fp4_fp6

BEGIN scale_32x32x64_fp4_bf6
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:19], v[24:29], v[64:79], v8, v9 op_sel:[0,1,0] op_sel_hi:[0,1,0] cbsz:4 blgp:3
  SAVE
FINISH scale_32x32x64_fp4_bf6

BEGIN scale_32x32x64_fp4_fp4
  LOAD
  v_mfma_scale_f32_32x32x64_f8f6f4 v[64:79], v[16:19], v[24:27], v[64:79], v8, v9 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:4
  SAVE
FINISH scale_32x32x64_fp4_fp4

BEGIN plain_32x32x64_fp8_fp8
  LOAD
  v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[16:23], v[24:31], v[64:79]
  SAVE
FINISH plain_32x32x64_fp8_fp8

BEGIN acc_f32_16x16x32_bf16
  LOAD
  v_accvgpr_write_b32 a0, v16
  v_accvgpr_write_b32 a1, v17
  v_accvgpr_write_b32 a2, v18
  v_accvgpr_write_b32 a3, v19
  v_accvgpr_write_b32 a4, v20
  v_accvgpr_write_b32 a5, v21
  v_accvgpr_write_b32 a6, v22
  v_accvgpr_write_b32 a7, v23
  s_nop 4
  v_mfma_f32_16x16x32_bf16 a[8:11], a[0:3], v[24:27], 1.0
  s_nop 15
  v_accvgpr_read_b32 v64, a8
  v_accvgpr_read_b32 v65, a9
  v_accvgpr_read_b32 v66, a10
  v_accvgpr_read_b32 v67, a11
  SAVE
FINISH acc_f32_16x16x32_bf16

BEGIN noexec_f32_16x16x32_bf16
  LOAD
  s_mov_b64 exec, 1
  v_mfma_f32_16x16x32_bf16 v[64:67], v[16:19], v[24:27], v[64:67]
  s_mov_b64 exec, -1
  SAVE
FINISH noexec_f32_16x16x32_bf16
