// Memory instructions: how the bytes of memory lie in registers. Names of
// global, flat, scratch and buffer instructions come without that word and
// without the suffix of the forms that go to LDS.
#include "tests/emulator/taint_rules.h"

namespace ingot::emulator::taint {
namespace {

Rule Of(How how) { return Rule{how}; }
Rule Part(How how, Narrow narrow, uint8_t bits, bool extends = false) {
  Rule rule{how};
  rule.narrow = narrow;
  rule.narrow_bits = bits;
  rule.extends = extends;
  return rule;
}
Rule Transposed(uint8_t bits) {
  Rule rule{How::kLds};
  rule.transpose = bits;
  return rule;
}

void AddVectorMemory(Rules* rules) {
  constexpr How kHow = How::kVectorMemory;
  Each(rules,
       "load_dword load_dwordx2 load_dwordx3 load_dwordx4 store_dword "
       "store_dwordx2 store_dwordx3 store_dwordx4 load_lds_dword "
       "load_lds_dwordx3 load_lds_dwordx4",
       Of(kHow));
  Each(rules, "load_ubyte store_byte load_lds_ubyte",
       Part(kHow, Narrow::kUnsigned, 8));
  Each(rules, "load_sbyte load_lds_sbyte", Part(kHow, Narrow::kSigned, 8));
  Each(rules, "load_ushort store_short load_lds_ushort",
       Part(kHow, Narrow::kUnsigned, 16));
  Each(rules, "load_sshort load_lds_sshort", Part(kHow, Narrow::kSigned, 16));
  Each(rules, "load_ubyte_d16", Part(kHow, Narrow::kLow, 8));
  Each(rules, "load_ubyte_d16_hi store_byte_d16_hi",
       Part(kHow, Narrow::kHigh, 8));
  Each(rules, "load_sbyte_d16", Part(kHow, Narrow::kLow, 8, true));
  Each(rules, "load_sbyte_d16_hi", Part(kHow, Narrow::kHigh, 8, true));
  Each(rules, "load_short_d16", Part(kHow, Narrow::kLow, 16));
  Each(rules, "load_short_d16_hi store_short_d16_hi",
       Part(kHow, Narrow::kHigh, 16));
  Each(rules,
       "atomic_swap atomic_cmpswap atomic_add atomic_sub atomic_smin "
       "atomic_umin atomic_smax atomic_umax atomic_and atomic_or atomic_xor "
       "atomic_inc atomic_dec atomic_add_f32 atomic_pk_add_f16 atomic_add_f64 "
       "atomic_min_f64 atomic_max_f64 atomic_pk_add_bf16 atomic_swap_x2 "
       "atomic_cmpswap_x2 atomic_add_x2 atomic_sub_x2 atomic_smin_x2 "
       "atomic_umin_x2 atomic_smax_x2 atomic_umax_x2 atomic_and_x2 "
       "atomic_or_x2 atomic_xor_x2 atomic_inc_x2 atomic_dec_x2",
       Of(kHow));
  Rule formatted{kHow};
  formatted.formatted = true;
  Each(rules,
       "load_format_x load_format_xy load_format_xyz load_format_xyzw "
       "store_format_x store_format_xy store_format_xyz store_format_xyzw "
       "load_format_d16_xy load_format_d16_xyz load_format_d16_xyzw "
       "store_format_d16_x store_format_d16_xy store_format_d16_xyz "
       "store_format_d16_xyzw store_format_d16_hi_x",
       formatted);
  formatted.narrow_bits = 16;
  formatted.narrow = Narrow::kLow;
  Each(rules, "load_format_d16_x", formatted);
  formatted.narrow = Narrow::kHigh;
  Each(rules, "load_format_d16_hi_x", formatted);
  Each(rules, "wbl2 inv", Of(How::kNothing));
}

void AddLds(Rules* rules) {
  constexpr How kHow = How::kLds;
  Each(rules,
       "ds_write_b32 ds_write2_b32 ds_write2st64_b32 ds_write_addtid_b32 "
       "ds_write_b64 ds_write2_b64 ds_write2st64_b64 ds_write_b96 "
       "ds_write_b128 ds_read_b32 ds_read2_b32 ds_read2st64_b32 ds_read_b64 "
       "ds_read2_b64 ds_read2st64_b64 ds_read_addtid_b32 ds_read_b96 "
       "ds_read_b128 ds_wrxchg_rtn_b32 ds_wrxchg2_rtn_b32 "
       "ds_wrxchg2st64_rtn_b32 ds_wrxchg_rtn_b64 ds_wrxchg2_rtn_b64 "
       "ds_wrxchg2st64_rtn_b64 ds_wrap_rtn_b32 ds_condxchg32_rtn_b64 "
       "ds_consume ds_append ds_pk_add_f16 ds_pk_add_bf16 ds_pk_add_rtn_f16 "
       "ds_pk_add_rtn_bf16",
       Of(kHow));
  Each(rules,
       "ds_add_u32 ds_sub_u32 ds_rsub_u32 ds_inc_u32 ds_dec_u32 ds_min_i32 "
       "ds_max_i32 ds_min_u32 ds_max_u32 ds_and_b32 ds_or_b32 ds_xor_b32 "
       "ds_mskor_b32 ds_cmpst_b32 ds_cmpst_f32 ds_min_f32 ds_max_f32 "
       "ds_add_f32 ds_add_u64 ds_sub_u64 ds_rsub_u64 ds_inc_u64 ds_dec_u64 "
       "ds_min_i64 ds_max_i64 ds_min_u64 ds_max_u64 ds_and_b64 ds_or_b64 "
       "ds_xor_b64 ds_mskor_b64 ds_cmpst_b64 ds_cmpst_f64 ds_min_f64 "
       "ds_max_f64 ds_add_f64",
       Of(kHow));
  Each(rules,
       "ds_add_rtn_u32 ds_sub_rtn_u32 ds_rsub_rtn_u32 ds_inc_rtn_u32 "
       "ds_dec_rtn_u32 ds_min_rtn_i32 ds_max_rtn_i32 ds_min_rtn_u32 "
       "ds_max_rtn_u32 ds_and_rtn_b32 ds_or_rtn_b32 ds_xor_rtn_b32 "
       "ds_mskor_rtn_b32 ds_cmpst_rtn_b32 ds_cmpst_rtn_f32 ds_min_rtn_f32 "
       "ds_max_rtn_f32 ds_add_rtn_f32 ds_add_rtn_u64 ds_sub_rtn_u64 "
       "ds_rsub_rtn_u64 ds_inc_rtn_u64 ds_dec_rtn_u64 ds_min_rtn_i64 "
       "ds_max_rtn_i64 ds_min_rtn_u64 ds_max_rtn_u64 ds_and_rtn_b64 "
       "ds_or_rtn_b64 ds_xor_rtn_b64 ds_mskor_rtn_b64 ds_cmpst_rtn_b64 "
       "ds_cmpst_rtn_f64 ds_min_rtn_f64 ds_max_rtn_f64 ds_add_rtn_f64",
       Of(kHow));
  Each(rules, "ds_write_b8 ds_read_u8", Part(kHow, Narrow::kUnsigned, 8));
  Each(rules, "ds_read_i8", Part(kHow, Narrow::kSigned, 8));
  Each(rules, "ds_write_b16 ds_read_u16", Part(kHow, Narrow::kUnsigned, 16));
  Each(rules, "ds_read_i16", Part(kHow, Narrow::kSigned, 16));
  Each(rules, "ds_read_u8_d16", Part(kHow, Narrow::kLow, 8));
  Each(rules, "ds_write_b8_d16_hi ds_read_u8_d16_hi",
       Part(kHow, Narrow::kHigh, 8));
  Each(rules, "ds_read_i8_d16", Part(kHow, Narrow::kLow, 8, true));
  Each(rules, "ds_read_i8_d16_hi", Part(kHow, Narrow::kHigh, 8, true));
  Each(rules, "ds_read_u16_d16", Part(kHow, Narrow::kLow, 16));
  Each(rules, "ds_write_b16_d16_hi ds_read_u16_d16_hi",
       Part(kHow, Narrow::kHigh, 16));
  Each(rules, "ds_read_b64_tr_b4", Transposed(4));
  Each(rules, "ds_read_b96_tr_b6", Transposed(6));
  Each(rules, "ds_read_b64_tr_b8", Transposed(8));
  Each(rules, "ds_read_b64_tr_b16", Transposed(16));
  Each(rules, "ds_swizzle_b32 ds_permute_b32 ds_bpermute_b32",
       Of(How::kLdsLanes));
  Each(rules, "ds_nop", Of(How::kNothing));
}

}  // namespace

void AddMemoryRules(Rules* rules) {
  AddVectorMemory(rules);
  AddLds(rules);
  Each(rules,
       "s_load_dword s_load_dwordx2 s_load_dwordx4 s_load_dwordx8 "
       "s_load_dwordx16 s_buffer_load_dword s_buffer_load_dwordx2 "
       "s_buffer_load_dwordx4 s_buffer_load_dwordx8 s_buffer_load_dwordx16 "
       "s_store_dword s_store_dwordx2 s_store_dwordx4 s_atomic_swap "
       "s_atomic_cmpswap s_atomic_add s_atomic_sub s_atomic_smin "
       "s_atomic_umin s_atomic_smax s_atomic_umax s_atomic_and s_atomic_or "
       "s_atomic_xor s_atomic_inc s_atomic_dec s_atomic_swap_x2 "
       "s_atomic_cmpswap_x2 s_atomic_add_x2 s_atomic_sub_x2 s_atomic_smin_x2 "
       "s_atomic_umin_x2 s_atomic_smax_x2 s_atomic_umax_x2 s_atomic_and_x2 "
       "s_atomic_or_x2 s_atomic_xor_x2 s_atomic_inc_x2 s_atomic_dec_x2",
       Of(How::kScalarMemory));
  Each(rules,
       "s_scratch_load_dword s_scratch_load_dwordx2 s_scratch_load_dwordx4 "
       "s_scratch_store_dword s_scratch_store_dwordx2 s_scratch_store_dwordx4 "
       "s_buffer_store_dword s_buffer_store_dwordx2 s_buffer_store_dwordx4 "
       "s_buffer_atomic_swap s_buffer_atomic_cmpswap s_buffer_atomic_add "
       "s_buffer_atomic_sub s_buffer_atomic_smin s_buffer_atomic_umin "
       "s_buffer_atomic_smax s_buffer_atomic_umax s_buffer_atomic_and "
       "s_buffer_atomic_or s_buffer_atomic_xor s_buffer_atomic_inc "
       "s_buffer_atomic_dec s_buffer_atomic_swap_x2 "
       "s_buffer_atomic_cmpswap_x2 s_buffer_atomic_add_x2 "
       "s_buffer_atomic_sub_x2 s_buffer_atomic_smin_x2 "
       "s_buffer_atomic_umin_x2 s_buffer_atomic_smax_x2 "
       "s_buffer_atomic_umax_x2 s_buffer_atomic_and_x2 "
       "s_buffer_atomic_or_x2 s_buffer_atomic_xor_x2 s_buffer_atomic_inc_x2 "
       "s_buffer_atomic_dec_x2",
       Of(How::kScalarMemory));
  Each(rules, "s_memtime s_memrealtime", Of(How::kDefines));
  Each(rules,
       "s_dcache_inv s_dcache_wb s_dcache_inv_vol s_dcache_wb_vol "
       "s_dcache_discard s_dcache_discard_x2 s_atc_probe s_atc_probe_buffer",
       Of(How::kNothing));
}

}  // namespace ingot::emulator::taint
