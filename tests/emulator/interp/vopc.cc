// VOPC: comparisons. They write a lane mask with 0 for lanes that are off;
// v_cmpx writes EXEC as well.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

// Out of line, and asked at run time which of the two it is: there are 200
// comparisons to compile.
void WriteMask(Wave& w, const Inst& i, const uint8_t* bits) {
  uint64_t mask = PackMask(bits) & w.exec();
  if (i.extra == Extra::kDpp) mask &= DppWriteMask(w, i);
  w.SetS64(i.sdst, mask);
  if ((i.op->flags & kWritesExec) != 0) w.SetS64(kExec, mask);
}

template <class T, auto kFunction>
void Compare(Wave& w, const Inst& i) {
  Buffer b0, b1;
  const Lanes a = Fetch<T>(w, i, 0, b0), b = Fetch<T>(w, i, 1, b1);
  alignas(64) uint8_t bits[kLanes];
  for (int l = 0; l < kLanes; ++l)
    bits[l] = kFunction(T::Get(a, l), T::Get(b, l));
  WriteMask(w, i, bits);
}

template <class T, int kMantissa, int kWidth>
void CompareClass(Wave& w, const Inst& i) {
  Buffer b0, b1;
  const Lanes a = Fetch<T>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  alignas(64) uint8_t bits[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    bits[l] = (ClassBit(T::Get(a, l), kMantissa, kWidth) & b.lo[l]) != 0;
  }
  WriteMask(w, i, bits);
}

