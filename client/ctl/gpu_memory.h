// Device memory through HIP, for `ingotctl check`: on a GPU, or on whatever
// INGOT_HIP_LIBRARY names.
#ifndef INGOT_CLIENT_CTL_GPU_MEMORY_H_
#define INGOT_CLIENT_CTL_GPU_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/src/hip_api.h"
#include "client/src/status.h"

namespace ingot::ctl {

class Gpu {
 public:
  // FAILED_PRECONDITION when there is no HIP or no device.
  static client::Status Open(std::unique_ptr<Gpu>* gpu);

  const std::string& target() const { return target_; }
  client::Status Allocate(size_t bytes, void** pointer) const;
  void Free(void* pointer) const { free_(pointer); }
  client::Status Upload(void* to, const void* from, size_t bytes) const;
  client::Status Download(void* to, const void* from, size_t bytes) const;
  client::Status Synchronize() const;

 private:
  client::HipApi hip_{""};
  std::string target_;
  client::HipError (*malloc_)(void** pointer, size_t bytes) = nullptr;
  client::HipError (*free_)(void* pointer) = nullptr;
  client::HipError (*memcpy_)(void* to, const void* from, size_t bytes,
                              int kind) = nullptr;
  client::HipError (*synchronize_)() = nullptr;
};

// Memory between two margins that nobody may write to.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  client::Status Create(const Gpu& gpu, const std::vector<uint8_t>& contents);
  // DATA_LOSS when a margin changed.
  client::Status Read(std::vector<uint8_t>* contents) const;
  void* data() const;

 private:
  const Gpu* gpu_ = nullptr;
  void* base_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_GPU_MEMORY_H_
