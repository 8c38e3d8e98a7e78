// Memory of a device for tests, freed with this. More than 256 MiB is only
// mapped: what is never touched takes no memory, and reads as zero.
#ifndef TESTS_SUPPORT_DEVICE_PAGES_H_
#define TESTS_SUPPORT_DEVICE_PAGES_H_

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "tests/support/launch.h"

namespace ingot::testing {

class DevicePages {
 public:
  // `device` must outlive this.
  DevicePages(TestDevice& device, int64_t bytes)
      : device_(device), bytes_(bytes) {
    if (!sparse()) {
      data_ = device.Allocate<unsigned char>(bytes);
      return;
    }
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED || !device.Register(pages, bytes)) std::abort();
    data_ = static_cast<unsigned char*>(pages);
  }
  ~DevicePages() {
    if (!sparse()) {
      device_.Free(data_);
      return;
    }
    // The device may not lose registered memory: only its pages go.
    madvise(data_, bytes_, MADV_DONTNEED);
  }
  DevicePages(const DevicePages&) = delete;
  DevicePages& operator=(const DevicePages&) = delete;

  unsigned char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool sparse() const { return bytes_ > kSparseFrom; }

 private:
  static constexpr int64_t kSparseFrom = int64_t{256} << 20;

  TestDevice& device_;
  int64_t bytes_;
  unsigned char* data_ = nullptr;
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_DEVICE_PAGES_H_
