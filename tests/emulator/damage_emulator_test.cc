// Code objects and launches that no compiler and no sane host makes, through
// the HIP front: an error code and a message, never a crash.
#include <sys/mman.h>

#include <cstring>
#include <new>
#include <random>

#include "tests/emulator/hip_fixture.h"

namespace ingot::emulator {
namespace {

// A copy whose last byte is the last that can be read: an image that comes as a
// bare address has no other end than its tables and its memory.
class LastBytes {
 public:
  explicit LastBytes(const std::string& bytes)
      : body_((bytes.size() + kPage - 1) / kPage * kPage) {
    void* map = mmap(nullptr, body_ + kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<char*>(map);
    mprotect(map_ + body_, kPage, PROT_NONE);
    data_ = map_ + body_ - bytes.size();
    std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~LastBytes() { munmap(map_, body_ + kPage); }
  LastBytes(const LastBytes&) = delete;
  LastBytes& operator=(const LastBytes&) = delete;

  const void* data() const { return data_; }

 private:
  static constexpr size_t kPage = 4096;

  size_t body_;
  char* map_;
  char* data_;
};

class Damage : public HipTest {
 protected:
  void SetUp() override {
    setenv("INGOT_EMULATOR_MAX_INSTRUCTIONS", "1000", 1);
    HipTest::SetUp();
    memory_ = Malloc<uint8_t>(65536);
    ASSERT_NE(memory_, nullptr);
  }
  void TearDown() override {
    HipTest::TearDown();
    unsetenv("INGOT_EMULATOR_MAX_INSTRUCTIONS");
  }

  // Null when the object is refused, which must come with one of the codes for
  // that.
  void* LoadCopy(const std::string& bytes) {
    const LastBytes copy(bytes);
    void* module = nullptr;
    const int error = hip_("hipModuleLoadData", &module, copy.data());
    EXPECT_TRUE(error == 0 || error == kInvalidImage ||
                error == kNoBinaryForGpu)
        << error;
    EXPECT_EQ(error == 0, module != nullptr);
    return module;
  }

  // Launches with pointers to valid memory and waits; the error, 0 when it ran.
  int RunWave(void* function) {
    uint64_t arguments[64];
    for (uint64_t& argument : arguments)
      argument = reinterpret_cast<uint64_t>(memory_);
    size_t size = sizeof(arguments);
    void* extra[] = {reinterpret_cast<void*>(1), arguments,
                     reinterpret_cast<void*>(2), &size,
                     reinterpret_cast<void*>(3)};
    const int launched = Launch(function, 1, 64, nullptr, nullptr, 0, extra);
    const int ran = SyncAll();
    return launched != 0 ? launched : ran;
  }

  // Runs `kernel` if the damaged object still has it; whether it got so far.
  bool Try(const std::string& bytes, const char* kernel) {
    void* module = LoadCopy(bytes);
    if (module == nullptr) return false;
    void* function = nullptr;
    if (hip_("hipModuleGetFunction", &function, module, kernel) == 0) {
      const int error = RunWave(function);
      faults_ += error == kIllegalAddress || error == kLaunchFailure;
      reports_ += !hip_.Report().empty();
      Forget();
    }
    EXPECT_EQ(hip_("hipModuleUnload", module), 0);
    return true;
  }

  uint8_t* memory_ = nullptr;
  int faults_ = 0, reports_ = 0;
};

TEST_F(Damage, TruncatedObjects) {
  const std::string bytes = Bytes("launch.hsaco");
  int refused = 0;
  for (size_t n = 4; n < bytes.size(); n += 13)
    refused += !Try(bytes.substr(0, n), "where");
  EXPECT_GT(refused, 50);
}

TEST_F(Damage, ObjectsOfOtherMachines) {
  std::string bytes = Bytes("launch.hsaco");
  bytes[18] = 62;  // x86-64
  EXPECT_EQ(LoadCopy(bytes), nullptr);
  bytes = Bytes("launch.hsaco");
  bytes[48] = 0x4c;  // gfx942
  EXPECT_EQ(LoadCopy(bytes), nullptr);
}

TEST_F(Damage, ThousandsOfDamagedObjects) {
  const struct {
    const char *file, *kernel;
    int rounds;
  } kObjects[] = {{"launch.hsaco", "where", 2000},
                  {"memory.hsaco", "lds", 1000},
                  {"kernels_O2.hsaco", "reduce", 1000}};
  std::mt19937 random(7);
  int loaded = 0, refused = 0;
  for (const auto& object : kObjects) {
    const std::string bytes = Bytes(object.file);
    for (int round = 0; round < object.rounds; ++round) {
      std::string damaged = bytes;
      // Half of the damage goes where the tables are.
      for (int n = 0; n < 3; ++n) {
        const size_t below = n == 0 ? 1024 : damaged.size();
        damaged[random() % below] = static_cast<char>(random());
      }
      ++(Try(damaged, object.kernel) ? loaded : refused);
    }
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 100);
  EXPECT_GT(faults_, 10);
  EXPECT_GT(reports_, 10);
}

TEST_F(Damage, AbsurdLaunches) {
  void* function = Kernel("kernels_O2.hsaco", "vadd");
  const struct {
    unsigned grid[3], block[3], lds;
  } kLaunches[] = {
      {{0, 1, 1}, {64, 1, 1}, 0},   {{1, 1, 1}, {0, 1, 1}, 0},
      {{1, 1, 1}, {1025, 1, 1}, 0}, {{1, 1, 1}, {64, 64, 1}, 0},
      {{~0u, 1, 1}, {64, 1, 1}, 0}, {{~0u, ~0u, ~0u}, {1, 1, 1}, 0},
      {{1, 1, 1}, {64, 1, 1}, ~0u}};
  char arguments[64] = {};
  void* params[] = {arguments, arguments, arguments, arguments};
  for (const auto& l : kLaunches) {
    const int launched = hip_(
        "hipModuleLaunchKernel", function, l.grid[0], l.grid[1], l.grid[2],
        l.block[0], l.block[1], l.block[2], l.lds, static_cast<void*>(nullptr),
        static_cast<void**>(params), static_cast<void**>(nullptr));
    // Some are only known when the stream gets there.
    const int ran = SyncAll();
    EXPECT_TRUE(launched != 0 || ran != 0)
        << l.grid[0] << " " << l.block[0] << " " << l.lds;
    Forget();
  }
}

}  // namespace
}  // namespace ingot::emulator
