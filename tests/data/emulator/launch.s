// What a kernel finds at entry. Metadata gives the arguments, also hidden ones.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 6

.text
.globl where
.p2align 8
.type where,@function
// out[global id] = {x, y, z of the work-item, group, block count, group size,
// dynamic LDS bytes, factor}
where:
  s_load_dwordx2 s[8:9], s[2:3], 0x0
  s_load_dword s10, s[2:3], 0x8
  s_load_dwordx2 s[12:13], s[2:3], 0x10
  s_load_dword s14, s[2:3], 0x1c
  s_load_dword s15, s[2:3], 0x28
  s_load_dword s16, s[0:1], 0x4
  s_waitcnt lgkmcnt(0)
  v_and_b32 v2, 0x3ff, v0
  v_bfe_u32 v3, v0, 10, 10
  v_bfe_u32 v4, v0, 20, 10
  v_lshl_or_b32 v6, v3, 8, v2
  v_lshl_or_b32 v6, v4, 16, v6
  s_lshl_b32 s17, s7, 8
  s_or_b32 s17, s17, s6
  v_mov_b32 v7, s17
  s_lshl_b32 s18, s13, 8
  s_or_b32 s18, s18, s12
  v_mov_b32 v8, s18
  s_and_b32 s16, s16, 0xffff
  s_and_b32 s14, s14, 0xffff
  s_cmp_eq_u32 s16, s14
  s_cselect_b32 s16, s14, -1
  v_mov_b32 v9, s16
  v_mov_b32 v10, s15
  v_mov_b32 v11, s10
  // global id = ((group y * count x + group x) * size) + flat id
  s_mul_i32 s19, s7, s12
  s_add_i32 s19, s19, s6
  s_mul_i32 s19, s19, 12
  v_mul_u32_u24 v12, 3, v3
  v_add_u32 v12, v12, v2
  v_mul_u32_u24 v13, 6, v4
  v_add3_u32 v12, v12, v13, s19
  v_mul_u32_u24 v12, 24, v12
  global_store_dwordx4 v12, v[6:9], s[8:9]
  global_store_dwordx2 v12, v[10:11], s[8:9] offset:16
  s_endpgm
.size where, .-where

.globl preloaded
.p2align 8
.type preloaded,@function
// Arguments arrive in s[2:4]; the first 256 bytes load them the old way and
// would store another value.
preloaded:
  v_mov_b32 v3, -1
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, 0
  global_store_dword v2, v3, s[2:3]
  s_endpgm
  .p2align 8
  v_mov_b32 v2, 0
  v_mov_b32 v3, s4
  global_store_dword v2, v3, s[2:3]
  s_endpgm
.size preloaded, .-preloaded

.globl counter
.type counter,@object
.section .data,"aw"
.p2align 3
counter:
  .quad 41
.size counter, 8

.section .rodata,"a"
.p2align 6
.amdhsa_kernel where
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 6
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_kernarg_size 48
  .amdhsa_next_free_vgpr 16
  .amdhsa_accum_offset 16
  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel
.p2align 6
.amdhsa_kernel preloaded
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 3
  .amdhsa_user_sgpr_kernarg_preload_offset 0
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_accum_offset 8
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: where
    .symbol: where.kd
    .kernarg_segment_size: 48
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 16
    .agpr_count: 0
    .max_flat_workgroup_size: 12
    .reqd_workgroup_size: [3, 2, 2]
    .args:
      - {.value_kind: global_buffer, .offset: 0, .size: 8, .address_space: global}
      - {.value_kind: by_value, .offset: 8, .size: 4}
      - {.value_kind: hidden_block_count_x, .offset: 16, .size: 4}
      - {.value_kind: hidden_block_count_y, .offset: 20, .size: 4}
      - {.value_kind: hidden_block_count_z, .offset: 24, .size: 4}
      - {.value_kind: hidden_group_size_x, .offset: 28, .size: 2}
      - {.value_kind: hidden_group_size_y, .offset: 30, .size: 2}
      - {.value_kind: hidden_dynamic_lds_size, .offset: 40, .size: 4}
  - .name: preloaded
    .symbol: preloaded.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .agpr_count: 0
    .max_flat_workgroup_size: 64
    .args:
      - {.value_kind: global_buffer, .offset: 0, .size: 8, .address_space: global}
      - {.value_kind: by_value, .offset: 8, .size: 4}
...
.end_amdgpu_metadata
