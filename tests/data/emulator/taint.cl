// Undefined values as a program has them, and as it may have them. `in` is not
// written from element `n` on.

#define SYNC()                                           \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
  __builtin_amdgcn_s_barrier();                          \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

kernel void lds_hole(global const int* in, global int* out, int n) {
  local int part[64];
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n) part[i] = in[i];
  SYNC();
  int sum = 0;
  for (int k = 0; k < 64; ++k) sum += part[k];
  out[i] = sum;
}

kernel void branch_on_input(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int steps = 0;
  for (int x = in[i]; x > 1 && steps < 100; x = x / 2) steps += out[steps & 7];
  out[64 + i] = steps;
}

kernel void index_from_input(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[in[i] & 63] = i;
}

kernel void private_hole(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int held[16];
  for (int k = 0; k < n % 9; ++k) held[k] = in[k] + i;
  out[i] = held[(i + n) & 15];
}

kernel void plain_copy(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = in[i];
}

kernel void clean_tail(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int4 v = ((global const int4*)in)[i];
  int4 at = i * 4 + (int4)(0, 1, 2, 3);
  v = at < n ? v : 0;
  out[i] = v.x + v.y * 3 + v.z * 5 + v.w * 7;
}

kernel void clean_short_circuit(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = 0;
  if (i < n && in[i] > 2) out[i] = in[i];
}

kernel void clean_private(global const int* in, global int* out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int held[16];
  for (int k = 0; k < n % 9; ++k) held[k] = in[k] + i;
  int sum = 0;
  for (int k = 0; k < n % 9; ++k) sum += held[k];
  out[i] = sum;
}

struct Pair {
  char first;
  int second;
};

kernel void clean_padding(global const int* in, global int* out, int n) {
  local struct Pair pairs[64];
  int i = __builtin_amdgcn_workitem_id_x();
  struct Pair mine;
  mine.first = (char)in[i & 3];
  mine.second = i;
  pairs[i] = mine;
  SYNC();
  struct Pair other = pairs[63 - i];
  out[i] = other.first + other.second;
}
