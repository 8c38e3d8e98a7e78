// What the OpenCL-C kernels here share. The geometry comes from the implicit
// arguments and barriers are written out, so that no device library is needed.
#define LOCAL_ID(d)                              \
  ((d) == 0   ? __builtin_amdgcn_workitem_id_x() \
   : (d) == 1 ? __builtin_amdgcn_workitem_id_y() \
              : __builtin_amdgcn_workitem_id_z())
#define GROUP_ID(d)                               \
  ((d) == 0   ? __builtin_amdgcn_workgroup_id_x() \
   : (d) == 1 ? __builtin_amdgcn_workgroup_id_y() \
              : __builtin_amdgcn_workgroup_id_z())
#define IMPLICIT ((constant const uchar*)__builtin_amdgcn_implicitarg_ptr())
#ifdef CODE_OBJECT_V4
// Before version 5 the sizes were in the dispatch packet alone.
#define PACKET ((constant const uchar*)__builtin_amdgcn_dispatch_ptr())
#define LOCAL_SIZE(d) ((uint)((constant const ushort*)(PACKET + 4))[d])
#define GROUPS(d) (((constant const uint*)(PACKET + 12))[d] / LOCAL_SIZE(d))
#else
#define LOCAL_SIZE(d) ((uint)((constant const ushort*)(IMPLICIT + 12))[d])
#define GROUPS(d) (((constant const uint*)IMPLICIT)[d])
#endif
#define GLOBAL_ID(d) (GROUP_ID(d) * LOCAL_SIZE(d) + LOCAL_ID(d))
#define GLOBAL_SIZE(d) (GROUPS(d) * LOCAL_SIZE(d))
#define BARRIER()                                          \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)
#define FETCH(op, p, v, scope) \
  __scoped_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_##scope)
#define THREADS(n) __attribute__((reqd_work_group_size(n, 1, 1)))
#define LANE() __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Vectors that OpenCL has no names for.
typedef int int6 __attribute__((ext_vector_type(6)));
typedef int int32 __attribute__((ext_vector_type(32)));
typedef float float32 __attribute__((ext_vector_type(32)));
typedef half half32 __attribute__((ext_vector_type(32)));
typedef __bf16 bf2 __attribute__((ext_vector_type(2)));
typedef __bf16 bf8 __attribute__((ext_vector_type(8)));
typedef __bf16 bf16 __attribute__((ext_vector_type(16)));
typedef __bf16 bf32 __attribute__((ext_vector_type(32)));
