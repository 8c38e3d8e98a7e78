// Loads a code object of tests/data/emulator and runs its kernels, for tests.
#ifndef TESTS_EMULATOR_KERNEL_FIXTURE_H_
#define TESTS_EMULATOR_KERNEL_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/program.h"

namespace ingot::emulator {

inline std::string ReadFileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

// Arguments in kernarg layout: each value aligned to its size.
class Arguments {
 public:
  template <class T>
  Arguments& Add(T value) {
    while (bytes_.size() % sizeof(T) != 0) bytes_.push_back(0);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class KernelFixture : public testing::Test {
 protected:
  // Fatal failure when the object cannot be loaded.
  void Load(const std::string& file) {
    const std::string object = ReadFileBytes("tests/data/emulator/" + file);
    LoadError error;
    std::string message;
    program_ = device_.Load(object.data(), object.size(), &error, &message);
    ASSERT_NE(program_, nullptr) << file << ": " << message;
  }

  template <class T>
  T* Allocate(size_t count) {
    return static_cast<T*>(
        device_.memory().Allocate(count * sizeof(T), MemoryMap::Kind::kDevice));
  }

  RunResult Run(const std::string& kernel, const Arguments& args,
                const LaunchConfig& config,
                const Options& options = Options()) {
    const KernelInfo* k = program_->object().FindKernel(kernel);
    if (k == nullptr) {
      RunResult missing;
      missing.status = RunStatus::kInvalidLaunch;
      missing.report = "no kernel " + kernel;
      return missing;
    }
    return device_.Run(program_, *k, config, args.bytes().data(),
                       args.bytes().size(), options);
  }
  RunResult RunWave(const std::string& kernel, const Arguments& args) {
    LaunchConfig one_wave;
    one_wave.block[0] = 64;
    return Run(kernel, args, one_wave);
  }

  Device device_;
  Program* program_ = nullptr;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_KERNEL_FIXTURE_H_
