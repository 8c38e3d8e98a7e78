// d = a b^T in half precision, by libingot's C++ owners and HIP.
//
//   find_package(ingot) and target_link_libraries(... ingot::ingot), or
//   c++ -std=c++20 gemm.cc $(pkg-config --cflags --libs ingot) -lamdhip64
#include <hip/hip_runtime_api.h>
#include <ingot/client.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int64_t kM = 33, kN = 48, kK = 96;
constexpr uint16_t kOne = 0x3c00;  // 1.0 in f16

void Expect(ingot_status status, const char* what) {
  if (status == INGOT_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, ingot_status_name(status),
               ingot_last_error());
  std::exit(1);
}

void ExpectHip(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s: HIP error %d\n", what, static_cast<int>(error));
  std::exit(1);
}

// Device memory with the contents of a vector.
template <typename T>
class DeviceVector {
 public:
  explicit DeviceVector(const std::vector<T>& values)
      : bytes_(values.size() * sizeof(T)) {
    ExpectHip(hipMalloc(&pointer_, bytes_), "hipMalloc");
    ExpectHip(hipMemcpy(pointer_, values.data(), bytes_, hipMemcpyHostToDevice),
              "copy");
  }
  ~DeviceVector() { (void)hipFree(pointer_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;

  void* get() const { return pointer_; }
  std::vector<T> Read() const {
    std::vector<T> values(bytes_ / sizeof(T));
    ExpectHip(hipMemcpy(values.data(), pointer_, bytes_, hipMemcpyDeviceToHost),
              "copy");
    return values;
  }

 private:
  size_t bytes_;
  void* pointer_ = nullptr;
};

ingot_operand Operand(const char* name, const char* dtype) {
  ingot_operand operand = {};
  operand.size = sizeof(operand);
  operand.name = name;
  operand.dtype = dtype;
  return operand;
}

ingot_dim Value(const char* name, int64_t value) {
  ingot_dim dim = {};
  dim.size = sizeof(dim);
  dim.name = name;
  dim.value = value;
  return dim;
}

}  // namespace

int main() {
  const ingot_dim dims[] = {Value("m", kM), Value("n", kN), Value("k", kK)};
  const ingot_operand operands[] = {Operand("a", "f16"), Operand("b", "f16"),
                                    Operand("d", "f32")};
  ingot_spec spec = {};
  spec.size = sizeof(spec);
  spec.op = "gemm";  // "nt": b is stored as [n, k]
  spec.dims = dims;
  spec.dim_count = 3;
  spec.operands = operands;
  spec.operand_count = 3;

  ingot::Client client;
  Expect(ingot::Client::Create(nullptr, &client), "client");
  ingot::Prepared gemm;
  Expect(client.Prepare(&spec, nullptr, &gemm), "prepare");

  // Row i of a is one where i divides the column, so sums are counts.
  std::vector<uint16_t> a(kM * kK), b(kN * kK, kOne);
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t t = 0; t < kK; ++t)
      a[i * kK + t] = t % (i + 1) == 0 ? kOne : 0;
  }
  const DeviceVector<uint16_t> device_a(a), device_b(b);
  const DeviceVector<float> device_d(std::vector<float>(kM * kN));

  const int64_t extents[] = {kM, kN, kK};
  void* const pointers[] = {device_a.get(), device_b.get(), device_d.get()};
  ingot_launch_args args = {};
  args.size = sizeof(args);
  args.dims = extents;
  args.dim_count = 3;
  args.operands = pointers;
  args.operand_count = 3;
  Expect(
      ingot_workspace_bytes(gemm.get(), &args, &args.workspace_bytes, nullptr),
      "workspace");
  const DeviceVector<char> workspace(
      std::vector<char>(args.workspace_bytes + 1));
  args.workspace = workspace.get();
  Expect(gemm.Launch(nullptr, args), "launch");

  int wrong = 0;
  const std::vector<float> d = device_d.Read();
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      wrong += d[i * kN + j] != static_cast<float>((kK + i) / (i + 1));
    }
  }
  std::printf("gemm of %d x %d x %d: %d wrong\n", int(kM), int(kN), int(kK),
              wrong);
  return wrong == 0 ? 0 : 1;
}
