// HIP in C++ without its headers: indirect calls, virtual functions, templates,
// device globals, constant and dynamic shared memory.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

using uint = unsigned;
__device__ inline uint Thread() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline uint Group() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline uint Size() {
  return ((const __attribute__((address_space(4))) unsigned short*)
              __builtin_amdgcn_implicitarg_ptr())[6];
}
__device__ inline uint Index() { return Group() * Size() + Thread(); }
__device__ inline void Barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// A table of functions, called by an index that differs from lane to lane.
__device__ __attribute__((noinline)) int Twice(int x) { return 2 * x; }
__device__ __attribute__((noinline)) int Square(int x) { return x * x; }
__device__ __attribute__((noinline)) int Negate(int x) { return -x; }
__device__ __attribute__((noinline)) int Sum(int x) {
  int kept[8], sum = 0;
  for (int i = 0; i < 8; ++i) kept[(i * 3 + x) & 7] = i * x;
  for (int i = 0; i < 8; ++i) sum = sum * 3 + kept[i];
  return sum;
}
__device__ int (*const kTable[4])(int) = {Twice, Square, Negate, Sum};
extern "C" __global__ void call_table(const int* in, int* out) {
  const uint i = Index();
  out[i] = kTable[in[i] & 3](in[i]) + 1;
}

extern "C" __device__ void __cxa_pure_virtual() { __builtin_trap(); }
struct Shape {
  __device__ virtual float Area(float scale) const = 0;
};
struct Rectangle final : Shape {
  float w, h;
  __device__ Rectangle(float a, float b) : w(a), h(b) {}
  __device__ __attribute__((noinline)) float Area(float s) const override {
    return w * h * s;
  }
};
struct Ring final : Shape {
  float r;
  int turns;
  __device__ Ring(float a, int n) : r(a), turns(n) {}
  __device__ __attribute__((noinline)) float Area(float s) const override {
    float sum = 0;
    for (int i = 0; i < turns; ++i) sum += r * s;
    return sum;
  }
};
extern "C" __global__ void call_virtual(const int* in, float* out) {
  const uint i = Index();
  Rectangle rectangle(in[i], 2);
  Ring ring(0.5f, in[i] & 7);
  const Shape* shape = (in[i] & 8) != 0 ? (const Shape*)&rectangle : &ring;
  out[i] = shape->Area(3);
}

// Kept from launch to launch; the constant comes from the host by its symbol.
__device__ int counters[4] = {10, 20, 30, 40};
__constant__ int factor[2] = {3, -7};
extern "C" __global__ void globals(int* out) {
  const uint i = Index();
  out[i] = __hip_atomic_fetch_add(&counters[i & 3], factor[i & 1],
                                  __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// A structure by value, a template, and shared memory sized by the launch.
struct Parameters {
  char step;
  short first;
  double scale;
  int bias[3];
};
template <class T, int kRounds>
__device__ T Rotate(T* shared, T value) {
  for (int r = 0; r < kRounds; ++r) {
    shared[Thread()] = value;
    Barrier();
    value = shared[(Thread() + 1) % Size()] + r;
    Barrier();
  }
  return value;
}
extern __shared__ double shared_memory[];
extern "C" __global__ void rotate(Parameters p, double* out) {
  const double value = (p.first + (int)Index() * p.step) * p.scale;
  out[Index()] = Rotate<double, 5>(shared_memory, value) + p.bias[Index() % 3];
}
