// Device code of a host program that hipcc would build: a kernel, a variable of
// the device and one that is managed.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __managed__ __attribute__((managed))

__device__ int offset = 5;
__managed__ int counter = 7;

__global__ void bump(int* out, int factor) {
  int id = __builtin_amdgcn_workitem_id_x();
  out[id] = id * factor + offset;
  if (id == 0) counter += 1;
}
