// The HIP front as a host uses it: opened with dlopen, plain prototypes.
#ifndef TESTS_EMULATOR_HIP_FIXTURE_H_
#define TESTS_EMULATOR_HIP_FIXTURE_H_

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ingot::emulator {

// Finds a function of the emulator's library by name. A null pointer is passed
// as `nullptr`, an address as a pointer of any type.
class Hip {
 public:
  Hip()
      : handle_(
            dlopen(std::getenv("INGOT_HIP_LIBRARY"), RTLD_NOW | RTLD_LOCAL)) {}
  bool ok() const { return handle_ != nullptr; }
  template <class Result = int, class... Args>
  Result operator()(const char* name, Args... args) const {
    void* symbol = dlsym(handle_, name);
    if (symbol == nullptr) {
      ADD_FAILURE() << "no " << name;
      return Result();
    }
    return reinterpret_cast<Result (*)(Args...)>(symbol)(args...);
  }
  std::string Report() const {
    return (*this).operator()<const char*>("ingot_emulator_last_report");
  }
  void* handle() const { return handle_; }

 private:
  void* handle_;
};

// Values of hipError_t that tests expect.
inline constexpr int kInvalidValue = 1, kOutOfMemory = 2,
                     kInvalidConfiguration = 9, kInvalidPitchValue = 12,
                     kInvalidSymbol = 13, kInvalidMemcpyDirection = 21,
                     kMissingConfiguration = 52, kInvalidDeviceFunction = 98,
                     kInvalidDevice = 101, kInvalidImage = 200,
                     kInvalidContext = 201, kNoBinaryForGpu = 209,
                     kFileNotFound = 301, kInvalidHandle = 400,
                     kIllegalState = 401, kNotFound = 500, kNotReady = 600,
                     kIllegalAddress = 700, kPeerAlreadyEnabled = 704,
                     kPeerNotEnabled = 705, kContextIsDestroyed = 709,
                     kAlreadyRegistered = 712, kNotRegistered = 713,
                     kLaunchFailure = 719, kCooperativeTooLarge = 720,
                     kNotSupported = 801, kCaptureUnsupported = 900,
                     kCaptureInvalidated = 901, kCaptureMerge = 902,
                     kCaptureUnmatched = 903, kCaptureUnjoined = 904,
                     kCaptureIsolation = 905, kCaptureImplicit = 906,
                     kCapturedEvent = 907, kCaptureWrongThread = 908,
                     kExecUpdateFailure = 910;

// hipMemcpyKind.
inline constexpr int kToDevice = 1, kToHost = 2, kOnDevice = 3, kAnyKind = 4;

// Work in a stream that goes on when the test says so: the host function `Pass`
// with `data()`. What it waits for outlives the gate.
class Gate {
 public:
  Gate() : state_(All().emplace_back(std::make_unique<State>()).get()) {}
  static void Pass(void* data) {
    auto* s = static_cast<State*>(data);
    std::unique_lock<std::mutex> lock(s->mutex);
    s->changed.wait(lock, [s] { return s->open; });
  }
  void* data() const { return state_; }
  void Open() {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };
  static std::vector<std::unique_ptr<State>>& All() {
    static auto* const all = new std::vector<std::unique_ptr<State>>;
    return *all;
  }

  State* const state_;
};

class HipTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(hip_.ok()) << dlerror();
    ASSERT_EQ(hip_("hipInit", 0u), 0);
    Forget();
  }
  void TearDown() override { Forget(); }
  void Forget() { hip_.operator()<void>("ingot_emulator_reset"); }

  static std::string Bytes(const std::string& file) {
    std::ifstream in("tests/data/emulator/" + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in),
            std::istreambuf_iterator<char>()};
  }
  void* Load(const std::string& file) {
    const std::string object = Bytes(file);
    void* module = nullptr;
    EXPECT_EQ(hip_("hipModuleLoadData", &module, object.data()), 0) << file;
    return module;
  }
  void* Kernel(const std::string& file, const char* name) {
    void* function = nullptr;
    EXPECT_EQ(hip_("hipModuleGetFunction", &function, Load(file), name), 0);
    return function;
  }

  template <class T>
  T* Malloc(size_t count) {
    void* p = nullptr;
    EXPECT_EQ(hip_("hipMalloc", &p, count * sizeof(T)), 0);
    return static_cast<T*>(p);
  }
  // Device memory that holds `count` times `value`.
  float* Floats(size_t count, float value) {
    float* p = Malloc<float>(count);
    for (size_t n = 0; n < count; ++n) p[n] = value;
    return p;
  }
  void* Stream(unsigned flags = 0) {
    void* stream = nullptr;
    EXPECT_EQ(hip_("hipStreamCreateWithFlags", &stream, flags), 0);
    return stream;
  }
  void* Event(unsigned flags = 0) {
    void* event = nullptr;
    EXPECT_EQ(hip_("hipEventCreateWithFlags", &event, flags), 0);
    return event;
  }
  int Sync(void* stream) { return hip_("hipStreamSynchronize", stream); }
  int SyncAll() { return hip_("hipDeviceSynchronize"); }

  int Launch(void* function, unsigned grid, unsigned block, void** params,
             void* stream = nullptr, unsigned lds = 0, void** extra = nullptr) {
    return hip_("hipModuleLaunchKernel", function, grid, 1u, 1u, block, 1u, 1u,
                lds, stream, params, extra);
  }
  // c = a + b, by the kernel `vadd`.
  int Add(float* a, float* b, float* c, int count, void* stream) {
    if (vadd_ == nullptr) vadd_ = Kernel("kernels_O2.hsaco", "vadd");
    void* params[] = {&a, &b, &c, &count};
    const auto groups = static_cast<unsigned>((count + 63) / 64);
    return Launch(vadd_, groups, 64, params, stream);
  }
  // For the kernels of faults.hsaco, which take two pointers and have no
  // metadata.
  int LaunchTwo(void* function, void* a, void* b, void* stream = nullptr) {
    void* args[2] = {a, b};
    size_t size = sizeof(args);
    void* extra[] = {reinterpret_cast<void*>(1), args,
                     reinterpret_cast<void*>(2), &size,
                     reinterpret_cast<void*>(3)};
    return Launch(function, 1, 64, nullptr, stream, 0, extra);
  }

  Hip hip_;
  void* vadd_ = nullptr;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_HIP_FIXTURE_H_