// The relations, in opcode order. The f32 comparisons follow IEEE: every one
// but "lg" and the n-forms is false for NaN.
struct False {
  template <class T>
  constexpr bool operator()(T, T) const {
    return false;
  }
};
struct Lt {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Eq {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Le {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ne {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lg {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a < b || a > b;
  }
};
struct Ge {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct Or {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
struct Un {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a != a || b != b;
  }
};
template <class F>
struct Not {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return !F{}(a, b);
  }
};

template <class T, class F, bool kToExec>
constexpr OpInfo C(uint16_t opcode, const char* name) {
  OpInfo o{opcode, name, &Compare<T, F{}>, OpClass::kValu,
           kCompare | (kToExec ? uint32_t{kWritesExec} : 0u)};
  o.dst_words = 0;
  o.src_words[0] = o.src_words[1] = T::kWords;
  o.src_kind[0] = o.src_kind[1] = T::kSrc;
  return o;
}

template <class T, int kMantissa, int kWidth, bool kToExec>
constexpr OpInfo K(uint16_t opcode, const char* name) {
  OpInfo o = C<T, Eq, kToExec>(opcode, name);
  o.run = &CompareClass<T, kMantissa, kWidth>;
  o.src_words[1] = 1;
  o.src_kind[1] = SrcKind::kB32;
  return o;
}

// clang-format off
constexpr OpInfo kVopc[] = {
    K<R32, 23, 32, false>(0x10, "v_cmp_class_f32"),
    K<R32, 23, 32, true>(0x11, "v_cmpx_class_f32"),
    K<R64, 52, 64, false>(0x12, "v_cmp_class_f64"),
    K<R64, 52, 64, true>(0x13, "v_cmpx_class_f64"),
    K<R16, 10, 16, false>(0x14, "v_cmp_class_f16"),
    K<R16, 10, 16, true>(0x15, "v_cmpx_class_f16"),
    C<F16, False, false>(0x20, "v_cmp_f_f16"),
    C<F16, Lt, false>(0x21, "v_cmp_lt_f16"),
    C<F16, Eq, false>(0x22, "v_cmp_eq_f16"),
    C<F16, Le, false>(0x23, "v_cmp_le_f16"),
    C<F16, Gt, false>(0x24, "v_cmp_gt_f16"),
    C<F16, Lg, false>(0x25, "v_cmp_lg_f16"),
    C<F16, Ge, false>(0x26, "v_cmp_ge_f16"),
    C<F16, Or, false>(0x27, "v_cmp_o_f16"),
    C<F16, Un, false>(0x28, "v_cmp_u_f16"),
    C<F16, Not<Ge>, false>(0x29, "v_cmp_nge_f16"),
    C<F16, Not<Lg>, false>(0x2a, "v_cmp_nlg_f16"),
    C<F16, Not<Gt>, false>(0x2b, "v_cmp_ngt_f16"),
    C<F16, Not<Le>, false>(0x2c, "v_cmp_nle_f16"),
    C<F16, Not<Eq>, false>(0x2d, "v_cmp_neq_f16"),
    C<F16, Not<Lt>, false>(0x2e, "v_cmp_nlt_f16"),
    C<F16, Not<False>, false>(0x2f, "v_cmp_tru_f16"),
    C<F16, False, true>(0x30, "v_cmpx_f_f16"),
    C<F16, Lt, true>(0x31, "v_cmpx_lt_f16"),
    C<F16, Eq, true>(0x32, "v_cmpx_eq_f16"),
    C<F16, Le, true>(0x33, "v_cmpx_le_f16"),
    C<F16, Gt, true>(0x34, "v_cmpx_gt_f16"),
    C<F16, Lg, true>(0x35, "v_cmpx_lg_f16"),
    C<F16, Ge, true>(0x36, "v_cmpx_ge_f16"),
    C<F16, Or, true>(0x37, "v_cmpx_o_f16"),
    C<F16, Un, true>(0x38, "v_cmpx_u_f16"),
    C<F16, Not<Ge>, true>(0x39, "v_cmpx_nge_f16"),
    C<F16, Not<Lg>, true>(0x3a, "v_cmpx_nlg_f16"),
    C<F16, Not<Gt>, true>(0x3b, "v_cmpx_ngt_f16"),
    C<F16, Not<Le>, true>(0x3c, "v_cmpx_nle_f16"),
    C<F16, Not<Eq>, true>(0x3d, "v_cmpx_neq_f16"),
    C<F16, Not<Lt>, true>(0x3e, "v_cmpx_nlt_f16"),
    C<F16, Not<False>, true>(0x3f, "v_cmpx_tru_f16"),
    C<F32, False, false>(0x40, "v_cmp_f_f32"),
    C<F32, Lt, false>(0x41, "v_cmp_lt_f32"),
    C<F32, Eq, false>(0x42, "v_cmp_eq_f32"),
    C<F32, Le, false>(0x43, "v_cmp_le_f32"),
    C<F32, Gt, false>(0x44, "v_cmp_gt_f32"),
    C<F32, Lg, false>(0x45, "v_cmp_lg_f32"),
    C<F32, Ge, false>(0x46, "v_cmp_ge_f32"),
    C<F32, Or, false>(0x47, "v_cmp_o_f32"),
    C<F32, Un, false>(0x48, "v_cmp_u_f32"),
    C<F32, Not<Ge>, false>(0x49, "v_cmp_nge_f32"),
    C<F32, Not<Lg>, false>(0x4a, "v_cmp_nlg_f32"),
    C<F32, Not<Gt>, false>(0x4b, "v_cmp_ngt_f32"),
    C<F32, Not<Le>, false>(0x4c, "v_cmp_nle_f32"),
    C<F32, Not<Eq>, false>(0x4d, "v_cmp_neq_f32"),
    C<F32, Not<Lt>, false>(0x4e, "v_cmp_nlt_f32"),
    C<F32, Not<False>, false>(0x4f, "v_cmp_tru_f32"),
    C<F32, False, true>(0x50, "v_cmpx_f_f32"),
    C<F32, Lt, true>(0x51, "v_cmpx_lt_f32"),
    C<F32, Eq, true>(0x52, "v_cmpx_eq_f32"),
    C<F32, Le, true>(0x53, "v_cmpx_le_f32"),
    C<F32, Gt, true>(0x54, "v_cmpx_gt_f32"),
    C<F32, Lg, true>(0x55, "v_cmpx_lg_f32"),
    C<F32, Ge, true>(0x56, "v_cmpx_ge_f32"),
    C<F32, Or, true>(0x57, "v_cmpx_o_f32"),
    C<F32, Un, true>(0x58, "v_cmpx_u_f32"),
    C<F32, Not<Ge>, true>(0x59, "v_cmpx_nge_f32"),
    C<F32, Not<Lg>, true>(0x5a, "v_cmpx_nlg_f32"),
    C<F32, Not<Gt>, true>(0x5b, "v_cmpx_ngt_f32"),
    C<F32, Not<Le>, true>(0x5c, "v_cmpx_nle_f32"),
    C<F32, Not<Eq>, true>(0x5d, "v_cmpx_neq_f32"),
    C<F32, Not<Lt>, true>(0x5e, "v_cmpx_nlt_f32"),
    C<F32, Not<False>, true>(0x5f, "v_cmpx_tru_f32"),
    C<F64, False, false>(0x60, "v_cmp_f_f64"),
    C<F64, Lt, false>(0x61, "v_cmp_lt_f64"),
    C<F64, Eq, false>(0x62, "v_cmp_eq_f64"),
    C<F64, Le, false>(0x63, "v_cmp_le_f64"),
    C<F64, Gt, false>(0x64, "v_cmp_gt_f64"),
    C<F64, Lg, false>(0x65, "v_cmp_lg_f64"),
    C<F64, Ge, false>(0x66, "v_cmp_ge_f64"),
    C<F64, Or, false>(0x67, "v_cmp_o_f64"),
    C<F64, Un, false>(0x68, "v_cmp_u_f64"),
    C<F64, Not<Ge>, false>(0x69, "v_cmp_nge_f64"),
    C<F64, Not<Lg>, false>(0x6a, "v_cmp_nlg_f64"),
    C<F64, Not<Gt>, false>(0x6b, "v_cmp_ngt_f64"),
    C<F64, Not<Le>, false>(0x6c, "v_cmp_nle_f64"),
    C<F64, Not<Eq>, false>(0x6d, "v_cmp_neq_f64"),
    C<F64, Not<Lt>, false>(0x6e, "v_cmp_nlt_f64"),
    C<F64, Not<False>, false>(0x6f, "v_cmp_tru_f64"),
    C<F64, False, true>(0x70, "v_cmpx_f_f64"),
    C<F64, Lt, true>(0x71, "v_cmpx_lt_f64"),
    C<F64, Eq, true>(0x72, "v_cmpx_eq_f64"),
    C<F64, Le, true>(0x73, "v_cmpx_le_f64"),
    C<F64, Gt, true>(0x74, "v_cmpx_gt_f64"),
    C<F64, Lg, true>(0x75, "v_cmpx_lg_f64"),
    C<F64, Ge, true>(0x76, "v_cmpx_ge_f64"),
    C<F64, Or, true>(0x77, "v_cmpx_o_f64"),
    C<F64, Un, true>(0x78, "v_cmpx_u_f64"),
    C<F64, Not<Ge>, true>(0x79, "v_cmpx_nge_f64"),
    C<F64, Not<Lg>, true>(0x7a, "v_cmpx_nlg_f64"),
    C<F64, Not<Gt>, true>(0x7b, "v_cmpx_ngt_f64"),
    C<F64, Not<Le>, true>(0x7c, "v_cmpx_nle_f64"),
    C<F64, Not<Eq>, true>(0x7d, "v_cmpx_neq_f64"),
    C<F64, Not<Lt>, true>(0x7e, "v_cmpx_nlt_f64"),
    C<F64, Not<False>, true>(0x7f, "v_cmpx_tru_f64"),
    C<I16, False, false>(0xa0, "v_cmp_f_i16"),
    C<I16, Lt, false>(0xa1, "v_cmp_lt_i16"),
    C<I16, Eq, false>(0xa2, "v_cmp_eq_i16"),
    C<I16, Le, false>(0xa3, "v_cmp_le_i16"),
    C<I16, Gt, false>(0xa4, "v_cmp_gt_i16"),
    C<I16, Ne, false>(0xa5, "v_cmp_ne_i16"),
    C<I16, Ge, false>(0xa6, "v_cmp_ge_i16"),
    C<I16, Not<False>, false>(0xa7, "v_cmp_t_i16"),
    C<U16, False, false>(0xa8, "v_cmp_f_u16"),
    C<U16, Lt, false>(0xa9, "v_cmp_lt_u16"),
    C<U16, Eq, false>(0xaa, "v_cmp_eq_u16"),
    C<U16, Le, false>(0xab, "v_cmp_le_u16"),
    C<U16, Gt, false>(0xac, "v_cmp_gt_u16"),
    C<U16, Ne, false>(0xad, "v_cmp_ne_u16"),
    C<U16, Ge, false>(0xae, "v_cmp_ge_u16"),
    C<U16, Not<False>, false>(0xaf, "v_cmp_t_u16"),
    C<I16, False, true>(0xb0, "v_cmpx_f_i16"),
    C<I16, Lt, true>(0xb1, "v_cmpx_lt_i16"),
    C<I16, Eq, true>(0xb2, "v_cmpx_eq_i16"),
    C<I16, Le, true>(0xb3, "v_cmpx_le_i16"),
    C<I16, Gt, true>(0xb4, "v_cmpx_gt_i16"),
    C<I16, Ne, true>(0xb5, "v_cmpx_ne_i16"),
    C<I16, Ge, true>(0xb6, "v_cmpx_ge_i16"),
    C<I16, Not<False>, true>(0xb7, "v_cmpx_t_i16"),
    C<U16, False, true>(0xb8, "v_cmpx_f_u16"),
    C<U16, Lt, true>(0xb9, "v_cmpx_lt_u16"),
    C<U16, Eq, true>(0xba, "v_cmpx_eq_u16"),
    C<U16, Le, true>(0xbb, "v_cmpx_le_u16"),
    C<U16, Gt, true>(0xbc, "v_cmpx_gt_u16"),
    C<U16, Ne, true>(0xbd, "v_cmpx_ne_u16"),
    C<U16, Ge, true>(0xbe, "v_cmpx_ge_u16"),
    C<U16, Not<False>, true>(0xbf, "v_cmpx_t_u16"),
    C<I32, False, false>(0xc0, "v_cmp_f_i32"),
    C<I32, Lt, false>(0xc1, "v_cmp_lt_i32"),
    C<I32, Eq, false>(0xc2, "v_cmp_eq_i32"),
    C<I32, Le, false>(0xc3, "v_cmp_le_i32"),
    C<I32, Gt, false>(0xc4, "v_cmp_gt_i32"),
    C<I32, Ne, false>(0xc5, "v_cmp_ne_i32"),
    C<I32, Ge, false>(0xc6, "v_cmp_ge_i32"),
    C<I32, Not<False>, false>(0xc7, "v_cmp_t_i32"),
    C<U32, False, false>(0xc8, "v_cmp_f_u32"),
    C<U32, Lt, false>(0xc9, "v_cmp_lt_u32"),
    C<U32, Eq, false>(0xca, "v_cmp_eq_u32"),
    C<U32, Le, false>(0xcb, "v_cmp_le_u32"),
    C<U32, Gt, false>(0xcc, "v_cmp_gt_u32"),
    C<U32, Ne, false>(0xcd, "v_cmp_ne_u32"),
    C<U32, Ge, false>(0xce, "v_cmp_ge_u32"),
    C<U32, Not<False>, false>(0xcf, "v_cmp_t_u32"),
    C<I32, False, true>(0xd0, "v_cmpx_f_i32"),
    C<I32, Lt, true>(0xd1, "v_cmpx_lt_i32"),
    C<I32, Eq, true>(0xd2, "v_cmpx_eq_i32"),
    C<I32, Le, true>(0xd3, "v_cmpx_le_i32"),
    C<I32, Gt, true>(0xd4, "v_cmpx_gt_i32"),
    C<I32, Ne, true>(0xd5, "v_cmpx_ne_i32"),
    C<I32, Ge, true>(0xd6, "v_cmpx_ge_i32"),
    C<I32, Not<False>, true>(0xd7, "v_cmpx_t_i32"),
    C<U32, False, true>(0xd8, "v_cmpx_f_u32"),
    C<U32, Lt, true>(0xd9, "v_cmpx_lt_u32"),
    C<U32, Eq, true>(0xda, "v_cmpx_eq_u32"),
    C<U32, Le, true>(0xdb, "v_cmpx_le_u32"),
    C<U32, Gt, true>(0xdc, "v_cmpx_gt_u32"),
    C<U32, Ne, true>(0xdd, "v_cmpx_ne_u32"),
    C<U32, Ge, true>(0xde, "v_cmpx_ge_u32"),
    C<U32, Not<False>, true>(0xdf, "v_cmpx_t_u32"),
    C<I64, False, false>(0xe0, "v_cmp_f_i64"),
    C<I64, Lt, false>(0xe1, "v_cmp_lt_i64"),
    C<I64, Eq, false>(0xe2, "v_cmp_eq_i64"),
    C<I64, Le, false>(0xe3, "v_cmp_le_i64"),
    C<I64, Gt, false>(0xe4, "v_cmp_gt_i64"),
    C<I64, Ne, false>(0xe5, "v_cmp_ne_i64"),
    C<I64, Ge, false>(0xe6, "v_cmp_ge_i64"),
    C<I64, Not<False>, false>(0xe7, "v_cmp_t_i64"),
    C<U64, False, false>(0xe8, "v_cmp_f_u64"),
    C<U64, Lt, false>(0xe9, "v_cmp_lt_u64"),
    C<U64, Eq, false>(0xea, "v_cmp_eq_u64"),
    C<U64, Le, false>(0xeb, "v_cmp_le_u64"),
    C<U64, Gt, false>(0xec, "v_cmp_gt_u64"),
    C<U64, Ne, false>(0xed, "v_cmp_ne_u64"),
    C<U64, Ge, false>(0xee, "v_cmp_ge_u64"),
    C<U64, Not<False>, false>(0xef, "v_cmp_t_u64"),
    C<I64, False, true>(0xf0, "v_cmpx_f_i64"),
    C<I64, Lt, true>(0xf1, "v_cmpx_lt_i64"),
    C<I64, Eq, true>(0xf2, "v_cmpx_eq_i64"),
    C<I64, Le, true>(0xf3, "v_cmpx_le_i64"),
    C<I64, Gt, true>(0xf4, "v_cmpx_gt_i64"),
    C<I64, Ne, true>(0xf5, "v_cmpx_ne_i64"),
    C<I64, Ge, true>(0xf6, "v_cmpx_ge_i64"),
    C<I64, Not<False>, true>(0xf7, "v_cmpx_t_i64"),
    C<U64, False, true>(0xf8, "v_cmpx_f_u64"),
    C<U64, Lt, true>(0xf9, "v_cmpx_lt_u64"),
    C<U64, Eq, true>(0xfa, "v_cmpx_eq_u64"),
    C<U64, Le, true>(0xfb, "v_cmpx_le_u64"),
    C<U64, Gt, true>(0xfc, "v_cmpx_gt_u64"),
    C<U64, Ne, true>(0xfd, "v_cmpx_ne_u64"),
    C<U64, Ge, true>(0xfe, "v_cmpx_ge_u64"),
    C<U64, Not<False>, true>(0xff, "v_cmpx_t_u64"),
};
// clang-format on

}  // namespace

OpTable VopcTable() { return {kVopc, sizeof(kVopc) / sizeof(kVopc[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
